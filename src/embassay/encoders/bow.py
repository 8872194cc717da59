"""Bag of words: one dimension for each word of the corpus, punctuation included, counts, lower-cased.

Source: the baseline of White et al. (2015), section 3.6.
"""

from __future__ import annotations

from embassay.encoders._lexical import LexicalEncoder
from embassay.types import Runtime


def create(target: str, runtime: Runtime) -> LexicalEncoder:
    """Make the encoder; it learns its words from each corpus."""
    del target, runtime
    return LexicalEncoder("bow")
