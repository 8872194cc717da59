"""Permutation tests of two correlations: standardised values of whole units are exchanged between two encoders.

A correlation is not a mean over items, so a test cannot flip the signs of differences. Instead the two encoders'
standardised values (ranks, for Spearman) are exchanged in a random subset of units, and both coefficients are computed
again from the mixed values. A coefficient is a function of three sums over units, so no item is visited again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.correlate import DIGITS, MIN_ITEMS, Kind, bootstrap, correlation, heavy_tails, standardised
from embassay.stats.families import Gap, PairedDifference, Roles, answer, pairs_of
from embassay.stats.permutation import MAX_ENUMERATED, ROUNDING, PValue
from embassay.stats.resample import percentiles, tail, too_few, undefined_estimate
from embassay.stats.units import Bools, Floats, Ints
from embassay.types import Draws

MAX_SHARE = 1 / 3
"""There is no p-value if one unit holds a larger share of the items: its exchange alone would decide the test."""


def correlation_sums(x: Floats, y: Floats, unit: Ints, units: int, kind: Kind) -> Floats:
    """Return the sums over units from which :func:`coefficient` computes the correlation of y with x.

    Parameters
    ----------
    x, y
        (n,) the items of one pair of encoders, all defined; neither x nor y is constant.

    Returns
    -------
    (3, units): the sums of z_x·z_y, of z_y and of z_y² over the items of each unit, z standardised over all items.
    """
    zx = standardised(x, kind)
    zy = standardised(y, kind)
    terms = (zx * zy, zy, zy * zy)
    sums = [np.bincount(unit, weights=values, minlength=units) for values in terms]
    return np.stack(sums)


def coefficient(sums: Floats, items: Ints | int) -> Floats:
    """Return correlations from the sums of :func:`correlation_sums`, added over units.

    With n items, m = Σz_y/n and x standardised: r = (Σz_x·z_y/n)/√(Σz_y²/n − m²).

    Parameters
    ----------
    sums
        (3, …).
    items
        n; its shape must fit the last axes of the sums.

    Returns
    -------
    (…) in [-1, 1] up to rounding; 0 where the mixed values do not vary.
    """
    mean_product, mean, mean_square = sums / items
    variance = mean_square - mean * mean
    varies = variance > ROUNDING * mean_square
    # 1 in place of a variance of 0, so that nothing is divided by 0; the result is 0 there.
    deviation = np.sqrt(np.where(varies, variance, 1.0))
    return np.where(varies, mean_product / deviation, 0.0)


@dataclass(frozen=True)
class CorrelationExchange:
    """The permutation tests of k pairs, with the statistic |r_a − r_b| after an exchange of some units.

    A pattern has a sign s_u of +1 (kept) or −1 (exchanged) for each unit. With h = ``halves`` and m = ``middle``, the
    mixed sums of the two encoders are m + Σ_u s_u·h_u and m − Σ_u s_u·h_u.

    Attributes
    ----------
    halves
        (3, units, k) half the difference of the two encoders' sums in each unit.
    middle
        (3, k) half the total of both encoders' sums, which no exchange changes.
    items
        (k,) the number of items of each pair.
    """

    halves: Floats
    middle: Floats
    items: Ints

    @classmethod
    def of(cls, first: Floats, second: Floats, items: Ints) -> CorrelationExchange:
        """Make the tests from the (3, units, k) sums of the two encoders of each pair; see :func:`correlation_sums`."""
        halves = (first - second) / 2
        middle = (first + second).sum(axis=1) / 2
        return cls(halves, middle, items)

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.halves.shape[1])

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.halves.shape[2])

    def without_drawing(self, pair: int) -> PValue | None:
        """Return the p-value of a pair from all patterns of the units that differ; None if more than 20 differ."""
        halves = self.halves[:, :, pair]
        differs = np.abs(halves).max(axis=0) > 0
        differing = halves[:, differs]
        number = differing.shape[1]
        if number > MAX_ENUMERATED:
            return None

        # Σ s_u·h_u of all patterns. The sign of the first unit is fixed: exchanging all units only swaps the two
        # coefficients.
        moved = np.zeros((3, 1))
        if number:
            moved = differing[:, :1]
        for place in range(1, number):
            half = differing[:, place, None]
            moved = np.concatenate([moved + half, moved - half], axis=1)

        pairs = np.array([pair])
        distances = self._distances(moved[:, :, None], pairs)[:, 0]
        extreme = distances >= self._threshold(pairs)
        return PValue(float(extreme.mean()), "enumerated")

    def extreme(self, signs: Floats, pairs: Ints) -> Ints:
        """Return (k,) in how many of (b, units) patterns the coefficients are at least as far apart as observed."""
        moved = np.stack([signs @ sums for sums in self.halves[:, :, pairs]])
        at_least = self._distances(moved, pairs) >= self._threshold(pairs)
        return np.asarray(at_least.sum(axis=0), dtype=np.int64)

    def _distances(self, moved: Floats, pairs: Ints) -> Floats:
        """Return the (b, k) |r_a − r_b| for the (3, b, k) sums Σ_u s_u·h_u of b patterns."""
        middle = self.middle[:, None, pairs]
        items = self.items[pairs]
        first = coefficient(middle + moved, items)
        second = coefficient(middle - moved, items)
        return np.abs(first - second)

    def _threshold(self, pairs: Ints) -> Floats:
        """Return the (k,) observed |r_a − r_b|, less an allowance for rounding."""
        observed = self.halves[:, :, pairs].sum(axis=1)
        return np.asarray(self._distances(observed[:, None, :], pairs)[0] - ROUNDING)


def compare_correlations(
    x: Floats,
    ys: Mapping[str, Floats],
    unit: Ints,
    kind: Kind,
    roles: Roles,
    draws: Draws,
    *purpose: str,
    more_tests: int = 0,
) -> tuple[PairedDifference, ...]:
    """Compare the correlations of encoders with x: one row for each question, family by family.

    Each pair is compared on the items defined for both. A row has the difference of the coefficients, its percentile
    interval over units (both resampled with the same counts), and the p-value of exchanging whole units.

    Parameters
    ----------
    x
        (n,) for example the human scores; NaN is undefined.
    ys
        The (n,) values of each encoder.
    unit
        (n,) unit codes from 0.
    more_tests
        See :func:`~embassay.stats.families.answer`.

    Returns
    -------
    The rows; one without p-value where one unit holds more than a third of the items.
    """
    coefficients = {name: correlation(x, y, kind) for name, y in ys.items()}
    questions = roles.questions(coefficients)
    pairs = pairs_of(questions, ys)
    # Which items are defined for x and both encoders: a sum with NaN is NaN.
    common = {(a, b): ~np.isnan(x + ys[a] + ys[b]) for a, b in pairs}
    replicates = _Replicates(x, ys, unit, kind, draws, purpose)
    gaps = {pair: _gap(pair, mask, replicates) for pair, mask in common.items()}
    units = int(unit.max(initial=-1)) + 1

    def exchange(places: list[int]) -> CorrelationExchange:
        first, second, items = [], [], []
        for place in places:
            a, b = pairs[place]
            mask = common[a, b]
            common_x, common_unit = x[mask], unit[mask]
            y_a, y_b = ys[a][mask], ys[b][mask]
            # Ranks are taken among the common items, not among all of them.
            first.append(correlation_sums(common_x, y_a, common_unit, units, kind))
            second.append(correlation_sums(common_x, y_b, common_unit, units, kind))
            items.append(int(mask.sum()))
        first_sums = np.stack(first, axis=2)
        second_sums = np.stack(second, axis=2)
        return CorrelationExchange.of(first_sums, second_sums, np.array(items))

    return answer(questions, gaps, exchange, draws, *purpose, more_tests=more_tests)


class _Replicates:
    """Bootstrap replicates of the encoders' correlations, computed once for each set of common items."""

    def __init__(
        self,
        x: Floats,
        ys: Mapping[str, Floats],
        unit: Ints,
        kind: Kind,
        draws: Draws,
        purpose: tuple[str, ...],
    ) -> None:
        self.x = x
        self.ys = ys
        self.unit = unit
        self.kind = kind
        self._draws = draws
        self._purpose = purpose
        self._replicates = dict[tuple[str, bytes], Floats]()

    def of(self, name: str, mask: Bools) -> Floats:
        """Return the (resamples,) correlations of an encoder on these items."""
        key = (name, np.packbits(mask).tobytes())
        if key in self._replicates:
            return self._replicates[key]
        masked_x = np.where(mask, self.x, np.nan)
        replicates = bootstrap(masked_x, self.ys[name], self.unit, self.kind, self._draws, *self._purpose)
        self._replicates[key] = replicates
        return replicates


def _gap(pair: tuple[str, str], mask: Bools, replicates: _Replicates) -> Gap:
    """Return the difference of two correlations on common items, with its percentile interval over units."""
    a, b = pair
    x, kind = replicates.x[mask], replicates.kind
    y_a, y_b = replicates.ys[a][mask], replicates.ys[b][mask]
    r_a, r_b = correlation(x, y_a, kind), correlation(x, y_b, kind)
    difference = round(r_a - r_b, DIGITS)
    items = int(mask.sum())
    undefined = len(mask) - items
    if items < MIN_ITEMS or np.isnan(difference):
        return Gap(undefined_estimate(len(mask)), None)

    # Rounded, so that two encoders that rank the items in the same way differ by exactly 0.
    drawn = np.round(replicates.of(a, mask) - replicates.of(b, mask), DIGITS)
    defined = drawn[~np.isnan(drawn)]
    sizes = np.bincount(replicates.unit[mask])
    units = int(np.count_nonzero(sizes))
    error = None
    if units > 1 and len(defined) > 1:
        error = float(defined.std(ddof=1))

    estimate = Estimate(difference, None, None, items, units, undefined)
    reason = heavy_tails(kind, x, y_a, y_b)
    if reason:
        return Gap(replace(estimate, reason=reason), error, testable=False)
    if units < MIN_UNITS:
        estimate = replace(estimate, reason=too_few(units))
    elif len(defined):
        tails = np.array([tail(sizes.astype(np.float64))])
        low, high = percentiles(drawn[:, None], tails)
        estimate = replace(estimate, low=float(low[0]), high=float(high[0]))
    no_unit_dominates = sizes.max() <= MAX_SHARE * items
    return Gap(estimate, error, testable=bool(no_unit_dominates))
