"""A weight that is chosen by the questions: by how much its own value is too high, and what is expected on others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from embassay.stats.choosing import best_column, cross_fit
from simulations import Row, mean_of, simulation
from simulations.designs import Floats, Ints, normals, stream, units_of_items

WEIGHTS = np.linspace(0, 1, 21)
LIST = 5
CURVES = {
    "all weights equal": np.full(21, 0.75),
    "best in the middle, by 4 points": 0.72 + 0.16 * WEIGHTS * (1 - WEIGHTS),
    "best alone, else up to 29 points worse": 0.91 - 0.29 * WEIGHTS,
}
"""The true Success@5 by weight; at 0 that of the second part alone."""
DESIGNS = (
    (10, "4 items", 0.3),
    (30, "1 item", 0.0),
    (30, "4 items", 0.3),
    (60, "1 item", 0.0),
    (100, "Pareto", 0.3),
    (300, "1 item", 0.0),
)


def ranks(rng: np.random.Generator, unit: Ints, success: Floats, within: float) -> Floats:
    """Draw the (n, 21) ranks of the right documents, by weight.

    Two normal numbers say how hard a question is for each part, and correlate within units; a weight turns from one to
    the other, so that neighbouring weights agree on nearly all questions. The rank grows exponentially with it.
    """
    second, first = normals(rng, unit, within, 2).T
    angle = np.pi / 2 * WEIGHTS
    hardness = np.outer(second, np.cos(angle)) + np.outer(first, np.sin(angle)) - norm.ppf(success)
    return 1 + np.floor(LIST * np.exp(2 * hardness) * (1 - 1e-9))


@simulation("choosing", "A weight that is chosen: its own value and what is expected on other questions")
def chosen_weights(repeats: int = 1000) -> Iterator[Row]:
    """Cross units with true curves: as in a run, the weight is chosen by the reciprocal rank, and Success@5 printed.

    What the sample adds to all weights alike has the mean 0; it is taken off, so that fewer repeats are needed.
    """
    for units, sizes, within in DESIGNS:
        for name, success in CURVES.items():
            rng = stream("choosing", units, sizes, name)
            own, expected = [], []
            for repeat in range(repeats):
                unit = units_of_items(sizes, units, rng)
                rank = ranks(rng, unit, success, within)
                values = (rank <= LIST).astype(np.float64)
                best = best_column((1 / rank).mean(axis=0))
                means = values.mean(axis=0)
                luck = (means - success).mean()
                own.append(means[best] - luck - success[best])
                expected.append(cross_fit(1 / rank, values, unit, repeat)[0] - luck - success[best])
            design = f"{name}, {units} units, {sizes}"
            yield Row(design, "its own value, too high by", (-0.01, 0.05), *mean_of(own), (-0.01, 0.05), number=True)
            yield Row(
                design, "the expected value, too high by", (-0.01, 0.01), *mean_of(expected), (-0.01, 0.01), number=True
            )
