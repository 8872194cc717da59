"""The training data of the unfolding recursive autoencoder: trees, words as rows of a matrix, given word vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from embassay.core.errors import SourceError, SpecError
from embassay.core.store.paths import source_path
from embassay.core.types import sha256_of
from embassay.core.vectors import Indices
from embassay.models.static.trained_folder import WordSettings, read_record
from embassay.models.static.trees import Tree, parse, words_of
from embassay.models.static.word_files import read, recognise
from embassay.training.text import Sentences
from embassay.training.unfolding import REACH, SPREAD, TINY, Array

SHORTEST, LONGEST = 2, 200
"""Sentences with fewer or more words are left out: one word has nothing to unfold, n words need up to n² vectors."""
UNKNOWN = 0.25
"""Larger values treat known words as unknown more often; see :meth:`Material.masked`."""


@dataclass(frozen=True)
class GivenWords:
    """Given vectors of lower-cased words, scaled to the range of tanh.

    Attributes
    ----------
    row
        The row of each word, from 1; row 0 is the unknown word, which has no given vector.
    matrix
        (V, d) the vectors, from row 1.
    sha256
        64 hexadecimal digits of the file's content.
    """

    row: dict[str, int]
    matrix: Array
    sha256: str


def given_words(target: str, dim: int | None) -> GivenWords:
    """Read a file of word vectors, or the one in a folder written by ``embassay train words``.

    If it has a word only with capitals, that vector is used for the lower-cased word.

    Raises
    ------
    SourceError
        If it is not a file of word vectors, cannot be read to its end, or all its numbers are 0.
    SpecError
        If its vectors do not have the requested number of dimensions.
    """
    path = source_path(target)
    if path.is_dir():
        read_record(path, "words", WordSettings)
        path = path / "words.bin"
    file_dim = recognise(path).dim
    if dim is not None and dim != file_dim:
        raise SpecError(
            f"embassay train urae, option 'dim': is {dim}, but the vectors in {path} have {file_dim} dimensions; "
            "leave out --dim"
        )
    vectors = read(path)
    file_rows: dict[str, int] = {}
    for word, row in vectors.row.items():
        lower = word.lower()
        if word == lower or lower not in file_rows:
            file_rows[lower] = row
    matrix = np.array(vectors.matrix[list(file_rows.values())], dtype=np.float32)
    largest = float(np.abs(matrix).max(initial=0))
    if not largest:
        raise SourceError("all its numbers are 0", path)
    matrix *= np.float32(min(SPREAD / max(float(matrix.std()), TINY), REACH / largest))
    rows_by_word = {word: row for row, word in enumerate(file_rows, start=1)}
    return GivenWords(rows_by_word, matrix, sha256_of(path))


@dataclass(frozen=True)
class TreeSentences:
    """The training sentences.

    Attributes
    ----------
    row
        The row of each known word, from 1.
    rows, trees
        For each sentence the row of each of its words, 0 for an unknown word; and its tree.
    counts
        (V + 1,) how often each row occurs.
    notes
        What was left out or done differently from the request, one sentence each.
    """

    row: dict[str, int]
    rows: tuple[Indices, ...]
    trees: tuple[Tree, ...]
    counts: Indices
    notes: tuple[str, ...]

    def masked(self, sentence: int, random: np.random.Generator) -> Indices:
        """Return a sentence's rows; a word with n occurrences becomes unknown with probability 0.25/(0.25 + n).

        Source: Kiperwasser, Goldberg (2016), "Simple and accurate dependency parsing using bidirectional LSTM feature
        representations".
        """
        rows = self.rows[sentence]
        unknown = random.random(len(rows)) < UNKNOWN / (UNKNOWN + self.counts[rows])
        return np.where(unknown, 0, rows)


def read_trees(text: Sentences, source: str) -> list[Tree]:
    """Return the trees of the sentences.

    Raises
    ------
    SourceError
        If a line should be a bracketed parse but is not, or if no sentence has a usable length.
    """
    trees = []
    for line, sentence in zip(text.lines, text.sentences, strict=True):
        try:
            trees.append(parse(sentence, source))
        except ValueError as error:
            raise SourceError(str(error), text.path, line) from None
    if not any(SHORTEST <= len(words_of(tree)) <= LONGEST for tree in trees):
        raise SourceError(f"no sentence has {SHORTEST} to {LONGEST} words; there is nothing to unfold", text.path)
    return trees


def gather(all_trees: Sequence[Tree], vector_rows: dict[str, int] | None) -> TreeSentences:
    """Return the training data of the trees.

    Parameters
    ----------
    vector_rows
        The row of each word that has a vector; None to learn all words of the text, the most frequent first.
    """
    trees = [tree for tree in all_trees if SHORTEST <= len(words_of(tree)) <= LONGEST]
    row = vector_rows
    if row is None:
        frequency = Counter[str]()
        for tree in trees:
            frequency.update(words_of(tree))
        # Words of equal frequency in alphabetical order, so that the order of the sentences has no effect.
        ranked = sorted(frequency, key=lambda word: (-frequency[word], word))
        row = {word: number for number, word in enumerate(ranked, start=1)}
    rows = []
    for tree in trees:
        rows_of_words = [row.get(word, 0) for word in words_of(tree)]
        rows.append(np.array(rows_of_words, dtype=np.int64))
    counts = np.bincount(np.concatenate(rows), minlength=len(row) + 1)

    number, notes = len(all_trees), []
    if len(trees) < number:
        notes.append(
            f"{number - len(trees):,} of {number:,} sentences were left out: fewer than {SHORTEST} or more than "
            f"{LONGEST} words"
        )
    if counts[0]:
        notes.append(f"{counts[0]:,} of {counts.sum():,} words of the text have no vector: they are treated as unknown")
    return TreeSentences(row, tuple(rows), tuple(trees), counts, tuple(notes))
