"""Pairs of systems as families of tests: each unordered pair has one home, one interval and one p.

The home of a pair is the first that fits:

``step``
    one is derived from the other: an index, another precision, other passages, a fusion, a reranker. The family is the
    kind of step on the same base.
``main``
    the reference and the lexical baseline, alone.
``lexical``
    the other base models and the lexical baseline.
``models``
    the pairs of base models.
``all``
    all other pairs of candidates, only on request.

So what joins a run moves no p of another family: the main question keeps its power, and copies of a model cost nothing.
Within a family the tests are corrected by :func:`~embassay.stats.patterns.step_down`.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.core.result import ALPHA, Comparison, Family
from embassay.core.types import Draws
from embassay.stats.folds import fold_weights, mean_over_folds
from embassay.stats.labels import Labels, effective_number
from embassay.stats.patterns import Corrected, Exchanged, Interval, Patterns, newcombe, settled
from embassay.stats.skewness import SkewedMeans
from embassay.stats.units import Floats, Ints, unit_sums

Pair = tuple[str, str]
MIN_DIFFERENT = 10
"""Fewer items on which two systems differ do not tell whether single items differ or whole units."""
JUST_ABOVE_0 = sys.float_info.min
"""An end at 0 that is open."""


@dataclass(frozen=True)
class Step:
    """What a candidate is derived from.

    Attributes
    ----------
    kind
        What it adds or changes: ``fusion``, ``reranker``, ``index``, ``int8``, ``dim``, ``passages`` ….
    bases
        The labels that it is derived from; several of a fusion.
    """

    kind: str
    bases: tuple[str, ...]


@dataclass(frozen=True)
class PairTest:
    """One test: do two systems differ?

    Attributes
    ----------
    step
        Of a pair of the family ``step``: by what ``a`` is derived from ``b``, and from what besides.
    """

    family: Family
    a: str
    b: str
    step: Step | None = None

    @property
    def pair(self) -> Pair:
        """The two systems."""
        return self.a, self.b

    def row(self, key: MetricKey) -> Comparison:
        """Return the pair on a metric, before anything is known of it."""
        step = self.step.kind if self.step else ""
        return Comparison(**vars(key), a=self.a, b=self.b, family=self.family, step=step)


@dataclass(frozen=True)
class Roles:
    """The roles of the systems of a run in comparisons.

    Attributes
    ----------
    candidates
        The systems that the user named, in their order.
    reference
        The candidate that the others are compared with; the first base model by default.
    lexical
        The lexical baseline: bm25, tfidf only without it. It may be a candidate as well.
    steps
        The candidates that are derived from others of the run.
    all_pairs
        Whether pairs without a home are compared as well.
    """

    candidates: tuple[str, ...]
    reference: str | None = None
    lexical: str | None = None
    steps: Mapping[str, Step] = field(default_factory=dict)
    all_pairs: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The candidates that are derived from no other, without the lexical baseline; the reference first."""
        base = [name for name in self.candidates if name not in self.steps and name != self.lexical]
        base.sort(key=lambda name: name != self.reference)
        return tuple(base)

    @property
    def base_systems(self) -> tuple[str, ...]:
        """The base models and the lexical baseline: the systems that n* is estimated from."""
        return (*self.models, *filter(None, [self.lexical]))

    def pairs(self, present: Collection[str]) -> list[PairTest]:
        """Return the pairs that are compared, each once, family by family, if both systems are present."""
        tests = dict[frozenset[str], PairTest]()

        def add(test: PairTest) -> None:
            if test.a != test.b:
                tests.setdefault(frozenset(test.pair), test)

        for name, step in self.steps.items():
            for base in step.bases:
                add(PairTest("step", name, base, step))
        for place, model in enumerate(self.models):
            if self.lexical is not None:
                add(PairTest("lexical" if place else "main", model, self.lexical))
        for a, b in combinations(self.models, 2):
            add(PairTest("models", a, b))
        if self.all_pairs:
            for a, b in combinations(self.candidates, 2):
                add(PairTest("all", a, b))
        return [test for test in tests.values() if test.a in present and test.b in present]


def compare_means(
    key: MetricKey,
    values: Mapping[str, Floats],
    labels: Labels,
    roles: Roles,
    draws: Draws,
    *purpose: str,
    of_shares: bool = False,
    is_bounded: bool = False,
    fold: Ints | None = None,
) -> tuple[Comparison, ...]:
    """Compare the means of systems: one row for each pair of :meth:`Roles.pairs`.

    Parameters
    ----------
    key
        The metric.
    values
        The (n,) item values of each system, all in the same order of items; NaN is undefined, higher is better.
    labels
        Those of the n items.
    purpose
        Names the patterns; the same for all metrics of a diagnostic on a corpus.
    of_shares
        Whether the values are yes and no, or shares of them.
    is_bounded
        Whether the values lie in [0, 1], as shares do. Where fewer than 10 items of such a metric differ, the interval
        is at least Newcombe's on n*; means that are not bounded are corrected for skewness
        (:mod:`embassay.stats.skewness`).
    fold
        (n,) fold codes of a mean over folds, which all have the same weight.

    Returns
    -------
    Pairs of systems that are missing from ``values`` are left out.
    """
    tests = roles.pairs(values)
    if not tests or not labels.items:
        return ()
    columns = np.stack([values[test.a] - values[test.b] for test in tests], axis=1)
    rows = [_untested(key, test, column, labels, fold) for test, column in zip(tests, columns.T, strict=True)]
    places = [place for place, column in enumerate(columns.T) if not labels.of_items(~np.isnan(column)).too_few]
    if not places:
        return tuple(rows)
    # Of a mean over folds, items are weighted so that their plain mean is that over folds.
    weighted = columns[:, places]
    if fold is not None:
        weighted = weighted * fold_weights(weighted, fold) * (~np.isnan(weighted)).sum(axis=0)
    exchanged, corrected = settled(
        Patterns(labels, draws, purpose),
        lambda patterns: Exchanged.of(weighted, patterns),
        families_of([tests[place] for place in places]),
    )
    intervals = [exchanged.interval(pair, float(level)) for pair, level in enumerate(corrected.level)]
    if of_shares or is_bounded:
        pool = [values[name] for name in roles.base_systems if name in values]
        number = effective_number(labels, pool, of_shares=of_shares)
        intervals = [_with_floor(one, columns[:, place], number) for one, place in zip(intervals, places, strict=True)]
    else:
        skewed = SkewedMeans.of(*unit_sums(weighted, labels.label_set))
        p, adjusted = (np.maximum(of_tests, skewed.least_p()) for of_tests in (corrected.p, corrected.adjusted))
        corrected = replace(corrected, p=p, adjusted=adjusted)
        lows, highs = skewed.widened(*np.array([one[:2] for one in intervals]).T)
        ends = zip(intervals, lows.tolist(), highs.tolist(), strict=True)
        intervals = [one._replace(low=low, high=high) for one, low, high in ends]
    for pair, place in enumerate(places):
        rows[place] = tested_row(rows[place], corrected, pair, intervals[pair].low, intervals[pair].high)
    return tuple(rows)


def families_of(tests: Sequence[PairTest]) -> list[list[int]]:
    """Return the places of the pairs of each family; steps of one kind on the same base are a family."""
    places = dict[Hashable, list[int]]()
    for place, test in enumerate(tests):
        places.setdefault((test.family, test.step), []).append(place)
    return list(places.values())


def consistent_interval(low: float, high: float, difference: float, p: float) -> tuple[float, float]:
    """Return an interval of a difference, changed as little as possible so that it contains 0 if and only if p > 0.05.

    If p > 0.05 and the interval excludes 0, the end closer to 0 is moved to 0. If p ≤ 0.05 and the interval contains 0,
    the end on the other side of 0 is moved to the smallest number on the side of the difference.
    """
    if p > ALPHA:
        return min(low, 0.0), max(high, 0.0)
    if low <= 0 <= high:
        if difference > 0:
            return JUST_ABOVE_0, max(high, difference)
        return min(low, difference), -JUST_ABOVE_0
    return low, high


def _with_floor(interval: Interval, column: Floats, number: float) -> Interval:
    """Return an interval, not shorter than Newcombe's where fewer than 10 items differ.

    Not so the end nearer to 0 where 0 is excluded.
    """
    differences = column[~np.isnan(column)]
    if np.count_nonzero(differences) >= MIN_DIFFERENT:
        return interval
    low, high = newcombe(differences, number)
    if not interval.is_above_0:
        interval = interval._replace(low=min(interval.low, low))
    if not interval.is_below_0:
        interval = interval._replace(high=max(interval.high, high))
    return interval


def _untested(key: MetricKey, test: PairTest, column: Floats, labels: Labels, fold: Ints | None) -> Comparison:
    """Return the row of a pair with (n,) differences, without interval and p."""
    defined = ~np.isnan(column)
    items = int(defined.sum())
    difference = None
    if items:
        difference = float(column[defined].mean()) if fold is None else mean_over_folds(column, fold)
    return replace(
        test.row(key),
        difference=difference,
        items=items,
        units=labels.of_items(defined).sets,
        won=int((column > 0).sum()),
        lost=int((column < 0).sum()),
    )


def tested_row(row: Comparison, corrected: Corrected, pair: int, low: float, high: float) -> Comparison:
    """Return a row with the p-values of its pair, and with an interval that agrees with the corrected one."""
    if row.difference is None:
        return row
    p, adjusted = float(corrected.p[pair]), float(corrected.adjusted[pair])
    low, high = consistent_interval(low, high, row.difference, adjusted)
    return replace(row, p=p, p_holm=adjusted, pairs_in_family=int(corrected.tests[pair]), low=low, high=high)
