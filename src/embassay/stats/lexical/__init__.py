"""Comparisons of two texts by their words: tokens, ROUGE, Levenshtein distance."""
