"""Comparisons of encoders as families of questions, each corrected for its own number of tests.

``reference``
    each candidate against the reference encoder;
``baseline``
    each candidate against the best lexical baseline;
``chance``
    each candidate against the random encoder;
``all``
    every pair of candidates, only on request.

Holm's correction is applied within a family. So what is added to one question weakens no answer to another, and the
number of tests grows with the number of encoders, not with its square. Baselines that joined by themselves and the
random encoder are no candidates. Which candidates may be the best is the subject of :mod:`embassay.stats.best`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.permutation import ALPHA, Exchange, Method, PValue, SignFlips, holm, p_values
from embassay.stats.resample import means
from embassay.stats.units import Floats, Ints, ratio_variance, unit_sums
from embassay.types import Draws

Family = Literal["reference", "baseline", "chance", "all"]
Pair = tuple[str, str]
JUST_ABOVE_0 = sys.float_info.min
"""The end of an interval that is moved to exclude 0."""


@dataclass(frozen=True)
class Roles:
    """What each encoder of a run is compared as.

    Attributes
    ----------
    candidates
        The encoders that the user named, in their order.
    reference
        The candidate that the others are compared with; the first one by default.
    lexical
        The lexical baselines, bm25 before tfidf. One of them may be a candidate as well.
    chance
        The encoder that stands for chance.
    all_pairs
        Whether every pair of candidates is compared, too.
    """

    candidates: tuple[str, ...]
    reference: str | None = None
    lexical: tuple[str, ...] = ()
    chance: str | None = None
    all_pairs: bool = False

    def __post_init__(self) -> None:
        """Check that the reference is a candidate, and that no name stands twice."""
        if self.reference is not None and self.reference not in self.candidates:
            raise ValueError(f"the reference {self.reference!r} is none of the candidates {list(self.candidates)}")
        for names in (self.candidates, self.lexical):
            if len(set(names)) < len(names):
                raise ValueError(f"a name stands twice in {list(names)}")

    def questions(self, values: Mapping[str, float]) -> tuple[Question, ...]:
        """Return the pairs to compare, family by family.

        Parameters
        ----------
        values
            The value of each encoder, NaN where it has none; higher is better. It decides which lexical baseline is
            the best one; of two with the same value, the one named first.
        """
        reference = self.reference or next(iter(self.candidates), None)
        lexical = [name for name in self.lexical if not np.isnan(values.get(name, np.nan))]
        best_lexical = max(lexical, key=lambda name: values[name], default=None)
        opponents: list[tuple[Family, str | None]] = [
            ("reference", reference),
            ("baseline", best_lexical),
            ("chance", self.chance),
        ]
        questions = []
        for family, opponent in opponents:
            if opponent is not None:
                questions += [Question(family, name, opponent) for name in self.candidates if name != opponent]
        if self.all_pairs:
            for a, b in combinations(self.candidates, 2):
                # In the order of the first family, so that the pair is tested once.
                questions.append(Question("all", b, a) if a == reference else Question("all", a, b))
        return tuple(questions)


@dataclass(frozen=True)
class Question:
    """Is a better or worse than b? One test of one family."""

    family: Family
    a: str
    b: str

    @property
    def pair(self) -> Pair:
        """The two encoders."""
        return self.a, self.b


@dataclass(frozen=True)
class PairedDifference:
    """The value of a minus that of b on the items defined for both: the answer to one question.

    Attributes
    ----------
    difference, low, high
        None where no item is defined for both; no interval under ``MIN_UNITS`` units. The interval contains 0 exactly
        where p is above 0.05.
    p, p_adjusted
        Two-sided permutation p, as it is and after Holm over its family; never 0. None under ``MIN_UNITS`` units:
        nothing is called better or worse.
    p_method, p_error
        ``exact``, ``enumerated`` or ``drawn``, and the standard error that drawing leaves in p.
    tests
        How many p-values the family has.
    items, units
        Those defined for both.
    error
        The standard error of the difference over units; None for fewer than two units.
    """

    family: Family
    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None
    p_method: Method | None
    p_error: float | None
    tests: int
    items: int
    units: int
    error: float | None

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
        Whether it may have a p-value, should it rest on units enough.
    """

    estimate: Estimate
    error: float | None
    testable: bool = True


def compare_means(
    values: Mapping[str, Floats],
    unit: Ints,
    roles: Roles,
    draws: Draws,
    *purpose: str,
    of_shares: bool = False,
) -> tuple[PairedDifference, ...]:
    """Compare the means of encoders: one row for each question, family by family.

    Each pair is compared on the items defined for both: the difference, its bootstrap interval over units, and the
    p-value of exchanging the two in whole units.

    Parameters
    ----------
    values
        The (n,) item values of each encoder, all in the same order of items; NaN is undefined, higher is better.
    unit
        (n,) unit codes from 0.
    purpose
        Names the random streams; every pair sees the same resamples and patterns.
    of_shares
        Whether the values are yes and no, or shares of them; see :func:`~embassay.stats.resample.means`.

    Returns
    -------
    Nothing for encoders that are missing from ``values``.
    """
    questions = roles.questions({name: mean_of(items) for name, items in values.items()})
    pairs = pairs_of(questions, values)
    if not pairs or len(unit) == 0:
        return ()
    differences = [values[a] - values[b] for a, b in pairs]
    columns = [items[:, None] for items in differences]
    estimates = means(columns, unit, draws, *purpose, differences=np.array([of_shares]))
    gaps = {}
    for pair, items, (estimate,) in zip(pairs, differences, estimates, strict=True):
        gaps[pair] = Gap(estimate, _standard_error(items, unit))
    sums, _ = unit_sums(np.stack(differences, axis=1), unit)
    return answer(questions, gaps, lambda places: SignFlips(sums[:, places]), draws, *purpose)


def mean_of(items: Floats) -> float:
    """Return the mean of the defined items; NaN where there is none."""
    defined = items[~np.isnan(items)]
    return float(defined.mean()) if len(defined) else float("nan")


def pairs_of(questions: Sequence[Question], values: Mapping[str, Floats]) -> list[Pair]:
    """Return the pairs that occur in any family, each once: a pair that two families ask about is tested once."""
    return list(dict.fromkeys(q.pair for q in questions if q.a in values and q.b in values))


def answer(
    questions: Sequence[Question],
    gaps: Mapping[Pair, Gap],
    exchange: Callable[[list[int]], Exchange],
    draws: Draws,
    *purpose: str,
) -> tuple[PairedDifference, ...]:
    """Test the differences of pairs, and return one row for each question, family by family.

    Parameters
    ----------
    gaps
        The difference of each pair; questions about other pairs are left out.
    exchange
        Makes the permutation tests of the pairs at these places of ``gaps``.
    """
    families: dict[Family, list[Question]] = {}
    for question in questions:
        if question.pair in gaps:
            families.setdefault(question.family, []).append(question)

    # Each pair is tested once, whatever number of families ask about it.
    places = [place for place, gap in enumerate(gaps.values()) if _may_be_tested(gap)]
    pairs = list(gaps)
    test_of = {pairs[place]: number for number, place in enumerate(places)}
    tests_of_family = {
        family: [test_of[question.pair] for question in members if question.pair in test_of]
        for family, members in families.items()
    }
    p: Sequence[PValue] = ()
    if places:
        p = p_values(exchange(places), list(tests_of_family.values()), draws, *purpose)

    rows = []
    for family, members in families.items():
        tests = tests_of_family[family]
        adjusted = dict(zip(tests, holm([p[test].p for test in tests]), strict=True))
        for question in members:
            gap = gaps[question.pair]
            if question.pair in test_of:
                test = test_of[question.pair]
                rows.append(_tested_row(question, gap, p[test], adjusted[test], len(tests)))
            else:
                rows.append(_row(question, gap, len(tests)))
    return tuple(rows)


def consistent_interval(low: float, high: float, difference: float, p: float) -> tuple[float, float]:
    """Return the interval of a difference, moved as little as needed for it to contain 0 exactly where p > 0.05.

    Above 0.05 an end is moved to 0, which the interval then contains. At 0.05 or below, an interval that contains 0
    ends at 0 on that side, and 0 is left out: the end is the smallest number beyond it.
    """
    if p > ALPHA:
        return min(low, 0.0), max(high, 0.0)
    if low <= 0 <= high:
        if difference > 0:
            return JUST_ABOVE_0, max(high, difference)
        return min(low, difference), -JUST_ABOVE_0
    return low, high


def _may_be_tested(gap: Gap) -> bool:
    """Say whether a difference has a value and enough units for a verdict."""
    return gap.testable and gap.estimate.value is not None and gap.estimate.units >= MIN_UNITS


def _row(question: Question, gap: Gap, tests: int) -> PairedDifference:
    """Return the answer to a question about a pair that is not tested."""
    estimate = gap.estimate
    return PairedDifference(
        family=question.family,
        a=question.a,
        b=question.b,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        p=None,
        p_adjusted=None,
        p_method=None,
        p_error=None,
        tests=tests,
        items=estimate.items,
        units=estimate.units,
        error=gap.error,
    )


def _tested_row(question: Question, gap: Gap, p: PValue, adjusted: float, tests: int) -> PairedDifference:
    """Return the answer to a question with its p-values; the interval never contradicts the test."""
    row = _row(question, gap, tests)
    row = replace(row, p=p.p, p_adjusted=adjusted, p_method=p.method, p_error=p.error)
    if row.difference is None or row.low is None or row.high is None:
        return row
    low, high = consistent_interval(row.low, row.high, row.difference, p.p)
    return replace(row, low=low, high=high)


def _standard_error(gap: Floats, unit: Ints) -> float | None:
    """Return the standard error of a mean over units; None for fewer than two units."""
    defined = ~np.isnan(gap)
    if len(np.unique(unit[defined])) < 2:
        return None
    return float(ratio_variance(gap[defined], unit[defined]) ** 0.5)
