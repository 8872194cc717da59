"""Data that ships with the package, and the contents that published figures belong to."""

SEMANTONEG_V1 = "b04500b8893275e3"
"""The fingerprint of SemAntoNeg v1.0 as released: published accuracies are of this corpus and of no other."""
MSRP = "bc57537cede3f3c5"
"""The fingerprint of the paraphrase groups of the released MSRP corpus, train and test together."""
MSRP_GROUPED = "a2fb968cdb5ee820"
"""The fingerprint of the same groups as White et al. (2015) released them, in the files of Opinosis."""
