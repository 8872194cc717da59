"""Pairs of sentences with human scores."""
