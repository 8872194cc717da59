"""Minimal pairs (Chiang et al. 2023)."""
