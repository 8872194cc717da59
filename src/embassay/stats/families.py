"""Comparisons of encoders as families of questions, each corrected for its own number of tests.

``reference``
    each candidate against the reference encoder;
``baseline``
    each candidate against the best lexical baseline;
``second_baseline``
    each candidate against bm25, where tfidf is the best lexical baseline;
``chance``
    each candidate against the random encoder;
``part``
    each set-up that is built on other encoders of the run against the best of these;
``all``
    every pair of candidates, only on request.

Holm's correction is applied within a family. So more tests in one family do not weaken the tests of another, and the
number of tests grows with the number of encoders, not with its square. Baselines that are added automatically and the
random encoder are not candidates. :mod:`embassay.stats.best` computes which candidates may be the best.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import NormalDist
from typing import Literal

import numpy as np

from embassay.result import ALPHA, MIN_UNITS, Estimate
from embassay.stats.permutation import Exchange, Method, PValue, SignFlips, corrected, p_values
from embassay.stats.resample import means
from embassay.stats.skewness import SkewedMeans
from embassay.stats.units import Floats, Ints, unit_sums
from embassay.types import Draws

Family = Literal["reference", "baseline", "second_baseline", "chance", "part", "all"]
Pair = tuple[str, str]
JUST_ABOVE_0 = sys.float_info.min
"""The end of an interval that is moved to exclude 0."""


@dataclass(frozen=True)
class Roles:
    """The roles of the encoders of a run in comparisons.

    Attributes
    ----------
    candidates
        The encoders that the user named, in their order.
    reference
        The candidate that the others are compared with; the first one by default.
    lexical
        The lexical baselines, bm25 before tfidf. One of them may be a candidate as well.
    bm25
        Those of them that are bm25: several where a setting of the corpus varies.
    chance
        The random encoder, whose value is chance.
    all_pairs
        Whether every pair of candidates is compared as well.
    parts
        What each candidate that is built on other encoders is built on.
    """

    candidates: tuple[str, ...]
    reference: str | None = None
    lexical: tuple[str, ...] = ()
    bm25: tuple[str, ...] = ()
    chance: str | None = None
    all_pairs: bool = False
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that the reference is a candidate, and that names are unique."""
        if self.reference is not None and self.reference not in self.candidates:
            raise ValueError(f"the reference {self.reference!r} is none of the candidates {list(self.candidates)}")
        for names in (self.candidates, self.lexical):
            has_duplicates = len(set(names)) < len(names)
            if has_duplicates:
                raise ValueError(f"a name stands twice in {list(names)}")

    def questions(self, values: Mapping[str, float]) -> tuple[PairTest, ...]:
        """Return the pairs to compare, family by family.

        Parameters
        ----------
        values
            The value of each encoder, NaN if undefined; higher is better. The lexical baseline with the highest value
            is the best one; of two with the same value, the one named first.
        """
        reference = self.reference or next(iter(self.candidates), None)
        lexical = [name for name in self.lexical if not np.isnan(values.get(name, np.nan))]
        best_lexical = max(lexical, key=lambda name: values[name], default=None)
        # bm25 is what most search engines rank by: users ask about it even where tfidf has the higher value.
        bm25 = [name for name in self.bm25 if name in lexical]
        best_bm25 = max(bm25, key=lambda name: values[name], default=None)
        second_lexical = best_bm25
        if best_lexical in bm25:
            second_lexical = None
        opponents: list[tuple[Family, str | None]] = [
            ("reference", reference),
            ("baseline", best_lexical),
            ("second_baseline", second_lexical),
            ("chance", self.chance),
        ]
        questions = []
        for family, opponent in opponents:
            if opponent is None:
                continue
            others = [name for name in self.candidates if name != opponent]
            questions += [PairTest(family, name, opponent) for name in others]
        for name, parts in self.parts.items():
            defined = [part for part in parts if not np.isnan(values.get(part, np.nan))]
            # What fusion adds is what it adds to the better of two.
            if defined:
                questions.append(PairTest("part", name, max(defined, key=lambda part: values[part])))
        if self.all_pairs:
            for a, b in combinations(self.candidates, 2):
                # The reference is always b, as in the first family, so that the pair is tested only once.
                if a == reference:
                    questions.append(PairTest("all", b, a))
                else:
                    questions.append(PairTest("all", a, b))
        return tuple(questions)


@dataclass(frozen=True)
class PairTest:
    """One test of a family: is a better or worse than b?"""

    family: Family
    a: str
    b: str

    @property
    def pair(self) -> Pair:
        """The two encoders."""
        return self.a, self.b


@dataclass(frozen=True)
class PairedDifference:
    """The answer to one question: the value of a minus that of b, on the items defined for both.

    Attributes
    ----------
    difference, low, high
        None if no item is defined for both; no interval under ``MIN_UNITS`` units. The interval is that of the pair
        alone if the pair is significant, or if it contains 0; else see :func:`corrected_interval`. So it contains 0 if
        and only if the corrected p is above 0.05.
    p, p_adjusted
        The two-sided permutation p, and the same after Holm's correction over the family; never 0. None under
        ``MIN_UNITS`` units: then neither encoder is called better or worse.
    p_method, p_error
        As in :class:`~embassay.stats.permutation.PValue`.
    tests, tests_at_step
        The number of p-values in the family, and how many of them Holm's correction counts when it comes to this one.
    items, units
        The number of items that are defined for both, and of their units.
    error
        The standard error of the difference over units; None for fewer than two units.
    """

    family: Family
    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    tests: int
    items: int
    units: int
    error: float | None
    p: float | None = None
    p_adjusted: float | None = None
    p_method: Method | None = None
    p_error: float | None = None
    tests_at_step: int = 1

    @property
    def significant(self) -> bool:
        """Whether a is significantly better or worse than b."""
        return self.p_adjusted is not None and self.p_adjusted <= ALPHA


@dataclass(frozen=True)
class Gap:
    """The difference of one pair, before any test.

    Attributes
    ----------
    estimate
        The difference with its bootstrap interval.
    error
        Its standard error over units.
    testable
        Whether the pair may be tested if it has enough units.
    least_p
        The p is at least as large; see :meth:`SkewedMeans.least_p <embassay.stats.skewness.SkewedMeans.least_p>`.
    """

    estimate: Estimate
    error: float | None
    testable: bool = True
    least_p: float = 0.0


def compare_means(
    values: Mapping[str, Floats],
    unit: Ints,
    roles: Roles,
    draws: Draws,
    *purpose: str,
    of_shares: bool = False,
    more_tests: int = 0,
) -> tuple[PairedDifference, ...]:
    """Compare the means of encoders: one row for each question, family by family.

    Each pair is compared on the items defined for both. A row has the difference, its bootstrap interval over units,
    and the p-value of exchanging whole units; both are corrected where the differences of units are skewed, unless they
    are of shares (:mod:`embassay.stats.skewness`).

    Parameters
    ----------
    values
        The (n,) item values of each encoder, all in the same order of items; NaN is undefined, higher is better.
    unit
        (n,) unit codes from 0.
    purpose
        Names the random streams; every pair gets the same resamples and patterns.
    of_shares
        Whether the values are yes and no, or shares of them; see :func:`~embassay.stats.resample.means`.
    more_tests
        See :func:`answer`.

    Returns
    -------
    The rows; questions about encoders that are missing from ``values`` are left out.
    """
    means_of_encoders = {name: mean_of(items) for name, items in values.items()}
    questions = roles.questions(means_of_encoders)
    pairs = pairs_of(questions, values)
    if not pairs or len(unit) == 0:
        return ()
    differences = [values[a] - values[b] for a, b in pairs]
    columns = [items[:, None] for items in differences]
    estimates = means(columns, unit, draws, *purpose, differences=np.array([of_shares]))
    sums, sizes = unit_sums(np.stack(differences, axis=1), unit)
    skewed = SkewedMeans.of(sums, sizes)
    least_p = np.zeros(len(pairs)) if of_shares else skewed.least_p()
    gaps = {}
    for place, (pair, (estimate,)) in enumerate(zip(pairs, estimates, strict=True)):
        error = float(skewed.error[place]) if estimate.units > 1 else None
        gaps[pair] = Gap(estimate, error, least_p=float(least_p[place]))

    def exchange(places: list[int]) -> SignFlips:
        return SignFlips(sums[:, places])

    return answer(questions, gaps, exchange, draws, *purpose, more_tests=more_tests)


def mean_of(items: Floats) -> float:
    """Return the mean of the defined items; NaN where there is none."""
    defined = items[~np.isnan(items)]
    if not len(defined):
        return float("nan")
    return float(defined.mean())


def pairs_of(questions: Sequence[PairTest], values: Mapping[str, Floats]) -> list[Pair]:
    """Return the distinct pairs of all families whose encoders both have values, in the order of the questions."""
    answerable = [question for question in questions if question.a in values and question.b in values]
    return list(dict.fromkeys(question.pair for question in answerable))


def answer(
    questions: Sequence[PairTest],
    gaps: Mapping[Pair, Gap],
    exchange: Callable[[list[int]], Exchange],
    draws: Draws,
    *purpose: str,
    more_tests: int = 0,
) -> tuple[PairedDifference, ...]:
    """Test the differences of pairs, and return one row for each question, family by family.

    Parameters
    ----------
    gaps
        The difference of each pair; questions about other pairs are left out.
    exchange
        Called with places of pairs in ``gaps``; returns the permutation tests of these pairs.
    more_tests
        How many other p-values the caller corrects these p-values together with. A drawn p is then also settled at
        every level that Holm's correction may compare it with.
    """
    families: dict[Family, list[PairTest]] = {}
    for question in questions:
        if question.pair in gaps:
            families.setdefault(question.family, []).append(question)

    # Each pair is tested once, even if several families contain it.
    places = [place for place, gap in enumerate(gaps.values()) if _may_be_tested(gap)]
    pairs = list(gaps)
    test_of = {pairs[place]: number for number, place in enumerate(places)}
    tests_of_family: dict[Family, list[int]] = {}
    for family, members in families.items():
        tests_of_family[family] = [test_of[question.pair] for question in members if question.pair in test_of]
    p: Sequence[PValue] = ()
    if places:
        settled_in = list(tests_of_family.values())
        for size in range(2, more_tests + 2):
            settled_in += [[test] * size for test in test_of.values()]
        least = [gap.least_p for gap in gaps.values() if _may_be_tested(gap)]
        exchanged = p_values(exchange(places), settled_in, draws, *purpose)
        p = [
            PValue(at_least, "skewed") if one.p < at_least else one
            for one, at_least in zip(exchanged, least, strict=True)
        ]

    rows = []
    for family, members in families.items():
        tests = tests_of_family[family]
        adjusted, steps = corrected({test: p[test].p for test in tests})
        for question in members:
            gap = gaps[question.pair]
            if question.pair in test_of:
                test = test_of[question.pair]
                row = _tested_row(question, gap, p[test], adjusted[test], len(tests))
                rows.append(replace(row, tests_at_step=steps[test]))
            else:
                rows.append(_row(question, gap, len(tests)))
    return tuple(rows)


def consistent_interval(low: float, high: float, difference: float, p: float) -> tuple[float, float]:
    """Return the interval of a difference, changed as little as possible so that it contains 0 if and only if p > 0.05.

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


def corrected_interval(
    low: float, high: float, difference: float, p_adjusted: float, tests: int
) -> tuple[float, float]:
    """Return the interval that belongs to a corrected test, where that of the pair alone would contradict it.

    Where the pair is not significant after Holm's correction although its own interval excludes 0, the end nearer to 0
    is moved away from the difference by z₁₋α/₂ₘ/z₁₋α/₂, as the interval of m differences together (Bonferroni) has it,
    and to 0 at least. The other end, on which "not worse" rests, stays.
    """
    if p_adjusted <= ALPHA or low <= 0 <= high:
        return low, high
    normal = NormalDist()
    wider = normal.inv_cdf(1 - ALPHA / (2 * max(tests, 1))) / normal.inv_cdf(1 - ALPHA / 2)
    if low > 0:
        return min(difference - wider * (difference - low), 0.0), high
    return low, max(difference + wider * (high - difference), 0.0)


def _may_be_tested(gap: Gap) -> bool:
    """Return whether a difference has a value and enough units for a test."""
    return gap.testable and gap.estimate.value is not None and gap.estimate.units >= MIN_UNITS


def _row(question: PairTest, gap: Gap, tests: int) -> PairedDifference:
    """Return the answer to a question without p-values."""
    estimate = gap.estimate
    return PairedDifference(
        family=question.family,
        a=question.a,
        b=question.b,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        tests=tests,
        items=estimate.items,
        units=estimate.units,
        error=gap.error,
    )


def _tested_row(question: PairTest, gap: Gap, p: PValue, adjusted: float, tests: int) -> PairedDifference:
    """Return the answer to a question with p-values, and with an interval that agrees with the test."""
    untested = _row(question, gap, tests)
    tested = replace(untested, p=p.p, p_adjusted=adjusted, p_method=p.method, p_error=p.error)
    if tested.difference is None or tested.low is None or tested.high is None:
        return tested
    # Bootstrap and permutation test may disagree at the limit; a reader must not see both answers in one row.
    low, high = consistent_interval(tested.low, tested.high, tested.difference, p.p)
    low, high = corrected_interval(low, high, tested.difference, adjusted, tests)
    return replace(tested, low=low, high=high)
