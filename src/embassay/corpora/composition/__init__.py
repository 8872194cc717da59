"""Overlap, difference and union of sentences."""
