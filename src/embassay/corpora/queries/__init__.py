"""Queries made from documents: passages, headings, sentences, and whether a query repeats its passage."""
