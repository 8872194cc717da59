"""Word vectors (GloVe, word2vec) pooled over a text's words: their mean, their sum, or SIF.

Mean and sum are the baselines MOWE and SOWE of White et al. (2015), section 3.2.3; smooth inverse frequency (SIF) is
Arora, Liang & Ma (2017), "A simple but tough-to-beat baseline for sentence embeddings", algorithm 1. Words without a
vector are skipped; a text that has no other is a zero vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.static.trained_folder import TrainedFolder
from embassay.encoders.static.word_files import Form, WordVectors, read, recognise
from embassay.encoders.tokens import Cut, Cutting, cutter
from embassay.errors import EncoderError, SourceError, SpecError
from embassay.samples.base import Role
from embassay.store.paths import source_path
from embassay.types import Card, Runtime, content_hash

TARGET = "FILE"
EXTRA = "words"
A = 1e-3
"""The a of SIF's weights a/(a + p(w))."""
Pool = Literal["mean", "sum", "sif"]


def create(
    target: str,
    runtime: Runtime,
    *,
    pool: Pool = "mean",
    lower: bool | None = None,
    tokens: Cutting | None = None,
    limit: int = 0,
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
    lower
        Lower-case the text (true) or not (false); otherwise each word is looked up as it is, then lower-cased, and
        in a trained folder as it was trained.
    tokens
        How texts are cut: ``words`` (words and single punctuation marks), or ``treebank`` through nltk; ``words``,
        and in a trained folder what it was trained with, where this is not said.
    limit
        Read so many words, the first of the file, which are mostly the most frequent; 0 for all.

    Raises
    ------
    SourceError
        If the file is not there or does not begin as word vectors do.
    SpecError
        For a negative limit.
    MissingExtraError
        If nltk is wanted and not installed.
    """
    if limit < 0:
        raise SpecError(f"encoder 'words:{target}', option 'limit': must be 1 or more, or 0 for all; is {limit}")
    path = source_path(target)
    given = {"pool": pool if pool != "mean" else None, "lower": lower, "tokens": tokens, "limit": limit or None}
    if path.is_dir():
        folder = TrainedFolder.of(path, "words")
        path = path / "words.bin"
        tokens = tokens or folder.tokens
        lower = folder.lower if lower is None else lower
    file = WordFile(path, limit, recognise(path))
    cut = cutter(tokens or "words", f"encoder 'words:{target}'")
    options = {name: value for name, value in given.items() if value is not None}
    return WordsEncoder(target, file, runtime, cut, tokens or "words", pool, lower, options)


@dataclass(frozen=True)
class WordFile:
    """A file of word vectors that is read when it is first needed, the first ``limit`` words where that is not 0."""

    path: Path
    limit: int
    form: Form

    @cached_property
    def vectors(self) -> WordVectors:
        """The words and their vectors.

        Raises
        ------
        EncoderError
            If the file cannot be read to its end.
        """
        try:
            found = read(self.path, self.limit)
        except SourceError as error:
            raise EncoderError(str(error)) from None
        vars(self)["notes"] = found.notes
        return found

    def release(self) -> None:
        """Let go of the words; what was odd about the file is remembered."""
        vars(self).pop("vectors", None)


@dataclass(frozen=True)
class WordsEncoder:
    """Pools the vectors of a text's words.

    Attributes
    ----------
    learnt
        The texts that SIF has learnt from; None before :meth:`fit`.
    """

    name: str
    file: WordFile
    runtime: Runtime = field(repr=False)
    cut: Cut = field(repr=False)
    tokens: Cutting = "words"
    pool: Pool = "mean"
    lower: bool | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    learnt: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def card(self) -> Card:
        """What is known without reading the file; once it has been read, also what was odd about it."""
        spec = ",".join([f"words:{self.name}", *(f"{k}={str(v).lower()}" for k, v in self.given.items())])
        sif = self.pool == "sif"
        return Card(spec, fitted=sif, cached=not sif, warnings=vars(self.file).get("notes", ()))

    @property
    def route(self) -> Mapping[str, Any]:
        """What was read, for ``run.json``; nothing before the first text is encoded."""
        if "vectors" not in vars(self.file):
            return {}
        found = self.file.vectors
        rows, dim = found.matrix.shape
        return {"form": self.file.form.kind, "words": rows, "dim": dim, "notes": list(found.notes)}

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the file's content, of what changes the vectors, and of the texts that SIF has learnt from."""
        content = self.runtime.sha256(self.file.path)
        settings = [self.pool, self.tokens, self.lower, self.file.limit]
        return content_hash(["words", content, settings, *([] if self.learnt is None else [self.learnt])])

    def fit(self, texts: Sequence[str]) -> WordsEncoder:
        """Return an encoder that knows these texts, for SIF; itself otherwise."""
        return replace(self, learnt=tuple(texts)) if self.pool == "sif" else self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, d) float32; a text without a known word is a zero row.

        Raises
        ------
        EncoderError
            If the file cannot be read to its end, or SIF has not learnt from texts yet.
        """
        if self.pool == "sif":
            direction = self._sif[1]
            found = self._pooled(texts)
            return (found - np.outer(found @ direction, direction)).astype(np.float32)
        return self._pooled(texts).astype(np.float32)

    def unknown_words(self, texts: Sequence[str]) -> tuple[int, int, int]:
        """Return how many tokens of the texts have no vector, how many there are, and how many texts have no other."""
        found = [(len(self._rows(words)), len(words)) for words in map(self._words, texts)]
        tokens = sum(total for _, total in found)
        return tokens - sum(known for known, _ in found), tokens, sum(not known for known, _ in found)

    def release(self) -> None:
        """Let go of the words; the next text reads them again."""
        self.file.release()

    def _words(self, text: str) -> list[str]:
        return self.cut(text.lower() if self.lower else text)

    def _rows(self, words: Sequence[str]) -> list[int]:
        """Return the rows of the words that have one, in their order."""
        row = self.file.vectors.row
        found = [row.get(word) for word in words]
        if self.lower is None:
            found = [
                row.get(word.lower()) if place is None else place for word, place in zip(words, found, strict=True)
            ]
        return [place for place in found if place is not None]

    def _pooled(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the (n, d) sums or means, weighted for SIF."""
        matrix = self.file.vectors.matrix
        weights = self._sif[0] if self.pool == "sif" else None
        return _pool(matrix, [self._rows(self._words(text)) for text in texts], self.pool == "sum", weights)

    @cached_property
    def _sif(self) -> tuple[Mapping[int, float], NDArray[np.float64]]:
        """The weight of each row that the learnt texts have (1 for any other), and the (d,) direction to take out.

        p(w) is w's share of all tokens of the learnt texts; the direction is the first right singular vector of their
        (n, d) weighted means, which are not centred.
        """
        if self.learnt is None:
            raise EncoderError("words with pool=sif learns how frequent words are from a corpus: call fit(texts) first")
        words = [self._words(text) for text in self.learnt]
        rows = [self._rows(some) for some in words]
        total = sum(map(len, words))
        counts = Counter(row for some in rows for row in some)
        weights = {row: A / (A + count / total) for row, count in counts.items()}
        means = _pool(self.file.vectors.matrix, rows, False, weights)
        sizes, axes = np.linalg.eigh(means.T @ means)
        return weights, axes[:, -1] * (sizes[-1] > 0)


def _pool(
    matrix: NDArray[np.float32], rows: Sequence[Sequence[int]], total: bool, weights: Mapping[int, float] | None
) -> NDArray[np.float64]:
    """Return the (n, d) sum or mean of rows of a matrix, in float64; zero where there are no rows."""
    pooled = np.zeros((len(rows), matrix.shape[1]))
    for place, some in enumerate(rows):
        if some and weights is None:
            pooled[place] = matrix[some].sum(axis=0, dtype=np.float64)
        elif some and weights is not None:
            pooled[place] = np.array([weights.get(row, 1.0) for row in some]) @ matrix[some].astype(np.float64)
        if some and not total:
            pooled[place] /= len(some)
    return pooled
