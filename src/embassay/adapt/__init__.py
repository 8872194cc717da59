"""The only place that trains: ``train(text, out, *, options, seed, overwrite, advance) -> Trained``."""
