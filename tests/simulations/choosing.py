"""A weight that is chosen on other units: whether the gain that is printed is unbiased, and its interval holds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import norm

from embassay.stats.families import Roles, compare_means
from embassay.stats.folds import chosen_over_folds
from embassay.types import Draws
from simulations import Row, mean_of, rate, simulation
from simulations.designs import Floats, Ints, normals, stream, units_of_items

WEIGHTS = np.linspace(0, 1, 21)
LIST = 5
CURVES = {
    "all weights equal": np.full(21, 0.75),
    "best in the middle, by 4 points": 0.72 + 0.16 * WEIGHTS * (1 - WEIGHTS),
    "best alone, else up to 29 points worse": 0.91 - 0.29 * WEIGHTS,
}
"""The true Success@5 by weight; at 0 that of the second part alone."""
MORE = 8
DESIGNS = ((30, "1 item", 0.0), (30, "4 items", 0.3), (100, "Pareto", 0.3), (300, "1 item", 0.0))


def ranks(rng: np.random.Generator, unit: Ints, success: Floats, within: float) -> Floats:
    """Draw the (n, 21) ranks of the right documents, by weight.

    Two normal numbers say how hard a question is for each part, and correlate within units; a weight turns from one to
    the other, so that neighbouring weights agree on nearly all questions. The rank grows exponentially with it.
    """
    second, first = normals(rng, unit, within, 2).T
    angle = np.pi / 2 * WEIGHTS
    hardness = np.outer(second, np.cos(angle)) + np.outer(first, np.sin(angle)) - norm.ppf(success)
    return 1 + np.floor(LIST * np.exp(2 * hardness) * (1 - 1e-9))


@simulation("choosing", "A weight chosen on other units: the printed gain over the second part alone")
def chosen_weights(repeats: int = 1000) -> Iterator[Row]:
    """Cross units with true curves: as in a run, the weight is chosen by the reciprocal rank, and Success@5 printed.

    Gains are drawn more often than intervals, which take longer.
    """
    roles = Roles(("hybrid",), lexical=("bm25",), bm25=("bm25",))
    for units, sizes, within in DESIGNS:
        for name, success in CURVES.items():
            rng = stream("choosing", units, sizes, name)
            errors, hits, in_sample = [], [], []
            for repeat in range(MORE * repeats):
                unit = units_of_items(sizes, units, rng)
                rank = ranks(rng, unit, success, within)
                values = (rank <= LIST).astype(np.float64)
                chosen = chosen_over_folds(1 / rank, unit)
                column = chosen.of_fold[chosen.fold]
                # What these weights, chosen on the training folds, are worth on any question.
                true = float(np.mean(success[column] - success[0]))
                compared = {"hybrid": values[np.arange(len(unit)), column], "bm25": values[:, 0]}
                errors.append(float(np.mean(compared["hybrid"] - compared["bm25"])) - true)
                if repeat < repeats:
                    row = compare_means(compared, unit, roles, Draws(repeat, 300), of_shares=True)[0]
                    hits.append(row.low <= true <= row.high)
                best = chosen.of_all
                in_sample.append(float(np.mean(values[:, best] - values[:, 0])) - (success[best] - success[0]))
            design = f"{name}, {units} units, {sizes}"
            yield Row(design, "the gain, too high by", (-0.003, 0.003), *mean_of(errors), (-0.003, 0.003), number=True)
            yield Row(design, "its interval holds", (0.93, 0.97), *rate(sum(hits), repeats), (0.93, 1.0))
            yield Row(design, "chosen and judged on all units, too high by", (0, 1), *mean_of(in_sample), (0, 1), True)
