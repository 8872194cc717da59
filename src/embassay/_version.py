"""The one place where the version is written."""

__version__ = "0.1.0"
YEAR = 2026
"""The year of this version."""
