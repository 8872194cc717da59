"""One file, one corpus or one file format: ``load(source, name, *, options) -> Corpus``."""
