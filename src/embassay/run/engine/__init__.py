"""How the work of encoding is spread."""
