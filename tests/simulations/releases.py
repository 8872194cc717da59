"""Eight releases that lose half a point each, every one the next baseline: how many lose in the end without a word."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embassay.comparison.losses import PairedMetric, changes_of
from embassay.types import Draws
from simulations import Row, rate, simulation
from simulations.designs import Floats, units_of_items

RELEASES, LOSS, CHANGED = 8, 0.005, 0.02
"""Each release loses and gains answers: a share ``CHANGED`` of them changes, so that ``LOSS`` is lost on average."""


def released(rng: np.random.Generator, answers: Floats, loss: float) -> Floats:
    """Return the answers of the next release."""
    losing = (CHANGED + loss) / 2 / answers.mean()
    gaining = (CHANGED - loss) / 2 / (1 - answers.mean())
    draw = rng.random(len(answers))
    return np.where(answers == 1, (draw >= losing) * 1.0, (draw < gaining) * 1.0)


def regression(old: dict[str, Floats], new: Floats, unit: np.ndarray, seed: int) -> bool:
    """Return whether a check against these baselines calls the new answers a regression."""
    item = np.array([str(number) for number in range(len(new))])
    pairs = [
        PairedMetric("m", "retrieval", "docs", "Success@5", 0.02, answers, new, unit, item, since=since)
        for since, answers in old.items()
    ]
    return any(change.outcome == "regression" for change in changes_of(pairs, Draws(seed, 50)))


@simulation("releases", "Eight releases, each the next baseline: how often a check finds a loss of 4 points in all")
def releases(repeats: int = 400) -> Iterator[Row]:
    """With the baseline alone, and with the first baseline as an anchor; and what no loss at all comes to."""
    for loss, wanted in ((LOSS, (0.6, 1.0)), (0.0, (0.0, 0.1))):
        for with_anchor in (False, True):
            rng = np.random.default_rng([13, int(1000 * loss), with_anchor])
            found = 0
            for repeat in range(repeats):
                unit = units_of_items("1 item", 1000, rng)
                first = (rng.random(len(unit)) < 0.8) * 1.0
                baseline, seen = first, False
                for number in range(RELEASES):
                    new = released(rng, baseline, loss)
                    old = {"baseline": baseline}
                    if with_anchor and number:
                        old["anchor"] = first
                    seen = seen or regression(old, new, unit, repeat)
                    baseline = new
                found += seen
            against = "the baseline and the anchor" if with_anchor else "the baseline alone"
            design = f"{RELEASES} releases of {-100 * loss:g} points, 1,000 units, checked against {against}"
            limits = wanted if with_anchor else (0.0, 1.0)
            yield Row(design, "some regression", limits, *rate(found, repeats), accepted=limits)
