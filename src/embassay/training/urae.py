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
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from embassay.core.errors import MissingExtraError, SpecError
from embassay.core.randomness import generator
from embassay.models.checks import check_amounts
from embassay.models.static.trees import check_source, identity
from embassay.training.options import UraeOptions
from embassay.training.text import read_sentences
from embassay.training.text_folder import TextFolder, check_options, save_arrays
from embassay.training.trained import Advance, Trained
from embassay.training.unfolding import BATCH, SPREAD, Learner, new_matrices, one_thread
from embassay.training.unfolding_text import GivenWords, TreeSentences, gather, given_words, read_trees

COMMAND = "embassay train urae"
DIM = 200
"""Default number of dimensions of learnt words."""
REPORT_EVERY = 512
"""Sentences between two calls of the progress callback; a multiple of the batch."""


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
    _check(options)
    source = check_source(options.trees)
    sentences = read_sentences(text)
    trees = read_trees(sentences, source)
    dim, file_hash, vectors = options.dim or DIM, "", None
    if options.words:
        vectors = given_words(options.words, options.dim)
        dim, file_hash = vectors.matrix.shape[1], vectors.sha256
    # The record names the file of words by its content, so that a moved file is the same training.
    settings = {**asdict(options), "dim": dim, "words": file_hash}
    made_with = {"numpy": version("numpy"), "torch": version("torch"), "trees": identity(source)}
    folder = TextFolder(out, "urae", settings, sentences, made_with)
    if folder.open(overwrite):
        return folder.trained()

    material = gather(trees, vectors.row if vectors else None)
    learner = _untrained(options, dim, len(material.row), vectors)
    done, kept = folder.resume()
    losses: list[float] = []
    if done:
        learner.restore(kept)
        losses = kept["losses"].tolist()
    for epoch in range(done, options.epochs):
        with one_thread():
            losses.append(_train_epoch(learner, material, options, epoch, advance))
        # Given word vectors stay fixed; learnt ones would shrink to one point.
        if vectors is None:
            learner.respread()
        folder.keep(epoch + 1, {**learner.state(), "losses": np.array(losses)})

    arrays = {name: tensor.detach().numpy() for name, tensor in learner.weights.items()}
    if vectors is not None:
        arrays["words"] = np.concatenate([arrays["words"], vectors.matrix])
    facts = {"vocabulary": list(material.row), "losses": losses, "notes": list(material.notes)}
    folder.finish(lambda new: save_arrays(new, arrays), facts)
    return folder.trained(material.notes)


def _untrained(options: UraeOptions, dim: int, vocabulary: int, vectors: GivenWords | None) -> Learner:
    """Return the learner at the start of the first epoch; the first word is the unknown one."""
    random = generator(options.seed, COMMAND, "start")
    weights = new_matrices(dim, random)
    if vectors is None:
        weights["words"] = random.normal(0, SPREAD, (vocabulary + 1, dim)).astype(np.float32)
        given = None
    else:
        given = vectors.matrix
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
        loss += learner.step(rows, [material.trees[place] for place in batch]) * len(batch)
        if start % REPORT_EVERY == 0:
            advance(before + start, all_epochs)
    advance(before + number, all_epochs)
    if not math.isfinite(loss):
        raise SpecError(
            f"{COMMAND}, option 'rate': training diverged in epoch {epoch + 1}; use a rate below {options.rate}"
        )
    return loss / number


def _check(options: UraeOptions) -> None:
    """Raise an error if an option is out of range, or if torch is missing."""
    check_options(COMMAND, options)
    check_amounts(COMMAND, rate=options.rate)
    if not (math.isfinite(options.decay) and options.decay >= 0):
        raise SpecError(f"{COMMAND}, option 'decay': must be 0 or more, is {options.decay}")
    if find_spec("torch") is None:
        raise MissingExtraError(COMMAND, "hf")
