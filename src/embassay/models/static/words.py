"""Word vectors (GloVe, word2vec) pooled over a text's words: their mean or their sum.

These are the baselines MOWE and SOWE of White et al. (2015), section 3.2.3. Words without a vector are skipped; a text
without any word vector has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from embassay.core.samples.base import Role
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import UnknownWords, spec_of
from embassay.models.loaded import LoadedEncoder
from embassay.models.static.trained_folder import WordSettings, read_record
from embassay.models.static.word_files import WordVectors, read, recognise
from embassay.models.tokens import TOKENS_VERSION, Cutting, CutWords, count_unknown, cutter

TARGET = "FILE"
EXTRA = "words"
WordPooling = Literal["mean", "sum"]


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
        What a text's vector is: the ``mean`` or the ``sum`` of its words' vectors.
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
    place = f"encoder 'words:{target}'"
    path = source_path(target)
    spec = spec_of(f"words:{target}", {"pool": "" if pool == "mean" else pool, "tokens": tokens})
    lower: bool | None = None
    if path.is_dir():
        trained = read_record(path, "words", WordSettings).settings
        path = path / "words.bin"
        tokens = tokens or trained.tokens
        lower = trained.lower
    tokens = tokens or "words"
    recognise(path)
    cut = cutter(tokens, place, lower=bool(lower))
    return WordsEncoder(target, Card(spec), path, cut, tokens, pool, lower)


@dataclass(frozen=True, eq=False)
class WordsEncoder(LoadedEncoder[WordVectors]):
    """An encoder that pools the vectors of a text's words.

    Attributes
    ----------
    lower
        Whether texts are lower-cased; None to lower-case a word that has no vector as it is.
    """

    name: str
    card: Card = field(repr=False)
    path: Path
    cut: CutWords = field(repr=False)
    tokens: Cutting
    pool: WordPooling
    lower: bool | None

    def load(self) -> WordVectors:
        """Read the words and their vectors."""
        return read(self.path)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the file's content, and of all options that change vectors."""
        settings = [self.pool, self.tokens, self.lower, TOKENS_VERSION]
        return content_hash(["words", sha256_of(self.path), settings])

    def encode(self, texts: Sequence[str], role: Role = "text") -> DenseVectors:
        """Return (n, d) float32; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If the file cannot be read to its end.
        """
        matrix = self.model.matrix
        pooled = np.zeros((len(texts), matrix.shape[1]))
        for place, text in enumerate(texts):
            rows = self._rows(self.cut(text))
            pooled[place] = matrix[rows].sum(axis=0, dtype=np.float64)
            if self.pool == "mean":
                pooled[place] /= max(len(rows), 1)
        return pooled.astype(np.float32)

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
