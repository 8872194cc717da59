"""Tests whether metrics of a run are worse than those of a baseline, corrected for their number.

A metric passes if a loss of its margin or more is ruled out (:mod:`embassay.stats.noninferiority`). It is a
regression if the loss is significant after Holm's correction over all tests of the check, otherwise it is inconclusive.
So equally good encoders are called a regression in at most 5 % of the checks, however many metrics a check has. All
tests of a check must pass for the check to pass, which needs no correction (Berger 1982).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.result import ALPHA, MIN_UNITS
from embassay.stats.correlate import correlation
from embassay.stats.detectable import Precision, precision_of_pair
from embassay.stats.exchange import compare_correlations
from embassay.stats.families import PairedDifference, Roles, compare_means, corrected_interval, mean_of
from embassay.stats.noninferiority import (
    Correlated,
    mean_not_worse,
    possible_margin,
    share_not_worse,
)
from embassay.stats.permutation import corrected
from embassay.stats.units import Floats, Ints
from embassay.types import Draws

Outcome = Literal["pass", "regression", "inconclusive"]
OUTCOMES: dict[str, Outcome] = {"not worse": "pass", "worse": "regression", "inconclusive": "inconclusive"}
"""By the outcome of the test."""
Since = Literal["baseline", "anchor"]
OLD, NEW = "old", "new"
ROLES = Roles((OLD, NEW), reference=OLD)
FLIPPED = 0.5
"""An item is lost where its value falls by at least this: a right answer is now wrong, or tied with a wrong one."""
POWER = 0.8
"""The probability that a true loss is called a regression."""


@dataclass(frozen=True)
class PairedMetric:
    """A metric of one candidate in two runs, item by item.

    Attributes
    ----------
    encoder, diagnostic, corpus, metric
        What it is; the metric by the name that users write.
    margin
        The smallest loss that matters, above 0.
    old, new
        (n,) item values whose mean is the metric; NaN is undefined.
    unit
        (n,) unit codes from 0.
    item
        (n,) ids.
    stream
        Names the random streams.
    of_shares
        Whether the values are yes and no, or shares of them.
    lower_is_better
        Whether a rise is a loss.
    same_encoder
        Whether both have the same fingerprint.
    correlated
        For a correlation: what it is computed from, under the names ``old`` and ``new``.
    since
        What it is compared with: ``baseline``, or the ``anchor``, the first baseline.
    anchor_day
        The day of the anchor's run: ``2026-03-14``; empty for the baseline, or where it is unknown.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    margin: float
    old: Floats
    new: Floats
    unit: Ints
    item: NDArray[np.str_]
    stream: tuple[str, ...] = ()
    of_shares: bool = True
    lower_is_better: bool = False
    same_encoder: bool = False
    correlated: Correlated | None = None
    since: Since = "baseline"
    anchor_day: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether the same encoder has the same value on every item."""
        return self.same_encoder and np.array_equal(self.old, self.new, equal_nan=True)

    @property
    def sign(self) -> float:
        """1, or −1 where lower is better: what makes a loss a fall."""
        return -1.0 if self.lower_is_better else 1.0

    @property
    def worst(self) -> float | None:
        """The value that counts where only one of the encoders has one: 0, or 1 where lower is better.

        A new encoder that gives no vector to some texts must not pass because they are left out. None for a
        correlation: it is computed from values of its own, which leave these items out.
        """
        if self.correlated is not None:
            return None
        return 1.0 if self.lower_is_better else 0.0

    @property
    def in_one_run(self) -> NDArray[np.bool_]:
        """(n,) whether an item has a value in one run only."""
        in_one_run: NDArray[np.bool_] = np.isnan(self.old) != np.isnan(self.new)
        return in_one_run

    @cached_property
    def values(self) -> dict[str, Floats]:
        """The (n,) values of both runs, with the worst value where only one of them has one."""
        values = {OLD: self.old, NEW: self.new}
        if self.worst is None:
            return values
        return {run: np.where(np.isnan(of_run) & self.in_one_run, self.worst, of_run) for run, of_run in values.items()}


@dataclass(frozen=True)
class LossTest:
    """The change of one metric of one candidate against the baseline.

    Attributes
    ----------
    metric
        Its name, with the subset in brackets: ``accuracy[part_of_speech:noun]``.
    old, new
        The metric in the baseline and in the run, on the common items.
    change, low, high
        ``new`` less ``old``, with its 95 % interval; None where undefined, no interval under ``MIN_UNITS`` units.
    p
        Two-sided, after Holm's correction over all tests of the check; None under ``MIN_UNITS`` units.
    tests
        The number of these tests.
    margin
        The smallest loss that matters.
    smallest_loss
        The smallest true loss that such a check calls a regression in four cases of five; None where unknown.
    items, units
        Those that have a value in both.
    units_needed
        About how many units like these rule out a loss of the margin with a power of 80 % if nothing is lost; None
        where unknown.
    possible_margin
        About the smallest margin that a check with these units can pass, see
        :func:`~embassay.stats.noninferiority.possible_margin`; None for other than shares.
    ruled_out
        The smallest loss that the test rules out; None where unknown.
    lower_is_better
        Whether a rise is a loss.
    of_shares
        Whether the figures are shares.
    unchanged
        Whether the same encoder has the same value on every item, which needs no test.
    lost, gained
        Ids of the items that only the old, or only the new encoder is right about; empty for other than shares.
    undefined
        How many items have a value in one run only.
    undefined_as
        The value that such an item counts as where it has none: the worst one, 0 or 1. None for a correlation, which
        leaves it out.
    since, anchor_day
        What it is compared with, as in :class:`PairedMetric`.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    outcome: Outcome
    p: float | None
    tests: int
    margin: float
    old: float | None = None
    new: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    smallest_loss: float | None = None
    items: int = 0
    units: int = 0
    units_needed: int | None = None
    possible_margin: float | None = None
    ruled_out: float | None = None
    lower_is_better: bool = False
    of_shares: bool = True
    unchanged: bool = False
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    undefined: int = 0
    undefined_as: float | None = 0.0
    since: Since = "baseline"
    anchor_day: str = ""

    @property
    def name(self) -> str:
        """The metric, and whether it is compared with the anchor: ``Success@5 (anchor)``."""
        return self.metric if self.since == "baseline" else f"{self.metric} (anchor)"

    @property
    def loss(self) -> float | None:
        """By how much the metric became worse; negative where it became better."""
        if self.change is None or self.lower_is_better:
            return self.change
        return -self.change

    @property
    def loss_is_significant(self) -> bool:
        """Whether the metric is significantly worse, be it by more or by less than the margin."""
        if self.p is None or self.loss is None:
            return False
        return self.p <= ALPHA and self.loss > 0


def changes_of(pairs: Sequence[PairedMetric], draws: Draws) -> tuple[LossTest, ...]:
    """Test all metrics of a check, and return their changes in the same order."""
    # The same encoder with the same values has lost nothing: there is nothing to test or to correct for.
    tested_pairs = [pair for pair in pairs if not pair.unchanged]
    other_tests = max(len(tested_pairs) - 1, 0)
    differences = [_difference(pair, draws, other_tests) for pair in pairs]

    # By the place of the pair: some pairs have no p-value.
    p_values: dict[int, float] = {}
    for place, (pair, difference) in enumerate(zip(pairs, differences, strict=True)):
        if not pair.unchanged and difference is not None and difference.p is not None:
            p_values[place] = difference.p
    corrected_p_values, steps = corrected(p_values)
    # Where no difference has a p-value, a change still counts as one test.
    tests = max(len(p_values), 1)

    changes = []
    for place, (pair, difference) in enumerate(zip(pairs, differences, strict=True)):
        if difference is not None:
            difference = replace(difference, tests_at_step=steps.get(place, tests))
        changes.append(_change(pair, difference, corrected_p_values.get(place), tests, draws))
    return tuple(changes)


def units_to_detect(precision: Precision, loss: float, power: float = POWER) -> int:
    """Return how many units like these call a true loss a regression with this power; at least ``MIN_UNITS``.

    It is the smallest number for which z₁₋α/₂ₘ·SE₀ + z_power·SE is at most the loss δ, with m tests in the check, SE
    the standard error of the difference and SE₀² = SE² + δ²/n that of the sign-flip test, which assumes a mean of 0.
    The change of a share must be larger by 2/n, because the sum of n signs moves in steps of two items. And since a
    share of at least δ of the items differs, its SE is at least √(δ(1 − δ)/n). For shares n is the effective number of
    items, for other means the number of units.

    Parameters
    ----------
    precision
        Its ``tests`` is m, its ``error`` that of a difference on its ``units``.
    loss
        Above 0, and above the margin, or else it may pass; in the unit of ``error``.
    """
    normal = NormalDist()
    alpha_per_test = ALPHA / max(precision.tests, 1)
    z_test = normal.inv_cdf(1 - alpha_per_test / 2)
    z_power = normal.inv_cdf(power)

    error = precision.error
    size = float(precision.units)
    step = 0.0
    # Only shares have an effective number of items.
    if precision.effective_items is not None:
        size = precision.effective_items
        smallest_error = math.sqrt(loss * (1 - loss) / size)
        error = max(error, smallest_error)
        step = 2 / precision.items
    error_of_sign_flip = math.sqrt(error**2 + loss**2 / size)
    total = z_test * error_of_sign_flip + z_power * error

    # Errors shrink with the root of the number of units, the step with the number itself. So with g times the units,
    # total/√g + step/g = loss: a quadratic equation in √g.
    discriminant = total**2 + 4 * step * loss
    root_of_growth = (total + math.sqrt(discriminant)) / (2 * loss)
    units = math.ceil(precision.units * root_of_growth**2)
    return max(units, MIN_UNITS)


def _difference(pair: PairedMetric, draws: Draws, other_tests: int) -> PairedDifference | None:
    """Return how much better the new encoder is, with interval and p; below 0 for a loss; None without items.

    Parameters
    ----------
    other_tests
        The number of other tests in the check.
    """
    if pair.correlated is not None:
        correlated = pair.correlated
        rows = compare_correlations(
            correlated.x,
            correlated.ys,
            pair.unit,
            correlated.kind,
            ROLES,
            draws,
            *pair.stream,
            more_tests=other_tests,
        )
    else:
        values = {run: pair.sign * of_run for run, of_run in pair.values.items()}
        rows = compare_means(
            values, pair.unit, ROLES, draws, *pair.stream, of_shares=pair.of_shares, more_tests=other_tests
        )
    if not rows:
        return None
    # Two encoders are one pair, and so one row.
    return rows[0]


def _change(
    pair: PairedMetric, difference: PairedDifference | None, p: float | None, tests: int, draws: Draws
) -> LossTest:
    """Return the change of a metric, from its difference and the p-value corrected for all tests of the check."""
    change = LossTest(
        encoder=pair.encoder,
        diagnostic=pair.diagnostic,
        corpus=pair.corpus,
        metric=pair.metric,
        outcome="inconclusive",
        p=p,
        tests=tests,
        margin=pair.margin,
        lower_is_better=pair.lower_is_better,
        of_shares=pair.of_shares,
        unchanged=pair.unchanged,
        undefined=int(pair.in_one_run.sum()),
        undefined_as=pair.worst,
        since=pair.since,
        anchor_day=pair.anchor_day,
    )
    if difference is None or difference.difference is None:
        return change

    # (n,) by how much each item became better; below 0 for a loss.
    gains = pair.sign * (pair.values[NEW] - pair.values[OLD])
    if pair.of_shares:
        test = share_not_worse(gains, pair.unit, pair.margin, p=p, same_encoder=pair.unchanged)
        lost = tuple(pair.item[gains <= -FLIPPED].tolist())
        gained = tuple(pair.item[gains >= FLIPPED].tolist())
        change = replace(change, lost=lost, gained=gained)
    else:
        test = mean_not_worse(gains, pair.unit, pair.margin, draws, *pair.stream, p=p, same_encoder=pair.unchanged)
    has_interval = difference.low is not None
    # Where a few items decide a correlation, it has no interval, and no loss of it is ruled out.
    outcome = OUTCOMES[test.outcome] if has_interval or pair.unchanged else "inconclusive"
    low, high = difference.low, difference.high
    if low is not None and high is not None:
        if p is not None:
            low, high = corrected_interval(low, high, difference.difference, p, tests)
        # A gain is a fall where lower is better, which swaps the limits of its interval.
        low, high = sorted((_signed(pair, low), _signed(pair, high)))
    return replace(
        change,
        outcome=outcome,
        old=_value(pair, OLD),
        new=_value(pair, NEW),
        change=_signed(pair, difference.difference),
        low=low,
        high=high,
        smallest_loss=_smallest_loss(pair, difference),
        items=difference.items,
        units=difference.units,
        units_needed=test.units_needed,
        possible_margin=possible_margin(pair.unit[~np.isnan(gains)]) if pair.of_shares else None,
        ruled_out=test.smallest_margin if has_interval or pair.unchanged else None,
    )


def _value(pair: PairedMetric, run: str) -> float:
    """Return the mean or the correlation in one run; a correlation is that of the items with a value in both."""
    correlated = pair.correlated
    if correlated is None:
        return mean_of(pair.values[run])
    # A sum with a NaN in it is NaN.
    in_both = ~np.isnan(correlated.x + correlated.ys[OLD] + correlated.ys[NEW])
    return correlation(correlated.x[in_both], correlated.ys[run][in_both], correlated.kind)


def _signed(pair: PairedMetric, gain: float) -> float:
    """Return by how much a metric rose, from how much better it became."""
    # Adding 0 makes −0.0 a 0.0, which is printed without a sign.
    return pair.sign * gain + 0.0


def _smallest_loss(pair: PairedMetric, difference: PairedDifference) -> float | None:
    """Return the smallest true loss that is significant with a power of 80 %, above 0; None where unknown.

    The test is the two-sided one of the check, at its step of Holm's correction over all tests of the check. It does
    not use the margin.
    """
    if difference.units < MIN_UNITS:
        return None
    precision = precision_of_pair(difference, pair.values, pair.unit, of_shares=pair.of_shares)
    if precision is None:
        return None
    return precision.minimum_detectable_difference
