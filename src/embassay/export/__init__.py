"""Models for a lighter runtime, and how near they are to their originals."""
