"""What the unfolding recursive autoencoder learns from: trees, words as rows of a matrix, given word vectors."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.static.parses import Source, parse, words
from embassay.encoders.static.trained_folder import TrainedFolder
from embassay.encoders.static.trees import Indices, Shape, Tree, shape_of
from embassay.encoders.static.word_files import read, recognise
from embassay.errors import SourceError, SpecError
from embassay.store.paths import source_path
from embassay.training.shared import Sentences
from embassay.training.unfolding import REACH, SPREAD, TINY, Array

SHORTEST, LONGEST = 2, 200
"""Sentences of fewer or more words are left out: one word has nothing to unfold, n words take up to n² vectors."""
UNKNOWN = 0.25
"""How readily a known word is read as unknown."""


@dataclass(frozen=True)
class Grown:
    """The trees of all sentences.

    Attributes
    ----------
    fell_back
        How many of them a parser could not parse.
    kept
        What a checkpoint has to hold so that the parser need not be asked again; nothing where none was.
    """

    trees: tuple[Tree, ...]
    fell_back: int = 0
    kept: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


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
        """Look at a file of word vectors, or at a folder written by ``embassay train words``.

        Raises
        ------
        SourceError
            If it is none.
        SpecError
            If its vectors have another number of dimensions than was asked for.
        """
        path = source_path(target)
        if path.is_dir():
            path = TrainedFolder.of(path, "words").path / "words.bin"
        found = recognise(path).dim
        if dim not in (None, found):
            raise SpecError(
                f"embassay train urae, option 'dim': is {dim}, but the vectors in {path} have {found}; leave it out"
            )
        with path.open("rb") as file:
            return cls(path, found, hashlib.file_digest(file, "sha256").hexdigest())

    def rows(self) -> tuple[dict[str, int], Array]:
        """Return the row of each lower-cased word, from 1, and the (V + 1, d) scaled vectors.

        The first row is their mean, where the vector of unknown words begins. A word that the file has with capitals
        only is taken from there.

        Raises
        ------
        SourceError
            If the file cannot be read to its end, or all its numbers are 0.
        """
        found = read(self.path)
        place: dict[str, int] = {}
        for word, row in found.row.items():
            if word == word.lower() or word.lower() not in place:
                place[word.lower()] = row
        matrix = np.empty((len(place) + 1, self.dim), dtype=np.float32)
        matrix[1:] = found.matrix[list(place.values())]
        largest = float(np.abs(matrix[1:]).max(initial=0))
        if not largest:
            raise SourceError("all its numbers are 0", self.path)
        matrix[1:] *= np.float32(min(SPREAD / _spread(matrix[1:]), REACH / largest))
        matrix[0] = matrix[1:].mean(axis=0)
        return {word: number for number, word in enumerate(place, start=1)}, matrix


@dataclass(frozen=True)
class Material:
    """The sentences that are learnt from.

    Attributes
    ----------
    row
        The row of each word that is not read as unknown, from 1.
    rows
        Of each sentence, the row of each of its words; 0 for an unknown one.
    counts
        (V + 1,) how often each row occurs.
    notes
        What was left out or done otherwise than asked, one sentence each.
    """

    row: dict[str, int]
    rows: tuple[Indices, ...]
    shapes: tuple[Shape, ...]
    counts: Indices
    notes: tuple[str, ...]

    def masked(self, sentence: int, random: np.random.Generator) -> Indices:
        """Return a sentence's rows, each word of n occurrences as unknown with probability 0.25/(0.25 + n).

        Source: Kiperwasser, Goldberg (2016), "Simple and accurate dependency parsing using bidirectional LSTM feature
        representations".
        """
        rows = self.rows[sentence]
        unknown = random.random(len(rows)) < UNKNOWN / (UNKNOWN + self.counts[rows])
        return np.where(unknown, 0, rows)


def check_text(text: Sentences, source: Source) -> None:
    """Refuse a text that nothing can be learnt from, before anything is written.

    Raises
    ------
    SourceError
        If a line should be a bracketed parse and is none, or no sentence is of a length that is learnt from.
    """
    try:
        found = words(text.sentences, source)
    except ValueError as error:
        problem, place = error.args
        raise SourceError(problem, text.path, text.lines[place]) from None
    if not any(SHORTEST <= len(own) <= LONGEST for own in found):
        raise SourceError(f"no sentence has {SHORTEST} to {LONGEST} words; there is nothing to unfold", text.path)


def grow(text: Sentences, source: Source, kept: Mapping[str, NDArray[Any]]) -> Grown:
    """Return the tree of each sentence, from what a checkpoint has kept where it has.

    Raises
    ------
    EncoderError
        If the parser fails.
    """
    if "tree_words" in kept:
        shapes = _unpacked(kept["tree_words"], kept["tree_children"])
        trees = map(Tree, words(text.sentences, source), shapes)
        parses = {name: values for name, values in kept.items() if name.startswith("tree_")}
        return Grown(tuple(trees), int(kept["tree_fell_back"]), parses)
    found = parse(text.sentences, source)
    if not found.asked:
        return Grown(found.trees)
    packed = _packed([tree.shape for tree in found.trees])
    return Grown(found.trees, found.fell_back, {**packed, "tree_fell_back": np.array(found.fell_back)})


def gather(grown: Grown, given: dict[str, int] | None) -> Material:
    """Return what is learnt from the trees; the words are those given, else all of the text, most frequent first."""
    trees = [tree for tree in grown.trees if SHORTEST <= len(tree.words) <= LONGEST]
    counted = Counter(word for tree in trees for word in tree.words)
    ranked = sorted(counted, key=lambda word: (-counted[word], word))
    row = given if given is not None else {word: number for number, word in enumerate(ranked, start=1)}
    rows = tuple(np.array([row.get(word, 0) for word in tree.words], dtype=np.int64) for tree in trees)
    counts = np.bincount(np.concatenate(rows), minlength=len(row) + 1)
    notes = _notes(grown, len(trees), int(counts[0]), int(counts.sum()))
    return Material(row, rows, tuple(tree.shape for tree in trees), counts, notes)


def _notes(grown: Grown, used: int, unknown: int, total: int) -> tuple[str, ...]:
    number, notes = len(grown.trees), []
    if used < number:
        notes.append(
            f"{number - used:,} of {number:,} sentences were left out: under {SHORTEST} or over {LONGEST} words"
        )
    if grown.fell_back:
        notes.append(
            f"{grown.fell_back:,} of {number:,} sentences could not be parsed: their trees are right-branching"
        )
    if unknown:
        notes.append(f"{unknown:,} of {total:,} words of the text have no vector: they are read as unknown")
    return tuple(notes)


def _spread(matrix: Array) -> float:
    """Return the standard deviation of all numbers, without a copy in float64; TINY at least."""
    squares = float(np.einsum("ij,ij->", matrix, matrix, dtype=np.float64)) / matrix.size
    return float(max(squares - float(matrix.mean(dtype=np.float64)) ** 2, TINY) ** 0.5)


def _packed(shapes: Sequence[Shape]) -> dict[str, NDArray[np.int64]]:
    leaves = np.array([shape.leaves for shape in shapes], dtype=np.int64)
    return {"tree_words": leaves, "tree_children": np.concatenate([shape.children for shape in shapes])}


def _unpacked(leaves: Indices, children: Indices) -> list[Shape]:
    ends = np.cumsum(np.maximum(leaves - 1, 0))[:-1]
    pairs = zip(leaves.tolist(), np.split(children, ends), strict=True)
    return [shape_of(number, [(left, right) for left, right in own.tolist()]) for number, own in pairs]
