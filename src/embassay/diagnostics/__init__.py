"""One file, one method: ``create(*, options) -> Diagnostic``."""
