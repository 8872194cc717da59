"""The cache of vectors: plain files, one folder for each encoder."""
