"""What the lexical encoders share: one way of cutting words, and a fitted scikit-learn vectorizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from embassay.errors import EncoderError
from embassay.samples import Role
from embassay.types import Card, content_hash

TOKENS = r"\w+|[^\w\s]"
"""Words and single punctuation marks, after lower-casing."""


@dataclass(frozen=True)
class LexicalEncoder:
    """Counts words, after it has seen a corpus's texts.

    Attributes
    ----------
    name
        ``bow`` or ``tfidf``.
    vocabulary
        The words in the order of the columns; empty before :meth:`fit`.
    weights
        The weight of each column, for tf-idf; empty for counts.
    """

    name: str
    vocabulary: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def card(self) -> Card:
        """What is known without running it."""
        return Card(self.name, fitted=True, cached=False)

    @property
    def fingerprint(self) -> str:
        """A hash of kind, vocabulary and weights."""
        return content_hash([self.name, TOKENS, self.vocabulary, self.weights])

    def fit(self, texts: Sequence[str]) -> LexicalEncoder:
        """Learn the vocabulary, and for tf-idf the weights, of these texts.

        Raises
        ------
        EncoderError
            If there is no word in them.
        """
        try:
            vectorizer = self._vectorizer().fit(texts)
        except ValueError as error:
            raise EncoderError(f"{self.name}: the texts have no word to learn ({error})") from None
        columns = tuple(vectorizer.get_feature_names_out().tolist())
        # Logarithms differ in the last bit between processors; rounded, the vectors do not.
        weights = np.round(getattr(vectorizer, "idf_", np.zeros(0)), 10)
        return replace(self, vocabulary=columns, weights=tuple(weights.tolist()))

    def encode(self, texts: Sequence[str], role: Role = "text") -> Any:
        """Return the (n, vocabulary) CSR matrix; a text without a known word is a zero row."""
        if not self.vocabulary:
            raise EncoderError(f"{self.name} learns its words from a corpus: call fit(texts) first")
        vectorizer = self._vectorizer(vocabulary=self.vocabulary)
        if self.weights:
            vectorizer.idf_ = np.array(self.weights)
        return vectorizer.transform(texts).astype(np.float32)

    def _vectorizer(self, **options: Any) -> Any:
        from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

        kind = {"bow": CountVectorizer, "tfidf": TfidfVectorizer}[self.name]
        return kind(lowercase=True, token_pattern=TOKENS, **options)
