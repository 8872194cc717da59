"""Bootstrap samples of questions ("exams"), with thresholds and success on them.

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain",
sections 2.1-2.3. Three things are needed of each question: its K largest similarities, that to the right document and
that to a random one. A bootstrap sample is an array of indices into them, so 500 exams take milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embassay.core.randomness import generator
from embassay.core.types import Draws
from embassay.stats.units import Floats, Ints

EXAMS, LENGTH = 500, 100
"""The number m of samples and their length l, as in section 3.1 of the paper."""
GRID = tuple(range(5, 100, 5))
"""The percentiles ψ whose similarities are tried as thresholds."""
ENDS = (2.5, 97.5)
"""The percentiles over exams that are the ends of a range."""


def exams(questions: int, draws: Draws, *purpose: str) -> Ints:
    """Return (m, l) indices of questions: a row is one exam, drawn with replacement."""
    stream = generator(draws.seed, "exams", *purpose)
    return stream.integers(0, questions, size=(EXAMS, LENGTH))


def spread(replicates: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean and the 2.5th and 97.5th percentile of each column of (m, k) replicates."""
    low, high = np.percentile(replicates, ENDS, axis=0)
    return replicates.mean(axis=0), low, high


def percentile_of_top(top: Floats, drawn: Ints, psi: tuple[int, ...]) -> Floats:
    """Return (m, len(psi)) the thresholds θ: the ψ-th percentiles of the top-K similarities of each exam.

    Parameters
    ----------
    top
        (Q, K) the largest similarities of each question.
    drawn
        (m, l) the questions of each exam, from :func:`exams`.
    """
    gathered = top[drawn].reshape(len(drawn), -1)
    return np.asarray(np.percentile(gathered, psi, axis=1).T)


def above(values: Floats, thresholds: Floats) -> Floats:
    """Return the share of the values strictly above each threshold, in [0, 1].

    This is the paper's COE for the similarities of right documents, and its ROE for those of random ones.
    """
    ordered = np.sort(values)
    at_most = np.searchsorted(ordered, thresholds, side="right")
    return 1 - at_most / max(len(ordered), 1)


def minima(top: Floats, drawn: Ints) -> Floats:
    """Return (m,) γ: the smallest top-K similarity in each exam."""
    smallest_of_question = top.min(axis=1)
    return np.asarray(smallest_of_question[drawn].min(axis=1))


@dataclass(frozen=True)
class Retrieved:
    """Similarities and success of Q questions with K retrieved documents each, to which thresholds are applied.

    Attributes
    ----------
    top
        (Q, K) the similarities of the retrieved documents.
    own
        (Q,) the similarity of the nearest right document.
    success
        (Q,) whether a right document is retrieved, 0 to 1.
    """

    top: Floats
    own: Floats
    success: Floats

    def right_at(self, threshold: float) -> Floats:
        """Return (Q,) the success that remains when documents below the threshold are dropped."""
        return np.where(self.own >= threshold, self.success, 0.0)

    def kept_at(self, threshold: float) -> Floats:
        """Return (Q,) the share of the retrieved documents that reach the threshold."""
        return np.asarray((self.top >= threshold).mean(axis=1))
