"""Counts of character n-grams: learns nothing, needs nothing, gives the same vectors on every machine."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import embassay as ea
from embassay.plugin import SpecError

DEFAULT_N = 3
DEFAULT_DIM = 1024


def create(target: str, runtime: ea.Runtime, *, n: int = DEFAULT_N, dim: int = DEFAULT_DIM) -> ea.Encoder:
    """Make the encoder. The keyword-only parameters are its options.

    Parameters
    ----------
    target
        What follows ``char_ngrams:`` in a spec; empty, because the module has no ``TARGET``.
    runtime
        Where neural encoders run; not needed here.
    n
        Characters of an n-gram, 1 or more.
    dim
        Number of dimensions, 1 or more; n-grams are spread over them by their CRC-32.
    """
    del target, runtime
    for option, value in (("n", n), ("dim", dim)):
        if value < 1:
            raise SpecError(f"encoder 'char_ngrams', option {option!r}: must be 1 or more, is {value}")
    return CharNgrams(n, dim)


@dataclass(frozen=True)
class CharNgrams:
    """Counts each n-gram of a lower-cased text in one of ``dim`` dimensions."""

    n: int
    dim: int
    name: str = "char_ngrams"

    @property
    def card(self) -> ea.Card:
        """What is known without running it; vectors that are cheap to make again are not cached."""
        options = {"n": (self.n, DEFAULT_N), "dim": (self.dim, DEFAULT_DIM)}
        changed = [f",{option}={value}" for option, (value, default) in options.items() if value != default]
        return ea.Card(f"char_ngrams{''.join(changed)}", cached=False)

    @property
    def fingerprint(self) -> str:
        """A hash of all that the vectors depend on; the number is raised when the code changes them."""
        return hashlib.sha256(f"char_ngrams 1 n={self.n} dim={self.dim}".encode()).hexdigest()[:16]

    def fit(self, texts: Sequence[str]) -> CharNgrams:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: str = "text") -> NDArray[np.float32]:
        """Return (n, dim) counts; a space stands before and after each text, and the role changes nothing."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            padded = f" {text.lower()} "
            grams = Counter(padded[start : start + self.n] for start in range(len(padded) - self.n + 1))
            for gram, count in grams.items():
                vectors[row, zlib.crc32(gram.encode("utf-8", "surrogatepass")) % self.dim] += count
        return vectors
