"""The shapes of samples, one file each; the checks of every corpus (``checks``); independent units (``units``)."""
