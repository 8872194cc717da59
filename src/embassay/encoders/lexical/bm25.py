"""BM25, the lexical ranking that dense retrieval has to beat; for retrieval only.

Robertson & Zaragoza (2009), with the idf that is never negative: the dot product of a question's word counts with
idf · tf · (k1 + 1)/(tf + k1 · (1 − b + b · length/mean length)), idf = ln(1 + (n − df + ½)/(df + ½)), is the score.
Words are lower-cased ``\\w+``, neither stemmed nor stopped; n, df and the mean length are those of the passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from embassay.encoders.base import spec_of
from embassay.encoders.lexical.counts import count_words, document_frequencies, rows_of_values
from embassay.errors import EncoderError, SpecError
from embassay.samples.base import Role
from embassay.types import Card, Runtime, content_hash
from embassay.vectors import VectorMatrix

WORD = re.compile(r"\w+")
K1, B = 1.2, 0.75


def create(target: str, runtime: Runtime, *, k1: float = K1, b: float = B, whole: bool = False) -> BM25Encoder:
    """Make the encoder; it learns its words and weights from each corpus's passages.

    Parameters
    ----------
    k1
        Term-frequency saturation, 0 or more: the larger, the more repetitions of a word count.
    b
        Length normalisation of passages, from 0 (none) to 1 (full).
    whole
        Compare whole documents, however the corpus cuts them into passages.
    """
    del target, runtime
    if not (k1 >= 0 and np.isfinite(k1)) or not 0 <= b <= 1:
        raise SpecError(f"encoder 'bm25': k1 must be 0 or more and b between 0 and 1, are {k1:g} and {b:g}")
    return BM25Encoder(k1, b, whole)


@dataclass(frozen=True)
class BM25Encoder:
    """An encoder whose dot products are BM25 scores; it learns words and weights from the passages.

    Attributes
    ----------
    whole
        Whether it is given whole documents as the passages.
    columns
        The column of each word; empty before :meth:`fit`.
    idf
        The weight of each column.
    mean_length
        The mean number of words of a passage.
    """

    k1: float = K1
    b: float = B
    whole: bool = False
    columns: dict[str, int] = field(default_factory=dict, repr=False)
    idf: tuple[float, ...] = field(default=(), repr=False)
    mean_length: float = 0.0
    name: str = "bm25"

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        options = {
            "k1": "" if self.k1 == K1 else f"{self.k1:g}",
            "b": "" if self.b == B else f"{self.b:g}",
            "whole": self.whole or None,
        }
        return Card(spec_of("bm25", options), fitted=True, cached=False, similarity="dot", shapes=("retrieval",))

    @property
    def fingerprint(self) -> str:
        """A hash of constants, words and weights."""
        return content_hash(["bm25", self.k1, self.b, list(self.columns), self.idf, self.mean_length])

    def fit(self, texts: Sequence[str]) -> BM25Encoder:
        """Learn words, their idf and the mean length.

        Raises
        ------
        EncoderError
            If there is no word in the texts.
        """
        words = [_words(text) for text in texts]
        frequencies = document_frequencies(words)
        if not frequencies:
            raise EncoderError("bm25: the texts contain no words")
        df = np.array(list(frequencies.values()), dtype=np.float64)
        # Logarithms differ in the last bit between processors. Rounding makes the vectors equal.
        idf = np.round(np.log1p((len(texts) - df + 0.5) / (df + 0.5)), 10)
        columns = {name: place for place, name in enumerate(frequencies)}
        mean_length = sum(map(len, words)) / len(texts)
        return replace(self, columns=columns, idf=tuple(idf.tolist()), mean_length=mean_length)

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, words) CSR float32: counts for questions, BM25 weights otherwise; unknown words are left out."""
        if not self.columns:
            raise EncoderError("bm25 learns its vocabulary from a corpus; call fit(texts) first")
        words = [_words(text) for text in texts]
        counts = count_words(words, self.columns)
        # The weights are on the side of the passages; a dot product then gives the whole score.
        if role != "query":
            k1, b = self.k1, self.b
            lengths = np.array([len(words_of_text) for words_of_text in words])
            damping = k1 * (1 - b + b * lengths / self.mean_length)
            saturated = counts.data * (k1 + 1) / (counts.data + damping[rows_of_values(counts)])
            counts.data = np.array(self.idf)[counts.indices] * saturated
        return counts.astype(np.float32)


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())
