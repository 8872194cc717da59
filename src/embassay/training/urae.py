"""The unfolding recursive autoencoder: Socher et al. (2011), sections 2.2 and 2.3.

Two neighbours in a tree are folded into one vector, down to one for the sentence; from every inner node all the words
below it are unfolded again, and the squared distance to them is made small. The folder holds ``words.npy`` (the first
row is that of unknown words), ``fold.npy``, ``fold_bias.npy``, ``unfold.npy``, ``unfold_bias.npy`` and ``urae.json``
(vocabulary, settings).

The words are what tanh has to give back, so their coordinates have to lie well within ±1. Given vectors are multiplied
by one number, so that their standard deviation is 0.1 (Turian, Ratinov, Bengio 2010), less where a coordinate would
exceed 0.9. Words that are learnt begin with that standard deviation and are given it again after each epoch, because
the loss alone would be least where all words were one vector.

Where it differs from the paper: AdaGrad, not L-BFGS; matrices that begin as a mean of the two children; and a vector
for unknown words, which is learnt because known words are now and then read as unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.checks import check_amounts, check_whole
from embassay.encoders.static.parses import Source, check_source, identity
from embassay.errors import MissingExtraError, SpecError
from embassay.randomness import generator
from embassay.training.shared import THERE, Advance, Trained, TrainingFolder, array, read_sentences
from embassay.training.unfolding import BATCH, SPREAD, Array, Learner, new_matrices, one_thread
from embassay.training.unfolding_text import GivenWords, Material, check_text, gather, grow

WHAT = "embassay train urae"
DIM = 200
"""The dimensions of words that are learnt, where the user does not say how many."""
STEP = 512
"""Sentences between two reports; a multiple of the batch."""


def train(
    text: Path,
    out: Path,
    *,
    dim: int | None = None,
    epochs: int = 10,
    trees: Source = "right",
    words: str = "",
    normalize: bool = False,
    decay: float = 1e-5,
    rate: float = 0.01,
    seed: int = 0,
    overwrite: bool = False,
    advance: Advance,
) -> Trained:
    """Learn to fold and unfold sentences; a training that was stopped goes on after its last whole epoch.

    The same text, settings and versions give the same bytes on a machine, stopped or not: it runs on one thread.

    Parameters
    ----------
    text
        A file with one sentence a line; with ``trees="brackets"`` one bracketed parse a line.
    out
        The folder to write.
    dim
        Number of dimensions; 200, or that of the vectors in ``words``, where it is not said.
    epochs
        How often the text is read.
    trees
        Where a sentence's tree comes from: ``right`` (right-branching), ``balanced``, ``link-parser`` (the program of
        that name) or ``brackets`` (the line is one).
    words
        A file of word vectors, or a folder written by ``embassay train words``: the vectors of the words, which stay
        as they are. Words are learnt too, from a random beginning, where it is empty.
    normalize
        Scale each inner node to unit length when it is folded.
    decay
        λ, the weight of ‖W_e‖² + ‖W_d‖² beside the mean loss of a sentence; 0 or more.
    rate
        AdaGrad's rate, above 0.
    seed
        Of all random draws, 0 or more.
    overwrite
        Replace another model that the folder holds.
    advance
        Is told how far it is.

    Raises
    ------
    InputError
        For a text, a folder or an option that cannot be used.
    EncoderError
        If the parser fails.
    """
    _check(dim, epochs, rate, decay, seed)
    source = check_source(trees, f"{WHAT}, option 'trees'")
    sentences = read_sentences(text)
    check_text(sentences, source)
    file = GivenWords.of(words, dim) if words else None
    settings = {
        "dim": file.dim if file else dim or DIM,
        "epochs": epochs,
        "trees": source,
        "words": file.sha256 if file else "",
        "normalize": normalize,
        "decay": decay,
        "rate": rate,
        "seed": seed,
    }
    row, vectors = file.rows() if file else (None, None)
    made_with = {"numpy": version("numpy"), "torch": version("torch"), "trees": identity(source)}
    folder = TrainingFolder(out, "urae", settings, sentences, made_with)
    trained = Trained(out, f"urae:{out}")
    if folder.open(overwrite):
        return replace(trained, notes=(THERE,))
    done, kept = folder.resume()
    parsed = grow(sentences, source, kept)
    if parsed.kept and not done:
        folder.keep(0, parsed.kept)
    material = gather(parsed, row)
    course = _Course(folder, settings, material, parsed.kept)
    learner = course.learn(vectors, done, kept, advance)
    arrays = {"words": learner.words, **learner.matrices}
    facts = {"vocabulary": list(material.row), "losses": course.losses, "notes": list(material.notes)}
    folder.finish({f"{name}.npy": array(values) for name, values in arrays.items()}, facts)
    return replace(trained, notes=material.notes)


@dataclass
class _Course:
    """The epochs of a training, with a checkpoint after each.

    Attributes
    ----------
    parses
        What of the parser's work is kept in each checkpoint.
    losses
        The mean unfolding loss of a sentence in each epoch.
    """

    folder: TrainingFolder
    settings: Mapping[str, Any]
    material: Material
    parses: Mapping[str, NDArray[Any]]
    losses: list[float] = field(default_factory=list)

    def learn(self, given: Array | None, done: int, kept: Mapping[str, NDArray[Any]], advance: Advance) -> Learner:
        """Go through the epochs that are not done; return what was learnt, words too unless they are given."""
        learner = self._begin(given)
        if done:
            _take_up(learner, kept)
            self.losses += kept["losses"].tolist()
        for epoch in range(done, self.settings["epochs"]):
            with one_thread():
                self.losses.append(self._epoch(learner, epoch, advance))
            if given is None:
                learner.respread()
            arrays = {**_to_keep(learner), **self.parses, "losses": np.array(self.losses)}
            self.folder.keep(epoch + 1, arrays)
        return learner

    def _begin(self, given: Array | None) -> Learner:
        dim, random = self.settings["dim"], generator(self.settings["seed"], WHAT, "start")
        matrices = new_matrices(dim, random)
        learnt = len(self.material.row) + 1 if given is None else 1
        words = random.normal(0, SPREAD, (learnt, dim)).astype(np.float32) if given is None else given
        sums = {name: np.zeros_like(values) for name, values in matrices.items()}
        sums["words"] = np.zeros((learnt, dim), dtype=np.float32)
        return Learner(words, matrices, sums, *(self.settings[name] for name in ("normalize", "decay", "rate")))

    def _epoch(self, learner: Learner, epoch: int, advance: Advance) -> float:
        """Read all sentences once, in a random order; return the mean loss of a sentence."""
        material, random = self.material, generator(self.settings["seed"], WHAT, f"epoch {epoch}")
        number, total = len(material.rows), 0.0
        order = random.permutation(number)
        for start in range(0, number, BATCH):
            batch = order[start : start + BATCH].tolist()
            rows = [material.masked(place, random) for place in batch]
            total += learner.step(rows, [material.shapes[place] for place in batch]) * len(batch)
            if start % STEP == 0:
                advance(epoch * number + start, self.settings["epochs"] * number)
        advance((epoch + 1) * number, self.settings["epochs"] * number)
        if not math.isfinite(total):
            raise SpecError(f"{WHAT}, option 'rate': it diverged in epoch {epoch + 1}; {learner.rate} is too large")
        return total / number


def _to_keep(learner: Learner) -> dict[str, NDArray[Any]]:
    """Return what a checkpoint needs: what is learnt, and the sums of squared gradients."""
    learnt = {"words": learner.words[: len(learner.sums["words"])], **learner.matrices}
    return {**learnt, **{f"{name}_sum": values for name, values in learner.sums.items()}}


def _take_up(learner: Learner, kept: Mapping[str, NDArray[Any]]) -> None:
    learner.words[: len(learner.sums["words"])] = kept["words"]
    for name, values in learner.matrices.items():
        np.copyto(values, kept[name])
    for name, values in learner.sums.items():
        np.copyto(values, kept[f"{name}_sum"])


def _check(dim: int | None, epochs: int, rate: float, decay: float, seed: int) -> None:
    """Refuse options out of their range, and a missing torch."""
    check_whole(WHAT, dim=dim, epochs=epochs)
    check_amounts(WHAT, rate=rate)
    if not (math.isfinite(decay) and decay >= 0):
        raise SpecError(f"{WHAT}, option 'decay': must be 0 or more, is {decay}")
    if seed < 0:
        raise SpecError(f"{WHAT}, option 'seed': must be 0 or more, is {seed}")
    if find_spec("torch") is None:
        raise MissingExtraError(WHAT, "hf")
