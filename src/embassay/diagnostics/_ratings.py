"""What people thought of a corpus's samples, where it brings their ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics._rows import row
from embassay.result import Estimate, Row
from embassay.stats.agreement import krippendorff
from embassay.stats.resample import mean
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores


def matrix(ratings: Sequence[Sequence[float]]) -> Floats:
    """Return the (n, annotators) ratings, NaN where there are fewer; one column at least."""
    width = max((len(given) for given in ratings), default=0) or 1
    return np.array([[*given, *[np.nan] * (width - len(given))] for given in ratings], dtype=np.float64).reshape(
        len(ratings), width
    )


def rating_rows(scores: ItemScores, draws: Draws, groups: dict[str, NDArray[np.int64]], *purpose: str) -> Iterator[Row]:
    """Yield mean, median and agreement of the ratings of each group of items that has some.

    ``rating`` is the mean over items of their annotators' mean, ``rating_median`` the median of all ratings,
    ``agreement`` Krippendorff's alpha for interval data. All are of the corpus, under no encoder's name.
    """
    own = scores.of_corpus("ratings")
    for name, rows in groups.items():
        given = own.values["ratings"][rows]
        rated = ~np.isnan(given).all(axis=1)
        if not rated.any():
            continue
        given, unit = given[rated], np.unique(own.unit[rows][rated], return_inverse=True)[1].astype(np.int64)
        of_items = np.nanmean(given, axis=1)
        estimates = {
            "rating": mean(of_items, unit, draws, "ratings", name, *purpose),
            "rating_median": _single(float(np.nanmedian(given)), unit),
            "agreement": _agreement(given, unit),
        }
        for quantity, estimate in estimates.items():
            yield row(own, draws, quantity, name, estimate, measure="rating")


def _single(value: float, unit: NDArray[np.int64]) -> Estimate:
    return Estimate(value, None, None, len(unit), len(np.unique(unit)))


def _agreement(given: Floats, unit: NDArray[np.int64]) -> Estimate:
    alpha = krippendorff(given)
    if np.isnan(alpha):
        return Estimate(None, None, None, 0, 0, len(unit), "no item with two ratings, or all ratings equal")
    twice = (~np.isnan(given)).sum(axis=1) > 1
    return Estimate(alpha, None, None, int(twice.sum()), len(np.unique(unit[twice])))
