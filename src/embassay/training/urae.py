"""The unfolding recursive autoencoder: Socher et al. (2011), sections 2.2 and 2.3.

Two neighbours in a tree are folded into one vector, until one vector is left for the sentence. Every inner node is
unfolded into all the words below it, and the squared distance to these words is minimised. The folder contains
``words.npy`` (the first row is the vector of unknown words), ``fold.npy``, ``fold_bias.npy``, ``unfold.npy``,
``unfold_bias.npy`` and ``urae.json`` (vocabulary, options).

Tanh has to reconstruct the words, so their coordinates must be well within ±1. They start with a standard deviation of
0.1 (Turian, Ratinov, Bengio 2010) and are reset to it after each epoch; otherwise the loss would be smallest if all
words had the same vector.

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

from embassay.core.errors import EncoderError, MissingExtraError, SourceError, SpecError
from embassay.core.randomness import generator
from embassay.core.vectors import Indices
from embassay.models.static.trees import Tree, identity, parser, words_of
from embassay.training.options import UraeOptions
from embassay.training.stage import THERE, Advance, Stage, Trained, save_arrays
from embassay.training.text import read_sentences
from embassay.training.unfolding import BATCH, SPREAD, Learner, new_matrices, one_thread

COMMAND = "embassay train urae"
SHORTEST, LONGEST = 2, 200
"""Sentences with fewer or more words are left out: one word has nothing to unfold, n words need up to n²
vectors. A mini-batch of the longest ones takes about 1.4 GB at 200 dimensions."""
UNKNOWN = 0.25
"""Larger values treat known words as unknown more often; see :meth:`TreeSentences.masked`."""


@dataclass(frozen=True)
class TreeSentences:
    """The training sentences.

    Attributes
    ----------
    vocabulary
        The words, whose vectors are the rows from 1; row 0 is the unknown word.
    rows, trees
        For each sentence the row of each of its words, and its tree.
    counts
        (V + 1,) how often each row occurs.
    notes
        What was left out, one sentence each.
    """

    vocabulary: Sequence[str]
    rows: Sequence[Indices]
    trees: Sequence[Tree]
    counts: Indices
    notes: Sequence[str]

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
        A file with one sentence per line.
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
    parse = parser(options.trees)
    sentences = read_sentences(text)
    trees: list[Tree] = []
    try:
        trees.extend(map(parse, sentences.sentences))
    except EncoderError as error:
        raise SourceError(str(error), sentences.path, sentences.lines[len(trees)]) from None
    material = gather(trees, sentences.path)
    made_from = {"text": sentences.sha256, "source": identity(options.trees)}
    stage: Stage[UraeOptions] = Stage(out, "urae", options, made_from, ("numpy", "torch"), overwrite)
    if stage.open():
        return stage.trained(THERE)

    random = generator(options.seed, COMMAND, "start")
    weights = new_matrices(options.dim, random)
    words = random.normal(0, SPREAD, (len(material.vocabulary) + 1, options.dim))
    learner = Learner({**weights, "words": words.astype(np.float32)}, options)
    done, kept = stage.resume()
    losses: list[float] = []
    if done:
        learner.restore(kept)
        losses = kept["losses"].tolist()
    for epoch in range(done, options.epochs):
        with one_thread():
            loss = _train_epoch(learner, material, options, epoch, advance)
        if not math.isfinite(loss):
            raise SpecError(
                f"{COMMAND}, option 'rate': training diverged in epoch {epoch + 1}; use a rate below {options.rate}"
            )
        losses.append(loss)
        learner.respread()
        stage.keep(epoch + 1, {**learner.state(), "losses": np.array(losses)})

    arrays = {name: tensor.detach().numpy() for name, tensor in learner.weights.items()}
    facts = {"vocabulary": material.vocabulary, "losses": losses, "notes": material.notes}
    stage.finish(lambda new: save_arrays(new, arrays), facts)
    return stage.trained(*material.notes)


def gather(all_trees: Sequence[Tree], path: Path) -> TreeSentences:
    """Return the training data of the trees.

    Parameters
    ----------
    path
        The text, for the message.

    Raises
    ------
    SourceError
        If no sentence has a usable length.
    """
    trees = [tree for tree in all_trees if SHORTEST <= len(words_of(tree)) <= LONGEST]
    if not trees:
        raise SourceError(f"no sentence has {SHORTEST} to {LONGEST} words; there is nothing to unfold", path)
    frequency = Counter[str]()
    for tree in trees:
        frequency.update(words_of(tree))
    # Words of equal frequency in alphabetical order, so that the order of the sentences has no effect.
    vocabulary = sorted(frequency, key=lambda word: (-frequency[word], word))
    row = {word: number for number, word in enumerate(vocabulary, start=1)}
    rows = [np.array([row[word] for word in words_of(tree)], dtype=np.int64) for tree in trees]
    counts = np.array([0, *(frequency[word] for word in vocabulary)])
    notes = []
    if left_out := len(all_trees) - len(trees):
        of_all = f"{left_out:,} of {len(all_trees):,} sentences"
        notes.append(f"{of_all} were left out: fewer than {SHORTEST} or more than {LONGEST} words")
    return TreeSentences(vocabulary, rows, trees, counts, notes)


def _train_epoch(
    learner: Learner, material: TreeSentences, options: UraeOptions, epoch: int, advance: Advance
) -> float:
    """Read all sentences once in random order; return the mean loss per sentence."""
    # A stream for each epoch, so that a resumed training draws the same numbers.
    random = generator(options.seed, COMMAND, f"epoch {epoch}")
    number = len(material.rows)
    order = random.permutation(number).tolist()
    loss = 0.0
    for start in range(0, number, BATCH):
        batch = order[start : start + BATCH]
        advance(epoch * number + start, options.epochs * number)
        rows = [material.masked(place, random) for place in batch]
        loss += learner.step(rows, [material.trees[place] for place in batch]) * len(batch)
    advance((epoch + 1) * number, options.epochs * number)
    return loss / number
