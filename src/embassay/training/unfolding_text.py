"""The training data of the unfolding recursive autoencoder: trees, words as rows of a matrix, given word vectors."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.static.parses import Source, parse, words
from embassay.encoders.static.trained_folder import TrainedFolder, TrainedRecord
from embassay.encoders.static.trees import Indices, Shape, Tree, shape_of
from embassay.encoders.static.word_files import read, recognise
from embassay.errors import SourceError, SpecError
from embassay.store.paths import source_path
from embassay.training.text import Sentences
from embassay.training.unfolding import REACH, SPREAD, TINY, Array

SHORTEST, LONGEST = 2, 200
"""Sentences with fewer or more words are left out: one word has nothing to unfold, n words need up to n² vectors."""
UNKNOWN = 0.25
"""Larger values treat known words as unknown more often; see :meth:`Material.masked`."""


@dataclass(frozen=True)
class Grown:
    """The trees of all sentences.

    Attributes
    ----------
    fell_back
        The number of sentences that the parser could not parse.
    kept
        The arrays from which a checkpoint restores the parser's trees; empty without a parser.
    """

    trees: tuple[Tree, ...]
    fell_back: int = 0
    kept: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


@dataclass(frozen=True)
class WordVectors:
    """Vectors of lower-cased words, scaled to the range of tanh.

    Attributes
    ----------
    row
        The row of each word, from 1.
    matrix
        (V + 1, d) the vectors; row 0 is the vector of unknown words.
    """

    row: dict[str, int]
    matrix: Array


@dataclass(frozen=True)
class GivenWords:
    """A file of word vectors that is read when the training begins.

    Attributes
    ----------
    sha256
        64 hexadecimal digits of the file's content.
    """

    path: Path
    dim: int
    sha256: str

    @classmethod
    def of(cls, target: str, dim: int | None) -> GivenWords:
        """Find a file of word vectors, or the one in a folder written by ``embassay train words``.

        Raises
        ------
        SourceError
            If it is not a file of word vectors.
        SpecError
            If its vectors do not have the requested number of dimensions.
        """
        path = source_path(target)
        if path.is_dir():
            path = TrainedFolder.of(path, "words", TrainedRecord).path / "words.bin"
        file_dim = recognise(path).dim
        if dim is not None and dim != file_dim:
            raise SpecError(
                f"embassay train urae, option 'dim': is {dim}, but the vectors in {path} have {file_dim} dimensions; "
                "leave out --dim"
            )
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, file_dim, sha256)

    def load(self) -> WordVectors:
        """Read the file. If it has a word only with capitals, that vector is used for the lower-cased word.

        Raises
        ------
        SourceError
            If the file cannot be read to its end, or all its numbers are 0.
        """
        vectors = read(self.path)
        file_rows: dict[str, int] = {}
        for word, row in vectors.row.items():
            lower = word.lower()
            if word == lower or lower not in file_rows:
                file_rows[lower] = row
        matrix = np.empty((len(file_rows) + 1, self.dim), dtype=np.float32)
        # A view, so that its changes are changes of the matrix.
        word_vectors = matrix[1:]
        word_vectors[:] = vectors.matrix[list(file_rows.values())]
        largest = float(np.abs(word_vectors).max(initial=0))
        if not largest:
            raise SourceError("all its numbers are 0", self.path)
        scale = min(SPREAD / _standard_deviation(word_vectors), REACH / largest)
        word_vectors *= np.float32(scale)
        # The vector of unknown words starts as the mean of the others.
        matrix[0] = word_vectors.mean(axis=0)
        rows_by_word = {word: row for row, word in enumerate(file_rows, start=1)}
        return WordVectors(rows_by_word, matrix)


@dataclass(frozen=True)
class Material:
    """The training sentences.

    Attributes
    ----------
    row
        The row of each known word, from 1.
    rows
        For each sentence the row of each of its words; 0 for an unknown word.
    counts
        (V + 1,) how often each row occurs.
    notes
        What was left out or done differently from the request, one sentence each.
    """

    row: dict[str, int]
    rows: tuple[Indices, ...]
    shapes: tuple[Shape, ...]
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


def check_text(text: Sentences, source: Source) -> None:
    """Refuse a text without training data, before anything is written.

    Raises
    ------
    SourceError
        If a line should be a bracketed parse but is not, or if no sentence has a usable length.
    """
    try:
        sentences = words(text.sentences, source)
    except ValueError as error:
        problem, place = error.args
        raise SourceError(problem, text.path, text.lines[place]) from None
    if not any(SHORTEST <= len(sentence) <= LONGEST for sentence in sentences):
        raise SourceError(f"no sentence has {SHORTEST} to {LONGEST} words; there is nothing to unfold", text.path)


def grow(text: Sentences, source: Source, kept: Mapping[str, np.ndarray]) -> Grown:
    """Return the tree of each sentence, from a checkpoint if it contains them.

    Parameters
    ----------
    kept
        The arrays of the checkpoint.

    Raises
    ------
    EncoderError
        If the parser fails.
    """
    if "tree_words" in kept:
        shapes = _unpacked(kept["tree_words"], kept["tree_children"])
        trees = map(Tree, words(text.sentences, source), shapes)
        tree_arrays = {name: values for name, values in kept.items() if name.startswith("tree_")}
        return Grown(tuple(trees), int(kept["tree_fell_back"]), tree_arrays)
    parsed = parse(text.sentences, source)
    if not parsed.sent:
        return Grown(parsed.trees)
    shapes = [tree.shape for tree in parsed.trees]
    tree_arrays = {
        "tree_words": np.array([shape.leaves for shape in shapes], dtype=np.int64),
        "tree_children": np.concatenate([shape.children for shape in shapes]),
        "tree_fell_back": np.array(parsed.fell_back),
    }
    return Grown(parsed.trees, parsed.fell_back, tree_arrays)


def gather(grown: Grown, vector_rows: dict[str, int] | None) -> Material:
    """Return the training data of the trees.

    Parameters
    ----------
    vector_rows
        The row of each word that has a vector; None to learn all words of the text, the most frequent first.
    """
    trees = [tree for tree in grown.trees if SHORTEST <= len(tree.words) <= LONGEST]
    row = vector_rows
    if row is None:
        frequency = Counter[str]()
        for tree in trees:
            frequency.update(tree.words)
        # Words of equal frequency in alphabetical order, so that the order of the sentences has no effect.
        ranked = sorted(frequency, key=lambda word: (-frequency[word], word))
        row = {word: number for number, word in enumerate(ranked, start=1)}
    rows = []
    for tree in trees:
        rows_of_words = [row.get(word, 0) for word in tree.words]
        rows.append(np.array(rows_of_words, dtype=np.int64))
    counts = np.bincount(np.concatenate(rows), minlength=len(row) + 1)

    number, notes = len(grown.trees), []
    if len(trees) < number:
        notes.append(
            f"{number - len(trees):,} of {number:,} sentences were left out: fewer than {SHORTEST} or more than "
            f"{LONGEST} words"
        )
    if grown.fell_back:
        notes.append(
            f"{grown.fell_back:,} of {number:,} sentences could not be parsed: their trees are right-branching"
        )
    if counts[0]:
        notes.append(f"{counts[0]:,} of {counts.sum():,} words of the text have no vector: they are treated as unknown")
    return Material(row, tuple(rows), tuple(tree.shape for tree in trees), counts, tuple(notes))


def _standard_deviation(matrix: Array) -> float:
    """Return the standard deviation of all values, at least TINY, without a copy in float64."""
    mean_square = float(np.einsum("ij,ij->", matrix, matrix, dtype=np.float64)) / matrix.size
    mean = float(matrix.mean(dtype=np.float64))
    return float(max(mean_square - mean**2, TINY) ** 0.5)


def _unpacked(leaves: Indices, children: Indices) -> list[Shape]:
    """Return the shapes of trees from the number of leaves and the children of each, in one array."""
    inner_nodes = np.maximum(leaves - 1, 0)
    children_of_each = np.split(children, np.cumsum(inner_nodes)[:-1])
    shapes = []
    for number, pairs in zip(leaves.tolist(), children_of_each, strict=True):
        shapes.append(shape_of(number, [(left, right) for left, right in pairs.tolist()]))
    return shapes
