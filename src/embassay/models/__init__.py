"""One file, one kind of encoder: ``create(target, runtime, *, options) -> Encoder``."""
