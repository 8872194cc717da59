"""A model that another library has loaded, as an encoder for one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embassay.core.samples.base import Role
from embassay.core.types import Card, Encoder
from embassay.core.vectors import Similarity


@dataclass(frozen=True)
class LiveEncoder:
    """An encoder whose weights may change between two runs. Its vectors are never cached.

    Attributes
    ----------
    vectors
        Returns the (n, d) vectors of texts in a role.
    """

    vectors: Callable[[Sequence[str], Role], ArrayLike]
    similarity: Similarity
    name: str = "model"
    fingerprint: str = "live"

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        return Card("live", cached=False, similarity=self.similarity)

    def fit(self, texts: Sequence[str]) -> Encoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, d) float32, each text with its role's prompt."""
        return np.asarray(self.vectors(texts, role), dtype=np.float32)
