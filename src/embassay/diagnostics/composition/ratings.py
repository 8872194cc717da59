"""Human ratings of a corpus's samples, where it has some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from embassay.core.result import Estimate, Row, Series
from embassay.core.types import Draws, ItemScores
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import stream_of
from embassay.diagnostics.metrics.summary import row
from embassay.diagnostics.published import table
from embassay.stats.agreement import krippendorff
from embassay.stats.resample import mean
from embassay.stats.units import Floats, Ints, unit_codes

SCALE = (0, 4)
"""From strongly disagree to strongly agree; ``checks.LIKERT`` refuses other ratings."""
DISTRIBUTION = {"operator": "text", "rating": "count", "ratings given": "count", "share of ratings": "percent"}
"""The columns of the table of ratings, with their formats."""
_of_corpus = partial(Metric, subset="*", kind="computed", better="neither")
RATING_METRICS = (
    _of_corpus("rating", low=0.0, high=4.0, meaning="mean human rating of the targets"),
    _of_corpus("rating_median", low=0.0, high=4.0, meaning="median of all human ratings"),
    _of_corpus("agreement", high=1.0, meaning="Krippendorff's alpha of the ratings: 1 full agreement, 0 as by chance"),
)
"""They describe the corpus, not an encoder."""


def rating_matrix(ratings: Sequence[Sequence[float]]) -> Floats:
    """Return the (n, annotators) ratings, NaN where a sample has fewer; one column at least."""
    annotators = max([1, *map(len, ratings)])
    matrix = np.full((len(ratings), annotators), np.nan)
    for place, ratings_of_sample in enumerate(ratings):
        matrix[place, : len(ratings_of_sample)] = ratings_of_sample
    return matrix


def rating_rows(scores: ItemScores, draws: Draws, groups: Mapping[str, Ints]) -> Iterator[Row]:
    """Yield mean, median and agreement of the ratings of each group of items that has some.

    ``rating`` is the mean over items of their annotators' mean, ``rating_median`` the median of all ratings,
    ``agreement`` Krippendorff's alpha for interval data. All are of the corpus, so no encoder is named.
    """
    of_corpus = scores.of_corpus("ratings")
    for name, items in groups.items():
        ratings = of_corpus.values["ratings"][items]
        rated = ~np.isnan(ratings).all(axis=1)
        if not rated.any():
            continue
        ratings = ratings[rated]
        unit = unit_codes(of_corpus.unit[items][rated])
        mean_of_sample = np.nanmean(ratings, axis=1)
        median = float(np.nanmedian(ratings))
        estimates = {
            "rating": mean(mean_of_sample, unit, draws, *stream_of(scores)),
            "rating_median": Estimate(median, None, None, len(unit), len(np.unique(unit))),
            "agreement": _agreement(ratings, unit),
        }
        for metric, estimate in estimates.items():
            yield row(of_corpus, draws, metric, name, estimate, similarity_function="rating")


def rating_series(scores: ItemScores, groups: Mapping[str, Ints]) -> Iterator[Series]:
    """Yield how often each rating was given in each group of items (Bansal et al. 2025, figure 3).

    Every annotator's rating counts. Fractional ratings are rounded to the nearest whole number, halves upwards. Yields
    nothing if no item has a rating.
    """
    lowest, highest = SCALE
    lines = list[list[object]]()
    for name, items in groups.items():
        ratings = scores.values["ratings"][items]
        whole = np.floor(ratings[~np.isnan(ratings)] + 0.5)
        if not len(whole):
            continue
        for rating in range(lowest, highest + 1):
            count = int((whole == rating).sum())
            lines.append([name, rating, count, count / len(whole)])
    if lines:
        yield table(scores.origin.diagnostic, scores.origin.corpus, "ratings", DISTRIBUTION, lines)


def _agreement(ratings: Floats, unit: Ints) -> Estimate:
    """Return Krippendorff's alpha, which is based on the items with two ratings or more."""
    alpha = krippendorff(ratings)
    if np.isnan(alpha):
        return Estimate(None, None, None, 0, 0, len(unit), "no item with two ratings, or all ratings equal")
    number_of_ratings = np.count_nonzero(~np.isnan(ratings), axis=1)
    compared = number_of_ratings > 1
    units = len(np.unique(unit[compared]))
    return Estimate(alpha, None, None, int(compared.sum()), units)
