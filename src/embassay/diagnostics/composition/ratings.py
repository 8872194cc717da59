"""What people thought of a corpus's samples, where it brings their ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import row
from embassay.diagnostics.published import table
from embassay.result import Estimate, Row, Series
from embassay.stats.agreement import krippendorff
from embassay.stats.resample import mean
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores

SCALE = (0, 4)
"""From strongly disagree to strongly agree; other ratings no corpus has (``checks.LIKERT``)."""
DISTRIBUTION = {"operator": "text", "rating": "count", "ratings given": "count", "share of ratings": "percent"}


def matrix(ratings: Sequence[Sequence[float]]) -> Floats:
    """Return the (n, annotators) ratings, NaN where there are fewer; one column at least."""
    width = max((len(given) for given in ratings), default=0) or 1
    return np.array([[*given, *[np.nan] * (width - len(given))] for given in ratings], dtype=np.float64).reshape(
        len(ratings), width
    )


def rating_rows(scores: ItemScores, draws: Draws, groups: dict[str, NDArray[np.int64]]) -> Iterator[Row]:
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
            "rating": mean(of_items, unit, draws, own.origin.diagnostic, own.origin.corpus_fingerprint),
            "rating_median": _single(float(np.nanmedian(given)), unit),
            "agreement": _agreement(given, unit),
        }
        for quantity, estimate in estimates.items():
            yield row(own, draws, quantity, name, estimate, measure="rating")


def rating_series(scores: ItemScores, groups: dict[str, NDArray[np.int64]]) -> Iterator[Series]:
    """Yield how often each rating was given in each group of items (Bansal et al. 2025, figure 3).

    Every annotator's rating counts; one between two whole numbers counts for the nearer one, the higher of two as near.
    Nothing where nothing is rated.
    """
    lowest, highest = SCALE
    rows: list[list[Any]] = []
    for name, inside in groups.items():
        given = scores.values["ratings"][inside]
        whole = np.floor(given[~np.isnan(given)] + 0.5)
        for rating in range(lowest, highest + 1) if len(whole) else ():
            count = int((whole == rating).sum())
            rows.append([name, rating, count, count / len(whole)])
    if rows:
        yield table(scores.origin.diagnostic, scores.origin.corpus, "ratings", DISTRIBUTION, rows)


def _single(value: float, unit: NDArray[np.int64]) -> Estimate:
    return Estimate(value, None, None, len(unit), len(np.unique(unit)))


def _agreement(given: Floats, unit: NDArray[np.int64]) -> Estimate:
    alpha = krippendorff(given)
    if np.isnan(alpha):
        return Estimate(None, None, None, 0, 0, len(unit), "no item with two ratings, or all ratings equal")
    twice = (~np.isnan(given)).sum(axis=1) > 1
    return Estimate(alpha, None, None, int(twice.sum()), len(np.unique(unit[twice])))
