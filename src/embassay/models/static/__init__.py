"""Vectors of words, paragraphs and trees."""
