"""Questions, and the documents that answer them."""
