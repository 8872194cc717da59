"""Counts of words, BM25, hashed words, and random vectors."""
