"""Hashed words: deterministic, learns nothing, needs nothing; for tests and for trying things out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import VectorMatrix
from embassay.models.base import BaseEncoder
from embassay.models.limits import Count
from embassay.models.tokens import WORD
from embassay.stats.lexical.words import tokens


def create(target: str, runtime: Runtime, *, dim: Count = 256) -> HashingEncoder:
    """Make the encoder.

    Parameters
    ----------
    dim
        Number of dimensions; each word adds +1 or −1 to one of them.
    """
    return HashingEncoder(dim)


@dataclass(frozen=True)
class HashingEncoder(BaseEncoder):
    """An encoder that adds ±1 to one dimension for each word and scales the sum to unit length."""

    dim: int
    name: str = "hashing"

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        return Card("hashing" if self.dim == 256 else f"hashing,dim={self.dim}", cached=False)

    @property
    def fingerprint(self) -> str:
        """A hash of the number of dimensions and of the token pattern."""
        return content_hash(["hashing", WORD, self.dim])

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, dim) dense float32; a text without words is a zero row."""
        from sklearn.feature_extraction.text import HashingVectorizer

        vectorizer = HashingVectorizer(n_features=self.dim, analyzer=tokens, dtype=np.float32)
        return vectorizer.transform(text.lower() for text in texts).toarray()
