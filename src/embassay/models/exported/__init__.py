"""Exported models, and vectors that were made elsewhere."""
