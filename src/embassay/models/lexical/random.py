"""A random direction for each text: the floor of every table, and the null of every test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embassay.core.randomness import generator
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import BaseEncoder, spec_of
from embassay.models.limits import Count, CountOrZero

DIMENSIONS = 256


def create(target: str, runtime: Runtime, *, dim: Count = DIMENSIONS, seed: CountOrZero = 0) -> RandomEncoder:
    """Make the encoder.

    Parameters
    ----------
    dim
        Number of dimensions.
    seed
        Seed of the random vectors.
    """
    return RandomEncoder(dim, seed)


@dataclass(frozen=True)
class RandomEncoder(BaseEncoder):
    """An encoder whose vectors are standard normal; the text selects the random stream, so equal texts are equal."""

    dim: int = DIMENSIONS
    seed: int = 0
    name: str = "random"

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        dim = None if self.dim == DIMENSIONS else self.dim
        return Card(spec_of("random", {"dim": dim, "seed": self.seed}), cached=False, is_chance=True)

    @property
    def fingerprint(self) -> str:
        """A hash of dimension and seed."""
        return content_hash(["random", self.dim, self.seed])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, dim) float32."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for place, text in enumerate(texts):
            rows[place] = generator(self.seed, "random encoder", text).standard_normal(self.dim, np.float32)
        return rows
