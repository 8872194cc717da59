"""Word vectors (GloVe, word2vec) pooled over a text's words: their mean, their sum, or SIF.

Mean and sum are the baselines MOWE and SOWE of White et al. (2015), section 3.2.3; smooth inverse frequency (SIF) is
Arora, Liang & Ma (2017), "A simple but tough-to-beat baseline for sentence embeddings", algorithm 1. Words without a
vector are skipped; a text without any word vector has the zero vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError
from embassay.core.samples.base import Role
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import UnknownWords, changed_options, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.static.trained_folder import WordSettings, read_record
from embassay.models.static.word_files import WordVectors, read, recognise
from embassay.models.tokens import TOKENS_VERSION, Cutting, CutWords, count_unknown, cutter

TARGET = "FILE"
EXTRA = "words"
A = 1e-3
"""The a of SIF's weights a/(a + p(w))."""
WordPooling = Literal["mean", "sum", "sif"]


def create(
    target: str,
    runtime: Runtime,
    *,
    pool: WordPooling = "mean",
    tokens: Cutting | None = None,
) -> WordsEncoder:
    """Look at the beginning of the file; it is read when the first text is encoded.

    Parameters
    ----------
    target
        A file of word vectors (GloVe text, word2vec text or binary, gzipped or not), or a folder written by
        ``embassay train words``.
    pool
        What a text's vector is: ``mean`` or ``sum`` of its words' vectors, or ``sif``, which learns how frequent each
        word is, and a common direction to take out, from the corpus's texts.
    tokens
        How texts are cut: ``words`` (words and single punctuation marks), or ``treebank`` through nltk; ``words``,
        and in a trained folder what it was trained with, where this is not said.

    Raises
    ------
    SourceError
        If the file is not there or does not begin as word vectors do.
    MissingExtraError
        If nltk is wanted and not installed.
    """
    spec = spec_of(f"words:{target}", changed_options(create, **locals()))
    path = source_path(target)
    lower: bool | None = None
    if path.is_dir():
        trained = read_record(path, "words", WordSettings).settings
        path = path / "words.bin"
        tokens = tokens or trained.tokens
        lower = trained.lower
    tokens = tokens or "words"
    recognise(path)
    cut = cutter(tokens, f"encoder 'words:{target}'", lower=bool(lower))
    card = Card(spec, fitted=pool == "sif", cached=pool != "sif")
    return WordsEncoder(target, card, path, cut, tokens, pool, lower)


@dataclass(frozen=True, eq=False, repr=False)
class WordsEncoder(LoadedEncoder[WordVectors]):
    """An encoder that pools the vectors of a text's words.

    Attributes
    ----------
    lower
        Whether texts are lower-cased; None to lower-case a word that has no vector as it is.
    learnt
        The texts from which SIF learns; None before :meth:`fit`.
    unfitted
        The encoder that was fitted, which reads the file; None before :meth:`fit`.
    """

    name: str
    card: Card
    path: Path
    cut: CutWords
    tokens: Cutting
    pool: WordPooling
    lower: bool | None
    learnt: Sequence[str] | None = None
    unfitted: WordsEncoder | None = None

    def load(self) -> WordVectors:
        """Read the words and their vectors."""
        return self.unfitted.model if self.unfitted else read(self.path)

    def fit(self, texts: Sequence[str]) -> WordsEncoder:
        """Return an encoder that learns from these texts, for SIF; otherwise itself."""
        return replace(self, learnt=tuple(texts), unfitted=self) if self.pool == "sif" else self

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the file's content, of all options that change vectors, and of the texts from which SIF learns."""
        settings = [self.pool, self.tokens, self.lower, TOKENS_VERSION, self.learnt]
        return content_hash(["words", sha256_of(self.path), settings])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If the file cannot be read to its end, or SIF has not learnt from texts yet.
        """
        if self.pool != "sif":
            return self._pooled(texts, {}).astype(np.float32)
        weights, projection = self._sif
        return (self._pooled(texts, weights) @ projection).astype(np.float32)

    @cached_property
    def _sif(self) -> tuple[Mapping[int, float], NDArray[np.float64]]:
        """The weight of each row that occurs in the learnt texts, and the (d, d) projection without a common direction.

        p(w) is the share of w among all tokens of the learnt texts; a word that does not occur has p(w) = 0. The
        direction is the first right singular vector of the (n, d) weighted means of these texts, which are not centred.
        """
        if self.learnt is None:
            raise EncoderError("words with pool=sif learns word frequencies from a corpus; call fit(texts) first")
        words = [word for text in self.learnt for word in self.cut(text)]
        weights = {row: A / (A + count / len(words)) for row, count in Counter(self._rows(words)).items()}
        means = self._pooled(self.learnt, weights)
        # If all means are zero, there is no direction.
        direction = np.linalg.eigh(means.T @ means).eigenvectors[:, -1] * means.any()
        return weights, np.eye(len(direction)) - np.outer(direction, direction)

    def _pooled(self, texts: Sequence[str], weights: Mapping[int, float]) -> NDArray[np.float64]:
        """Return the (n, d) sums or means of the texts' word vectors; a row without a weight has the weight 1."""
        matrix = self.model.matrix
        pooled = np.zeros((len(texts), matrix.shape[1]))
        for place, text in enumerate(texts):
            rows = self._rows(self.cut(text))
            pooled[place] = np.array([weights.get(row, 1.0) for row in rows]) @ matrix[rows]
            if self.pool != "sum":
                pooled[place] /= max(len(rows), 1)
        return pooled

    def unknown_words(self, texts: Sequence[str]) -> UnknownWords:
        """Return (tokens without a vector, tokens, texts without any word vector)."""
        return count_unknown(map(self.cut, texts), lambda word: bool(self._rows([word])))

    def _rows(self, words: Sequence[str]) -> list[int]:
        """Return the rows of the words that have one, in their order."""
        row = self.model.row
        if self.lower is None:
            # A word is lower-cased only if it has no vector as it is.
            words = [word if word in row else word.lower() for word in words]
        return [row[word] for word in words if word in row]
