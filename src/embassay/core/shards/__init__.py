"""Shards of vectors that are larger than memory."""
