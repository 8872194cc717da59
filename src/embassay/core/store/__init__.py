"""What is written to disk: canonical JSON, arrays, hashes of files, paths."""
