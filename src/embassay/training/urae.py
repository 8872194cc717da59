"""The unfolding recursive autoencoder: Socher et al. (2011), sections 2.2 and 2.3.

Two neighbours in a tree are folded into one vector, until one vector is left for the sentence. Every inner node is
unfolded into all the words below it, and the squared distance to these words is minimised. The folder contains
``words.npy`` (the first row is the vector of unknown words), ``fold.npy``, ``fold_bias.npy``, ``unfold.npy``,
``unfold_bias.npy`` and ``urae.json`` (vocabulary, options).

Tanh has to reconstruct the words, so their coordinates must be well within ±1. Given vectors are multiplied by one
number, so that their standard deviation is 0.1 (Turian, Ratinov, Bengio 2010), or less if a coordinate would exceed
0.9. Learnt words start with that standard deviation and are reset to it after each epoch; otherwise the loss would be
smallest if all words had the same vector.

Differences from the paper: AdaGrad instead of L-BFGS; matrices that start as a mean of the two children; and a vector
for unknown words, which is learnt by treating known words as unknown now and then.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from embassay.core.errors import MissingExtraError, SourceError, SpecError
from embassay.core.randomness import generator
from embassay.core.store.paths import source_path
from embassay.core.types import sha256_of
from embassay.core.vectors import DenseVectors, Indices
from embassay.models.static.parses import check_source, identity, parse
from embassay.models.static.trained_folder import TrainedFolder
from embassay.models.static.trees import Shape, Tree
from embassay.models.static.word_files import read, recognise
from embassay.training.options import UraeOptions
from embassay.training.stage import THERE, Advance, Stage, Trained, save_arrays
from embassay.training.text import read_sentences
from embassay.training.unfolding import BATCH, REACH, SPREAD, TINY, Learner, new_matrices, one_thread

COMMAND = "embassay train urae"
DIM = 200
"""Default number of dimensions of learnt words."""
REPORT_EVERY = 512
"""Sentences between two calls of the progress callback; a multiple of the batch."""
SHORTEST, LONGEST = 2, 200
"""Sentences with fewer or more words are left out: one word has nothing to unfold, n words need up to n² vectors."""
UNKNOWN = 0.25
"""Larger values treat known words as unknown more often; see :meth:`TreeSentences.masked`."""


@dataclass(frozen=True)
class TreeSentences:
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
        What was left out, one sentence each.
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


def train(text: Path, out: Path, options: UraeOptions, *, overwrite: bool = False, advance: Advance) -> Trained:
    """Learn to fold and unfold sentences. An interrupted training resumes after its last complete epoch.

    On one computer, the same text, options and versions give the same bytes, interrupted or not, because it runs on one
    thread.

    Parameters
    ----------
    text
        A file with one sentence per line; with ``trees="brackets"``, one bracketed parse per line.
    out
        The folder to write.
    overwrite
        Replace another model in the folder.
    advance
        Called with the progress.

    Raises
    ------
    InputError
        For a text, a folder or an option that cannot be used.
    """
    if find_spec("torch") is None:
        raise MissingExtraError(COMMAND, "hf")
    source = check_source(options.trees, f"{COMMAND}, option 'trees'")
    sentences = read_sentences(text)
    try:
        trees = parse(sentences.sentences, source)
    except ValueError as error:
        problem, place = error.args
        raise SourceError(problem, sentences.path, sentences.lines[place]) from None
    dim, words_hash, given, row = options.dim or DIM, "", None, None
    if options.words:
        given, row, words_hash = given_words(options.words, options.dim)
        dim = given.shape[1]
    material = gather(trees, row, sentences.path)
    # The record names the file of words by its content, so that a moved file is the same training.
    stage = Stage(
        out,
        "urae",
        options,
        {"text": sentences.sha256, "source": identity(source)},
        ("numpy", "torch"),
        overwrite,
        {"dim": dim, "words": words_hash},
    )
    if stage.open():
        return stage.trained(THERE)

    learner = _untrained(options, dim, len(material.row), given)
    done, kept = stage.resume()
    losses: list[float] = []
    if done:
        learner.restore(kept)
        losses = kept["losses"].tolist()
    for epoch in range(done, options.epochs):
        with one_thread():
            losses.append(_train_epoch(learner, material, options, epoch, advance))
        # Given word vectors stay fixed; learnt ones would shrink to one point.
        if given is None:
            learner.respread()
        stage.keep(epoch + 1, {**learner.state(), "losses": np.array(losses)})

    arrays = {name: tensor.detach().numpy() for name, tensor in learner.weights.items()}
    if given is not None:
        arrays["words"] = np.concatenate([arrays["words"], given])
    facts = {"sentences": len(trees), "vocabulary": list(material.row), "losses": losses, "notes": material.notes}
    stage.finish(lambda new: save_arrays(new, arrays), facts)
    return stage.trained(*material.notes)


def given_words(target: str, dim: int | None) -> tuple[DenseVectors, dict[str, int], str]:
    """Read a file of word vectors, or the one in a folder written by ``embassay train words``.

    If it has a word only with capitals, that vector is used for the lower-cased word.

    Returns
    -------
    (V, d) vectors scaled to the range of tanh, the row of each word from 1 (row 0 is the unknown word, which has no
    given vector), and the hash of the file.

    Raises
    ------
    SourceError
        If it is not a file of word vectors, cannot be read to its end, or all its numbers are 0.
    SpecError
        If its vectors do not have the requested number of dimensions.
    """
    path = source_path(target)
    if path.is_dir():
        path = TrainedFolder.of(path, "words").path / "words.bin"
    file_dim = recognise(path).dim
    if dim not in (None, file_dim):
        raise SpecError(
            f"{COMMAND}, option 'dim': is {dim}, but the vectors in {path} have {file_dim} dimensions; leave out --dim"
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
    return matrix, {word: row for row, word in enumerate(file_rows, start=1)}, sha256_of(path)


def gather(all_trees: Sequence[Tree], row: dict[str, int] | None, path: Path) -> TreeSentences:
    """Return the training data of the trees.

    Parameters
    ----------
    row
        The row of each word that has a vector; None to learn all words of the text, the most frequent first.
    path
        The text, for the message.

    Raises
    ------
    SourceError
        If no sentence has a usable length.
    """
    trees = [tree for tree in all_trees if SHORTEST <= len(tree.words) <= LONGEST]
    if not trees:
        raise SourceError(f"no sentence has {SHORTEST} to {LONGEST} words; there is nothing to unfold", path)
    if row is None:
        frequency = Counter(word for tree in trees for word in tree.words)
        # Words of equal frequency in alphabetical order, so that the order of the sentences has no effect.
        ranked = sorted(frequency, key=lambda word: (-frequency[word], word))
        row = {word: number for number, word in enumerate(ranked, start=1)}
    rows = [np.array([row.get(word, 0) for word in tree.words], dtype=np.int64) for tree in trees]
    counts = np.bincount(np.concatenate(rows), minlength=len(row) + 1)
    notes = []
    if left_out := len(all_trees) - len(trees):
        notes.append(
            f"{left_out:,} of {len(all_trees):,} sentences were left out: fewer than {SHORTEST} or more than {LONGEST} "
            "words"
        )
    if counts[0]:
        notes.append(f"{counts[0]:,} of {counts.sum():,} words of the text have no vector: they are treated as unknown")
    return TreeSentences(row, tuple(rows), tuple(tree.shape for tree in trees), counts, tuple(notes))


def _untrained(options: UraeOptions, dim: int, vocabulary: int, given: DenseVectors | None) -> Learner:
    """Return the learner at the start of the first epoch; the first word is the unknown one."""
    random = generator(options.seed, COMMAND, "start")
    weights = new_matrices(dim, random)
    if given is None:
        weights["words"] = random.normal(0, SPREAD, (vocabulary + 1, dim)).astype(np.float32)
    else:
        # The vector of unknown words starts as the mean of the others.
        weights["words"] = given.mean(axis=0, keepdims=True)
    return Learner.of(weights, given, normalize=options.normalize, decay=options.decay, rate=options.rate)


def _train_epoch(
    learner: Learner, material: TreeSentences, options: UraeOptions, epoch: int, advance: Advance
) -> float:
    """Read all sentences once in random order; return the mean loss per sentence.

    Raises
    ------
    SpecError
        If the training diverged.
    """
    # A stream for each epoch, so that a resumed training draws the same numbers.
    random = generator(options.seed, COMMAND, f"epoch {epoch}")
    number = len(material.rows)
    before, all_epochs = epoch * number, options.epochs * number
    order = random.permutation(number)
    loss = 0.0
    for start in range(0, number, BATCH):
        batch = order[start : start + BATCH].tolist()
        rows = [material.masked(place, random) for place in batch]
        shapes = [material.shapes[place] for place in batch]
        loss += learner.step(rows, shapes) * len(batch)
        if start % REPORT_EVERY == 0:
            advance(before + start, all_epochs)
    advance(before + number, all_epochs)
    if not math.isfinite(loss):
        raise SpecError(
            f"{COMMAND}, option 'rate': training diverged in epoch {epoch + 1}; use a rate below {options.rate}"
        )
    return loss / number
