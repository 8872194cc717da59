"""Localization (White et al. 2015)."""
