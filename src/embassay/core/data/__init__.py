"""Data that ships with the package, and the contents that published figures belong to."""

SEMANTONEG_V1 = "b04500b8893275e3"
"""The fingerprint of SemAntoNeg v1.0 as released: published accuracies are of this corpus and of no other."""
