"""The common part of the lexical encoders: tokens, counts of words, their weights, and PCA of the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from embassay.core.errors import EncoderError, SpecError
from embassay.core.samples.base import Role
from embassay.core.types import Card, content_hash
from embassay.core.vectors import DenseVectors, Indices, VectorMatrix
from embassay.models.base import BaseEncoder, spec_of
from embassay.models.lexical.pca import principal_axes
from embassay.models.tokens import WORD, Cutting, CutWords, cutter

Fit = Literal["fold", "all"]
FITTED_ON_TESTS = (
    "the principal components are learnt from all texts, those that a fold tests included, so accuracy is too high; "
    "White et al. (2015, section 3.2.4) call this cheating"
)


def document_frequencies(texts: Iterable[Sequence[str]]) -> dict[str, int]:
    """Return in how many texts each word occurs, in alphabetical order; a text is a sequence of words."""
    frequencies: Counter[str] = Counter()
    for words in texts:
        frequencies.update(set(words))
    return dict(sorted(frequencies.items()))


def count_words(texts: Iterable[Sequence[str]], columns: Mapping[str, int]) -> csr_array:
    """Return the (n, columns) float64 counts of the words of each text; words without a column are left out."""
    places: list[int] = []
    counts: list[int] = []
    starts = [0]
    for words in texts:
        for word, count in Counter(words).items():
            if word in columns:
                places.append(columns[word])
                counts.append(count)
        starts.append(len(places))
    values = np.array(counts, dtype=np.float64)
    shape = (len(starts) - 1, len(columns))
    matrix = csr_array((values, np.array(places, dtype=np.int32), np.array(starts, dtype=np.int32)), shape=shape)
    matrix.sort_indices()
    return matrix


def rows_of_values(matrix: csr_array) -> Indices:
    """Return the row of each stored value of a CSR matrix."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def lexical_encoder(name: str, tokens: Cutting, pca: int, fit: Fit) -> LexicalEncoder:
    """Make an encoder that counts words, with or without PCA of the counts.

    Parameters
    ----------
    name
        ``bow`` or ``tfidf``.
    tokens
        ``words`` or ``treebank``; see :class:`LexicalEncoder`.
    pca
        Number of dimensions after PCA; 0 for no PCA.
    fit
        ``fold`` or ``all``; see :class:`ProjectedEncoder`.

    Raises
    ------
    SpecError
        For a negative ``pca``, and for ``fit=all`` without PCA.
    MissingExtraError
        If nltk is wanted and not installed.
    """
    if pca < 0:
        raise SpecError(f"encoder {name!r}, option 'pca': must be 1 or more, or 0 for no PCA; is {pca}")
    if fit == "all" and not pca:
        raise SpecError(f"encoder {name!r}, option 'fit': says what PCA is learnt from; add pca=N")
    encoder = ProjectedEncoder(name, tokens, pca=pca, learns_from=fit) if pca else LexicalEncoder(name, tokens)
    encoder.cut()
    return encoder


@dataclass(frozen=True)
class LexicalEncoder(BaseEncoder):
    """An encoder that counts words; it learns its vocabulary from a corpus.

    Attributes
    ----------
    name
        ``bow`` or ``tfidf``.
    tokens
        The tokenizer for lower-cased texts: ``words``, or ``treebank`` (nltk's
        ``TreebankWordTokenizer``). Each token has a dimension, punctuation included.
    vocabulary
        The words in the order of the columns; empty before :meth:`fit`.
    weights
        The weight of each column, for tf-idf; empty for counts.
    """

    name: str
    tokens: Cutting = "words"
    vocabulary: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def card(self) -> Card:
        """The properties of the encoder that are known without running it."""
        return Card(spec_of(self.name, self._options), parameters=0, fitted=True, cached=False)

    @property
    def fingerprint(self) -> str:
        """A hash of kind, tokens, vocabulary and weights."""
        tokens = WORD if self.tokens == "words" else self.tokens
        return content_hash([self.name, tokens, self.vocabulary, self.weights])

    def cut(self) -> CutWords:
        """Return the function that cuts a lower-cased text into tokens.

        Raises
        ------
        MissingExtraError
            If nltk is wanted and not installed.
        """
        return cutter(self.tokens, f"encoder {self.name!r}")

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn the vocabulary, and for tf-idf the weights, of these texts.

        Raises
        ------
        EncoderError
            If there is no word in them.
        """
        frequencies = document_frequencies(self._words(texts))
        if not frequencies:
            raise EncoderError(f"{self.name}: the texts contain no words")
        weights = np.zeros(0)
        if self.name == "tfidf":
            df = np.array(list(frequencies.values()))
            # Logarithms differ in the last bit between processors. Rounding makes the vectors equal.
            weights = np.round(np.log((1 + len(texts)) / (1 + df)) + 1, 10)
        return replace(self, vocabulary=tuple(frequencies), weights=tuple(weights.tolist()))

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return the (n, vocabulary) CSR matrix; a text without a known word is a zero row."""
        if not self.vocabulary:
            raise EncoderError(f"{self.name} learns its vocabulary from a corpus; call fit(texts) first")
        counts = count_words(self._words(texts), self._columns)
        if self.weights:
            counts.data *= np.array(self.weights)[counts.indices]
            row = rows_of_values(counts)
            # A row without a value has no length to divide by.
            counts.data /= np.sqrt(np.bincount(row, counts.data**2))[row]
        return counts.astype(np.float32)

    @property
    def _options(self) -> dict[str, object]:
        """The options that are not the usual ones."""
        return {"tokens": "" if self.tokens == "words" else self.tokens}

    @cached_property
    def _columns(self) -> dict[str, int]:
        """The column of each word."""
        return {word: column for column, word in enumerate(self.vocabulary)}

    def _words(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the tokens of each text, lower-cased."""
        cut = self.cut()
        for text in texts:
            yield cut(text.lower())


@dataclass(frozen=True)
class ProjectedEncoder(LexicalEncoder):
    """An encoder that counts words and projects the counts onto their principal components.

    White et al. (2015, section 3.2.4) learn the components from the training fold's texts only. :meth:`relearn` does
    that; the words (and tf-idf weights) stay those of the corpus. With ``all`` the components stay, too.

    Attributes
    ----------
    pca
        Number of components; there are fewer if the texts have fewer.
    learns_from
        Where a diagnostic trains on folds: the training texts of the ``fold``, or ``all`` texts.
    learnt
        A hash of the texts from which the components were learnt; empty before :meth:`fit`.
    axes
        (k, vocabulary) the components: unit length, largest variance first.
    mean
        (vocabulary,) the mean of the counts of these texts.
    """

    pca: int = 300
    learns_from: Fit = "fold"
    learnt: str = ""
    axes: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)), compare=False, repr=False)
    mean: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """A hash of tokens, vocabulary, weights, number of components, and the texts from which they were learnt."""
        learns_from = [] if self.learns_from == "fold" else [self.learns_from]
        return content_hash([super().fingerprint, "pca", self.pca, self.learnt, *learns_from])

    @property
    def card(self) -> Card:
        """As without PCA, with a warning where the components are learnt from test texts."""
        warnings = (FITTED_ON_TESTS,) if self.learns_from == "all" else ()
        return replace(super().card, warnings=warnings, relearns=True)

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn words and components from these texts.

        Raises
        ------
        EncoderError
            If there is no word in them, or all have the same words.
        """
        return super().fit(texts)._with_axes(texts)

    def relearn(self, texts: Sequence[str]) -> Self:
        """Return an encoder with the same words whose components are learnt from these texts only, unless from all.

        Raises
        ------
        EncoderError
            If all texts have the same words.
        """
        if self.learns_from == "all":
            return self
        return self._with_axes(texts)

    def _with_axes(self, texts: Sequence[str]) -> Self:
        """Return an encoder whose components are learnt from these texts."""
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

    @property
    def _options(self) -> dict[str, object]:
        return {**super()._options, "pca": self.pca, "fit": "" if self.learns_from == "fold" else self.learns_from}
