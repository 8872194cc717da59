"""An input and three candidates."""
