"""Builders: test sets from sentences of your own, one file each; files with an underscore are helpers."""
