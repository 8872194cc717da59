"""Small corpora of our own writing, for trying things out."""
