"""One file, one kind of test set: ``build(sources, *, seed, count, advance, options) -> Built``."""
