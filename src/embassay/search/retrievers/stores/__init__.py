"""Vector stores with their approximate indexes: one file for each."""
