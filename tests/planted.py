"""Encoders that always choose one kind of candidate: a check of the negated_antonyms diagnostic.

As specs, such as ``python:planted:always_paraphrase``, they know the sentences of the built-in corpus ``opposites``.
:class:`Planted` does the same for any choice corpus. On it the accuracy is known exactly: 1 for
``paraphrase``, 0 for ``antonym`` and ``polarity``; :func:`constant` ties everywhere and has 1/3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError
from embassay.core.randomness import generator
from embassay.core.samples.base import Role
from embassay.core.samples.shapes import Choice
from embassay.core.types import Card, Corpus, content_hash
from embassay.corpora.builtin import opposites

DIM = 64


@dataclass(frozen=True)
class Planted:
    """Gives an input and its candidate of one kind the same vector, and all other sentences other vectors.

    Sentences that are connected by a chain of such pairs share the vector too. So the outcome is exact on a corpus
    in which no chain connects an input with a candidate of another kind.

    Attributes
    ----------
    kind
        ``antonym``, ``polarity`` or ``paraphrase``: what is chosen in every entry.
    """

    corpus: Corpus[Choice]
    kind: str

    @property
    def name(self) -> str:
        """``always-`` and the kind."""
        return f"always-{self.kind}"

    @property
    def fingerprint(self) -> str:
        """A hash of corpus and kind."""
        return content_hash(["planted", self.corpus.fingerprint, self.kind])

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        return Card(self.name, cached=False)

    def fit(self, texts: Sequence[str]) -> Planted:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, 64) float32 of unit length.

        Raises
        ------
        EncoderError
            For a sentence that the corpus does not have.
        """
        vectors = np.empty((len(texts), DIM), dtype=np.float32)
        for place, text in enumerate(texts):
            if text not in self._representative:
                raise EncoderError(f"{self.name} only knows the sentences of {self.corpus.name}, not {text!r}")
            vectors[place] = _direction(self._representative[text])
        return vectors

    @cached_property
    def _representative(self) -> Mapping[str, str]:
        """Each sentence with the one sentence that stands for all that share its vector."""
        # A forest of sentences (union-find): each entry joins the tree of its input to that of its candidate.
        parent: dict[str, str] = {}
        for sample in self.corpus.samples:
            fields = sample.fields()
            for text in fields.values():
                parent.setdefault(text, text)
            parent[_root(parent, sample.input)] = _root(parent, fields[self.kind])
        return {text: _root(parent, text) for text in parent}


def always_paraphrase(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode sentences of ``opposites`` so that the right candidate is always the nearest one."""
    return _builtin("paraphrase").encode(texts)


def always_polarity(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode sentences of ``opposites`` so that the candidate with only the negation changed is the nearest."""
    return _builtin("polarity").encode(texts)


def always_antonym(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode sentences of ``opposites`` so that the candidate with only the word changed is the nearest."""
    return _builtin("antonym").encode(texts)


def constant(texts: Sequence[str]) -> NDArray[np.float32]:
    """Give every text the same vector: every candidate ties, and accuracy is 1/3."""
    return np.ones((len(texts), DIM), dtype=np.float32)


@cache
def _builtin(kind: str) -> Planted:
    return Planted(opposites.load("opposites", "opposites"), kind)


def _direction(text: str) -> NDArray[np.float64]:
    """Return a (64,) random vector of unit length that depends on the text alone."""
    vector = generator(0, "planted", text).standard_normal(DIM)
    return np.asarray(vector / np.linalg.norm(vector))


def _root(parent: Mapping[str, str], text: str) -> str:
    """Return the root of the tree that a sentence is in: the sentence that is its own parent."""
    while parent[text] != text:
        text = parent[text]
    return text
