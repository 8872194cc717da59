"""Transformers and sentence-transformers models."""
