"""Draws a result and computes nothing."""
