"""Vectors of corpora larger than memory, in shards: immutable files that are made one by one and found again.

A shard is a part of one input file. Which shards there are is decided by the input alone, so that any number of
processes may make them in any order, and a run that was killed makes only what is missing.
"""
