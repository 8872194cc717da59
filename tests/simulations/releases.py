"""Eight releases that lose half a point each, every one the next baseline: how many lose in the end without a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from embassay.comparison.differences import losses
from simulations import Row, rate, simulation
from simulations.designs import Floats
from simulations.gate import DRAWS, paired

RELEASES, LOSS, CHANGED = 8, 0.005, 0.02
"""Each release loses and gains answers: a share ``CHANGED`` of them changes, so that ``LOSS`` is lost on average."""


def released(rng: np.random.Generator, answers: Floats, loss: float) -> Floats:
    """Return the answers of the next release."""
    losing = (CHANGED + loss) / 2 / answers.mean()
    gaining = (CHANGED - loss) / 2 / max(1 - answers.mean(), 1e-9)
    draw = rng.random(len(answers))
    return np.where(answers == 1, (draw >= losing) * 1.0, (draw < gaining) * 1.0)


def regression(old: dict[str, Floats], new: Floats) -> bool:
    """Return whether a check against these baselines calls the new answers a regression."""
    unit = np.arange(len(new))
    pairs = [replace(paired(new - answers, unit, sampled=False), since=since) for since, answers in old.items()]
    return any(change.outcome == "regression" for change in losses(pairs, DRAWS))


@simulation("releases", "Eight releases, each the next baseline: how often a check finds a loss of 4 points in all")
def releases(repeats: int = 1000) -> Iterator[Row]:
    """With the baseline alone, and with the first baseline as an anchor; and what no loss at all comes to."""
    for questions in (60, 100, 1000):
        for loss in (LOSS, 0.0):
            for with_anchor in (False, True):
                rng = np.random.default_rng([13, questions, int(1000 * loss), with_anchor])
                found = sum(_is_found(rng, questions, loss, with_anchor=with_anchor) for _ in range(repeats))
                against = "the baseline and the anchor" if with_anchor else "the baseline alone"
                series = f"{RELEASES} releases that lose {100 * loss:g} points each"
                design = f"{series}, {questions:,} questions, against {against}"
                # Each of the eight checks may be wrong in 5 % of the cases.
                limits = (0.0, 1 - 0.95**RELEASES) if loss == 0.0 else (0.0, 1.0)
                if loss and with_anchor and questions == 1000:
                    limits = (0.9, 1.0)
                yield Row(design, "some regression", limits, *rate(found, repeats), accepted=limits)


def _is_found(rng: np.random.Generator, questions: int, loss: float, *, with_anchor: bool) -> bool:
    """Return whether the check of any release in a series is a regression."""
    first = (rng.random(questions) < 0.8) * 1.0
    baseline = first
    for number in range(RELEASES):
        new = released(rng, baseline, loss)
        old = {"": baseline}
        if with_anchor and number:
            old["the anchor"] = first
        if regression(old, new):
            return True
        baseline = new
    return False
