"""Small corpora written for this package, for trying things out."""
