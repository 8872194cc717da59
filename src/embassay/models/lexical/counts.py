"""The common part of the lexical encoders: tokens, counts of words, their weights, and PCA of the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embassay.core.errors import EncoderError
from embassay.core.samples.base import Role
from embassay.core.types import Card, content_hash
from embassay.core.vectors import DenseVectors, VectorMatrix
from embassay.models.base import BaseEncoder, spec_of
from embassay.models.lexical.pca import principal_axes
from embassay.models.tokens import WORD, Cutting, CutWords, cutter


def lexical_encoder(name: str, tokens: Cutting, pca: int) -> LexicalEncoder:
    """Make an encoder that counts words, with or without PCA of the counts.

    Parameters
    ----------
    name
        ``bow`` or ``tfidf``.
    tokens
        ``words`` or ``treebank``; see :class:`LexicalEncoder`.
    pca
        Number of dimensions after PCA; 0 for no PCA.

    Raises
    ------
    MissingExtraError
        If nltk is wanted and not installed.
    """
    cut = cutter(tokens, f"encoder {name!r}", lower=True)
    if pca:
        return ProjectedEncoder(name, tokens, cut, pca=pca)
    return LexicalEncoder(name, tokens, cut)


@dataclass(frozen=True, eq=False, repr=False)
class LexicalEncoder(BaseEncoder):
    """An encoder that counts the words of a corpus, and weighs them if it is ``tfidf``.

    Attributes
    ----------
    tokens
        The tokenizer: ``words``, or ``treebank`` (nltk's ``TreebankWordTokenizer``); punctuation included.
    words
        Returns the words of a text, lower-cased.
    columns
        The column of each word, in alphabetical order; empty before :meth:`fit`.
    weights
        The weight of each column; empty for counts.
    mean_length
        The mean number of words of a text.
    """

    name: str
    tokens: str
    words: CutWords
    columns: Mapping[str, int] = field(default_factory=dict)
    weights: tuple[float, ...] = ()
    mean_length: float = 0.0

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        tokens = "" if self.tokens == "words" else self.tokens
        return Card(spec_of(self.name, {"tokens": tokens}), parameters=0, fitted=True, cached=False)

    @property
    def fingerprint(self) -> str:
        """A hash of kind, tokens, words and weights."""
        tokens = WORD if self.tokens == "words" else self.tokens
        return content_hash([self.name, tokens, list(self.columns), self.weights])

    def weigh(self, frequencies: NDArray[np.float64], texts: int) -> NDArray[np.float64]:
        """Return the weight of each word, from the number of texts with it; as scikit-learn's ``TfidfVectorizer``."""
        return np.log((1 + texts) / (1 + frequencies)) + 1 if self.name == "tfidf" else np.zeros(0)

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn words and weights from these texts.

        Raises
        ------
        EncoderError
            If there is no word in them.
        """
        words = [self.words(text) for text in texts]
        frequencies = Counter(word for words_of_text in words for word in set(words_of_text))
        if not frequencies:
            raise EncoderError(f"{self.name}: the texts contain no words")
        columns = {word: column for column, word in enumerate(sorted(frequencies))}
        df = np.array([frequencies[word] for word in columns], dtype=np.float64)
        # Logarithms differ in the last bit between processors. Rounding makes the vectors equal.
        weights = np.round(self.weigh(df, len(texts)), 10)
        mean_length = sum(map(len, words)) / len(texts)
        return replace(self, columns=columns, weights=tuple(weights.tolist()), mean_length=mean_length)

    def counts(self, words: Iterable[Sequence[str]]) -> csr_array:
        """Return the (n, columns) float64 counts of the words of n texts; words without a column are left out.

        Raises
        ------
        EncoderError
            Before :meth:`fit`.
        """
        if not self.columns:
            raise EncoderError(f"{self.name} learns its vocabulary from a corpus; call fit(texts) first")
        places: list[int] = []
        starts = [0]
        for words_of_text in words:
            places += [self.columns[word] for word in words_of_text if word in self.columns]
            starts.append(len(places))
        matrix = csr_array((np.ones(len(places)), places, starts), shape=(len(starts) - 1, len(self.columns)))
        matrix.sum_duplicates()
        return matrix

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return the (n, words) CSR matrix; a text without a known word is a zero row."""
        counts = self.counts(map(self.words, texts))
        if self.weights:
            counts.data *= np.array(self.weights)[counts.indices]
            row, _ = counts.tocoo().coords
            # A row without a value has no length to divide by.
            counts.data /= np.sqrt(np.bincount(row, counts.data**2))[row]
        return counts.astype(np.float32)


@dataclass(frozen=True, eq=False, repr=False)
class ProjectedEncoder(LexicalEncoder):
    """An encoder that counts words and projects the counts onto their principal components.

    White et al. (2015, section 3.2.4) learn the components from the training fold's texts only. :meth:`relearn` does
    that; the words (and tf-idf weights) stay.

    Attributes
    ----------
    pca
        Number of components; there are fewer if the texts have fewer.
    learnt
        A hash of the texts from which the components were learnt; empty before :meth:`fit`.
    axes
        (k, vocabulary) the components: unit length, largest variance first.
    mean
        (vocabulary,) the mean of the counts of these texts.
    """

    pca: int = 300
    learnt: str = ""
    axes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    mean: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def fingerprint(self) -> str:
        """A hash of tokens, vocabulary, weights, number of components, and the texts from which they were learnt."""
        return content_hash([super().fingerprint, "pca", self.pca, self.learnt])

    @property
    def card(self) -> Card:
        """As without PCA, but for its number of components."""
        card = super().card
        return replace(card, spec=f"{card.spec},pca={self.pca}", relearns=True)

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn words and components from these texts.

        Raises
        ------
        EncoderError
            If there is no word in them, or all have the same words.
        """
        return super().fit(texts).relearn(texts)

    def relearn(self, texts: Sequence[str]) -> Self:
        """Return an encoder with the same words whose components are learnt from these texts only.

        Raises
        ------
        EncoderError
            If all texts have the same words.
        """
        # Sorted, so that the same texts in another order give the same bytes.
        ordered = sorted(texts)
        axes, mean = principal_axes(super().encode(ordered), self.pca)
        if not len(axes):
            raise EncoderError(f"{self.card.spec}: all texts have the same words, so PCA finds no direction")
        return replace(self, learnt=content_hash(ordered), axes=axes, mean=mean)

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, k) float32: the centred counts projected onto the components."""
        counts = super().encode(texts, role).astype(np.float64)
        # The mean is projected separately, because subtracting it would make the counts dense.
        return np.asarray(counts @ self.axes.T - self.mean @ self.axes.T, dtype=np.float32)
