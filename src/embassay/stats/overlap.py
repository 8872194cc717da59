"""How much of what an exact search finds a cheaper set-up lists, judged without labels.

The overlap of a question is |listed ∩ exact| / 10 over the ten nearest documents. From the floor of 95 % on, a set-up
counts as the same as its original. How often that is wrong: ``docs/simulations.md``.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from embassay.core.result import FEW_UNITS
from embassay.core.types import Draws
from embassay.stats.labels import Labels
from embassay.stats.patterns import Exchanged, Interval, Patterns
from embassay.stats.units import UPPER, Floats

COMPARED = 10
"""How many of the nearest documents are compared."""
FLOOR = 0.95
"""The overlap from which on a set-up counts as the same as its original."""
ONE_MORE = 0.5
"""The overlap of the one more question that the lower end includes: without it, questions that all have the overlap 1
would have an interval without width."""
SMALLEST_DISTANCE = 0.001
"""Of a mean from the floor, for the number of questions that would decide: nearer ones count as this far."""


def overlaps(listed: Floats, exact: Floats, depth: int = COMPARED) -> Floats:
    """Return the (n,) shares of the exactly nearest documents that are listed, in [0, 1].

    Two equal lists have the overlap 1, and a document that is exactly as near as the last one counts like that one.

    Parameters
    ----------
    listed
        (n, k) documents, the nearest first; NaN after the last one.
    exact
        (n, m) likewise, by an exact search: the first ``depth``, then those exactly as near as the last of them.
    depth
        How many documents are compared, or fewer where the exact search finds fewer.

    Returns
    -------
    NaN for a question without an exactly nearest document, and where twice as many are given, all as near as the last
    one: there may be still more.
    """
    number = np.minimum(depth, np.isfinite(exact).sum(axis=1))
    first = listed[:, :depth]
    is_first = np.arange(first.shape[1]) < number[:, None]
    # NaN equals nothing, so the ends of lists match nothing.
    is_exact = (first[:, :, None] == exact[:, None, :]).any(axis=2)
    hits = np.count_nonzero(is_exact & is_first, axis=1)
    is_cut = np.isfinite(exact[:, 2 * depth - 1 :]).any(axis=1)
    return np.where((number > 0) & ~is_cut, hits / np.maximum(number, 1), np.nan)


def judged(values: Floats, draws: Draws) -> dict[str, Any]:
    """Return the fields of a :class:`~embassay.core.result.Screening` that follow from the overlaps of n ≥ 1 questions.

    The interval is that of typical values, with questions as units; its lower end includes one more question with the
    overlap 1/2. The outcome is ``same`` if the lower end reaches the floor, ``differs`` if the upper one does not, else
    ``near``: then N = (1.96 s/|mean − floor|)² questions would decide, s the standard deviation with the one more. It
    is ``few`` under 30 questions.

    Parameters
    ----------
    values
        (n,) overlaps in [0, 1].
    """
    count = len(values)
    low = high = more = None
    outcome = "few"
    if count >= FEW_UNITS:
        low, high = interval(values, draws)
        outcome = "same" if low >= FLOOR else "differs" if high < FLOOR else "near"
    if outcome == "near":
        more = questions_to_decide(values)
    return {
        "overlap": float(values.mean()),
        "low": low,
        "high": high,
        "questions": count,
        "outcome": outcome,
        "more_questions": more,
    }


def interval(values: Floats, draws: Draws) -> tuple[float, float]:
    """Return the 95 % interval of the mean of (n,) overlaps; see :func:`judged`."""

    def typical(values: Floats) -> Interval:
        patterns = Patterns(Labels.of(np.arange(len(values))), draws, ("overlap",))
        return Exchanged.of(values[:, None], patterns).interval(0)

    return typical(np.append(values, ONE_MORE)).low, typical(values).high


def questions_to_decide(values: Floats) -> int:
    """Return about how many more questions would decide, with two digits; see :func:`judged`."""
    deviation = float(np.append(values, ONE_MORE).std(ddof=1))
    distance = max(abs(float(values.mean()) - FLOOR), SMALLEST_DISTANCE)
    more = (NormalDist().inv_cdf(UPPER) * deviation / distance) ** 2 - len(values)
    return int(float(f"{max(more, 1.0):.2g}"))
