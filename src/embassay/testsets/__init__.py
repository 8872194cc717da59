"""Test sets from a user's own sentences and documents, and human ratings of them."""
