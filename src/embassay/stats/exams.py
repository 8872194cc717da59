"""Bootstrap samples of a hundred questions ("exams"), and what similarities and thresholds give on them.

Roychowdhury et al. (2024), "A Compass for Navigating the World of Sentence Embeddings for the Telecom Domain",
sections 2.1-2.3. Of each question only its K largest similarities, that to the right document and that to a random one
are needed; a bootstrap sample is an index into them, so 500 exams take milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from embassay.randomness import generator
from embassay.stats.units import Floats, Ints
from embassay.types import Draws

EXAMS, LENGTH = 500, 100
"""m samples of l questions each, as in the paper's section 3.1."""
GRID = tuple(range(5, 100, 5))
"""The percentiles ψ whose similarities are tried as thresholds."""
ENDS = (2.5, 97.5)
"""The percentiles over exams that are the ends of a range."""


def exams(questions: int, draws: Draws, *purpose: str) -> Ints:
    """Return (500, 100) indices: in each row the questions of one exam, drawn with replacement."""
    return generator(draws.seed, "exams", *purpose).integers(0, questions, size=(EXAMS, LENGTH))


def spread(replicates: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mean and the 2.5th and 97.5th percentile of each column of (m, k) replicates."""
    low, high = np.percentile(replicates, ENDS, axis=0)
    return replicates.mean(axis=0), low, high


def percentile_of_top(top: Floats, drawn: Ints, psi: tuple[int, ...]) -> Floats:
    """Return (m, len(psi)) θ: the ψ-th percentiles of the top-K similarities of each exam.

    Parameters
    ----------
    top
        (Q, K).
    drawn
        (m, l) of :func:`exams`.
    """
    gathered = top[drawn].reshape(len(drawn), -1)
    return np.asarray(np.percentile(gathered, psi, axis=1).T)


def above(values: Floats, thresholds: Floats) -> Floats:
    """Return the share of the values strictly above each threshold: COE of right, ROE of random similarities."""
    ordered = np.sort(values)
    return 1 - np.searchsorted(ordered, thresholds, side="right") / max(len(ordered), 1)


def minima(top: Floats, drawn: Ints) -> Floats:
    """Return (m,) γ: the smallest top-K similarity in each exam."""
    return np.asarray(top.min(axis=1)[drawn].min(axis=1))


@dataclass(frozen=True)
class Answers:
    """Similarities and success of Q questions with K retrieved documents each, on which a threshold is tried.

    Attributes
    ----------
    top
        (Q, K) similarities of what is retrieved.
    own
        (Q,) similarity of the nearest right document.
    success
        (Q,) whether a right document is retrieved, 0 … 1.
    """

    top: Floats
    own: Floats
    success: Floats

    def right_at(self, threshold: float) -> Floats:
        """Return (Q,) the success that remains when documents below the threshold are dropped."""
        return np.where(self.own >= threshold, self.success, 0.0)

    def kept_at(self, threshold: float) -> Floats:
        """Return (Q,) the share of the retrieved documents that are not dropped."""
        return np.asarray((self.top >= threshold).mean(axis=1))
