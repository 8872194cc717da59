"""BM25, the lexical ranking that dense retrieval has to beat; for retrieval only.

Robertson & Zaragoza (2009), with the idf that is never negative: the dot product of a question's word counts with idf ·
tf · (k1 + 1)/(tf + k1 · (1 − b + b · length/mean length)), idf = ln(1 + (n − df + ½)/(df + ½)), is the score. Words are
lower-cased, as :mod:`embassay.stats.lexical.words` cuts them, by default neither stemmed nor stopped; n, df and the
mean length are taken from the passages. ``stopwords=english`` are the 33 words of Lucene's ``EnglishAnalyzer``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import VectorMatrix
from embassay.models.base import changed_options, spec_of
from embassay.models.lexical.counts import LexicalEncoder
from embassay.models.limits import AmountOrZero, Share
from embassay.models.tokens import CutWords, need_nltk
from embassay.stats.lexical.words import WORD, prepared, words

IDENTIFIER = re.compile(rf"{WORD}(?:[-./:@+#&]+{WORD})+")
"""Words that are joined by signs without a space: ``38.331``, ``e-utra``, ``os.path.join``."""
K1, B = 1.2, 0.75
ENGLISH = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "
    "to was will with".split()
)
Tokens = Literal["words", "identifiers"]
Stopwords = Literal["none", "english"]
Stemmer = Literal[
    "none",
    "arabic",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
]
"""The languages of nltk's ``SnowballStemmer``."""


def create(
    target: str,
    runtime: Runtime,
    *,
    k1: AmountOrZero = K1,
    b: Share = B,
    tokens: Tokens = "words",
    stopwords: Stopwords = "none",
    stemmer: Stemmer = "none",
) -> BM25Encoder:
    """Make the encoder; it learns its words and weights from each corpus's passages.

    Parameters
    ----------
    k1
        Term-frequency saturation, 0 or more: the larger, the more repetitions of a word count.
    b
        Length normalisation of passages, from 0 (none) to 1 (full).
    tokens
        ``words``, or ``identifiers``: words that are joined by one of ``-./:@+#&``, such as ``38.331``, also count as
        one word, besides their parts.
    stopwords
        Words that do not count: ``none``, or the 33 ``english`` ones.
    stemmer
        The language whose Snowball stemmer (through nltk) shortens words: ``english``, ``german`` …

    Raises
    ------
    MissingExtraError
        If nltk is wanted and not installed.
    """
    options = changed_options(create, **locals())
    if stemmer != "none":
        need_nltk(f"encoder 'bm25', stemmer={stemmer},")
    stopped = ENGLISH if stopwords == "english" else frozenset[str]()
    cutting = (tokens, sorted(stopped), stemmer)
    # With the usual words, the fingerprint is that of the time before there were others.
    cut_as = () if cutting == ("words", [], "none") else cutting
    cut = _cutter(tokens, stopped, stemmer)
    return BM25Encoder("bm25", tokens, cut, spec=spec_of("bm25", options), k1=k1, b=b, cut_as=cut_as)


@dataclass(frozen=True, eq=False, repr=False)
class BM25Encoder(LexicalEncoder):
    """An encoder whose dot products are BM25 scores; it learns words and weights from the passages.

    Attributes
    ----------
    spec
        The canonical spec.
    k1, b
        As in :func:`create`.
    cut_as
        How texts are cut, if not as usual.
    """

    spec: str = "bm25"
    k1: float = K1
    b: float = B
    cut_as: tuple[object, ...] = ()

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        return Card(self.spec, parameters=0, fitted=True, cached=False, similarity="dot", shapes=("retrieval",))

    @property
    def fingerprint(self) -> str:
        """A hash of constants, words and weights."""
        return content_hash(["bm25", self.k1, self.b, list(self.columns), self.weights, self.mean_length, *self.cut_as])

    def weigh(self, frequencies: NDArray[np.float64], texts: int) -> NDArray[np.float64]:
        """Return the idf of each word, which is never negative."""
        return np.log1p((texts - frequencies + 0.5) / (frequencies + 0.5))

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, words) CSR float32: counts for questions, BM25 weights otherwise; unknown words are left out."""
        words = [self.words(text) for text in texts]
        counts = self.counts(words)
        # The weights are on the side of the passages; a dot product then gives the whole score.
        if role != "query":
            row, _ = counts.tocoo().coords
            lengths = np.array([len(words_of_text) for words_of_text in words])
            damping = self.k1 * (1 - self.b + self.b * lengths / self.mean_length)
            saturated = counts.data * (self.k1 + 1) / (counts.data + damping[row])
            counts.data = np.array(self.weights)[counts.indices] * saturated
        return counts.astype(np.float32)


def _cutter(tokens: Tokens, stopped: frozenset[str], stemmer: Stemmer) -> CutWords:
    """Return the function that cuts a text into the words that count, lower-cased and stemmed."""
    stem: Callable[[str], str] = str
    if stemmer != "none":
        from nltk.stem.snowball import SnowballStemmer

        stem = cache(SnowballStemmer(stemmer).stem)

    def cut(text: str) -> list[str]:
        text = text.lower()
        # Words that are joined come after their parts.
        joined = IDENTIFIER.findall(prepared(text)) if tokens == "identifiers" else []
        return [stem(word) for word in (*words(text), *joined) if word not in stopped]

    return cut
