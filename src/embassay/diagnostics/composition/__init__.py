"""Composition (Bansal et al. 2025)."""
