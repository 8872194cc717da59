"""Sentences in groups that mean one thing."""
