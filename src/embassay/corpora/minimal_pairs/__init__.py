"""Originals and their one-word edits."""
