"""Retrievers: they order the documents of a corpus for each question."""
