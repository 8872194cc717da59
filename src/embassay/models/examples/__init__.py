"""Encoders whose outcome is known exactly, for trying things out."""
