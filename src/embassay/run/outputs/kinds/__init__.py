"""Output formats, one file each: the name of a file is the name of a format, see ``plugins``."""
