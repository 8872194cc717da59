"""SemAntoNeg (Vahtola et al. 2022)."""
