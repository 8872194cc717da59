"""What a whole screen gets wrong where all encoders are equally good: sentences, the best set, the first value."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embassay.stats.best import rank_means
from embassay.stats.families import Roles, compare_means
from embassay.types import Draws
from simulations import Row, mean_of, rate, simulation
from simulations.comparisons import answers
from simulations.designs import units_of_items

SHARE = 0.7
CANDIDATES = (2, 5, 12, 20)
DESIGNS = ((60, "1 item", 0.0), (150, "4 items", 0.3))


@simulation("screens", "A screen of equally good encoders: how often it says anything false")
def screens(repeats: int = 600) -> Iterator[Row]:
    """Cross candidates with designs; two lexical baselines are as good as all others."""
    for units, sizes, within in DESIGNS:
        for number in CANDIDATES:
            rng = np.random.default_rng([11, units, number])
            false, excluded, too_high, estimates = [], [], [], []
            names = [f"m{place}" for place in range(number)]
            roles = Roles(tuple(names), lexical=("bm25", "tfidf"), bm25=("bm25",))
            for repeat in range(repeats):
                unit = units_of_items(sizes, units, rng)
                drawn = answers(rng, unit, [SHARE] * (number + 2), within, 0.5)
                values = dict(zip([*names, "bm25", "tfidf"], drawn.T, strict=True))
                draws = Draws(repeat, 100)
                false.append(any(row.significant for row in compare_means(values, unit, roles, draws, of_shares=True)))
                standings = rank_means({name: values[name] for name in names}, unit, draws)
                excluded.append(len(standings.best_set) < number)
                too_high.append(max(standings.values.values()) - SHARE)
                estimates.append(standings.first_too_high or (0.0, 0.0))
            design = f"{number} candidates, {units} units, {sizes}, correlation {within:g}"
            yield Row(design, "some false sentence", (0.0, 0.15), *rate(sum(false), repeats), accepted=(0.0, 0.16))
            yield Row(
                design, "some not in the best set", (0.0, 0.5), *rate(sum(excluded), repeats), accepted=(0.0, 0.5)
            )
            seen, error = mean_of(too_high)
            # The upper estimate is a little too low for two candidates, where it is not shown.
            low, high = np.round(np.mean(estimates, axis=0), 3).tolist()
            yield Row(design, "the first value, too high by", (low, high), seen, error, (low, 1.2 * high), number=True)
