"""Retrieval (Roychowdhury et al. 2024)."""
