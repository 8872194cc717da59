"""Models, services and functions that read a question and a text together, and score them."""
