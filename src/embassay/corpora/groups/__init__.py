"""Groups of sentences with the same meaning."""
