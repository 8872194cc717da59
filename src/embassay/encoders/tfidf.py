"""Bag of words with tf-idf weights and unit length: the lexical baseline of every run.

Weights as scikit-learn's ``TfidfVectorizer``: tf · (1 + ln((1 + n)/(1 + df))), learnt from each corpus.
"""

from __future__ import annotations

from embassay.encoders._lexical import LexicalEncoder
from embassay.types import Runtime


def create(target: str, runtime: Runtime) -> LexicalEncoder:
    """Make the encoder; it learns its words and weights from each corpus."""
    del target, runtime
    return LexicalEncoder("tfidf")
