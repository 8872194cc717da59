"""Test sets from a user's own sentences and documents, and what people find in them."""
