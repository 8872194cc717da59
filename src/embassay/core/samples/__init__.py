"""Samples of every shape (``shapes``, ``retrieval``); the checks of every corpus (``checks``); units (``units``)."""
