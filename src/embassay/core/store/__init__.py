"""The only disk: canonical JSON, run folders, the vector cache."""
