"""Comparisons of correlations: the standardised ranks of whole units are exchanged between two encoders.

A correlation is no mean over items, so there is no difference whose sign could be flipped. Instead the two encoders'
standardised values (ranks, for Spearman) change places in some of the units, and both coefficients are computed again
from the mixed values. The coefficient is a function of sums over units, so a pattern costs three sums for each unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.correlate import DIGITS, MIN_ITEMS, Kind, bootstrap, correlation, standardised
from embassay.stats.families import Gap, PairedDifference, Roles, answer, pairs_of
from embassay.stats.permutation import MAX_ENUMERATED, ROUNDING, PValue
from embassay.stats.resample import percentiles, tail, too_few, undefined_estimate
from embassay.stats.units import Bools, Floats, Ints
from embassay.types import Draws

MAX_SHARE = 1 / 3
"""Where one unit holds a larger share of the items there is no p-value: exchanging it decides the coefficients."""


def correlation_sums(x: Floats, y: Floats, unit: Ints, units: int, kind: Kind) -> Floats:
    """Return what the correlation of y with x is computed from, unit by unit.

    Parameters
    ----------
    x, y
        (n,) the items of one pair of encoders, all defined; both sides vary.

    Returns
    -------
    (3, units): the sums of z_x·z_y, of z_y and of z_y² over the items of each unit, z standardised over all items.
    """
    zx = standardised(x, kind)
    zy = standardised(y, kind)
    sums = [np.bincount(unit, weights=values, minlength=units) for values in (zx * zy, zy, zy * zy)]
    return np.stack(sums)


def coefficient(sums: Floats, items: Ints | int) -> Floats:
    """Return correlations from the sums of :func:`correlation_sums`, added up over units.

    With n items, m = Σz_y/n and x standardised: r = (Σz_x·z_y/n)/√(Σz_y²/n − m²).

    Parameters
    ----------
    sums
        (3, …).
    items
        n; its shape must fit the last axes of the sums.

    Returns
    -------
    (…); 0 where the mixed values do not vary.
    """
    products, values, squares = sums / items
    variance = squares - values * values
    varies = variance > ROUNDING * squares
    return np.where(varies, products / np.sqrt(np.where(varies, variance, 1.0)), 0.0)


@dataclass(frozen=True)
class CorrelationExchange:
    """The permutation tests of k pairs: |r_a − r_b| after the two have changed places in some units.

    Attributes
    ----------
    halves
        (3, units, k) half the difference of the two encoders' sums: what a sign moves from one to the other.
    middle
        (3, k) half the total of both: what no sign moves.
    items
        (k,) the number of items of each pair.
    """

    halves: Floats
    middle: Floats
    items: Ints

    @classmethod
    def of(cls, first: Floats, second: Floats, items: Ints) -> CorrelationExchange:
        """Make the tests from the (3, units, k) sums of either side; see :func:`correlation_sums`."""
        return cls((first - second) / 2, (first + second).sum(axis=1) / 2, items)

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.halves.shape[1])

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.halves.shape[2])

    def without_drawing(self, pair: int) -> PValue | None:
        """Return the p-value of a pair from all patterns of the units that differ, at most 20; else None."""
        halves = self.halves[:, :, pair]
        moving = halves[:, np.abs(halves).max(axis=0) > 0]
        if moving.shape[1] > MAX_ENUMERATED:
            return None
        # The sign of the first unit is fixed: exchanging all units only swaps the two coefficients.
        moved = np.zeros((3, 1)) if moving.shape[1] == 0 else moving[:, :1]
        for place in range(1, moving.shape[1]):
            step = moving[:, place, None]
            moved = np.concatenate([moved + step, moved - step], axis=1)
        pairs = np.array([pair])
        distances = self._distances(moved[:, :, None], pairs)[:, 0]
        return PValue(float((distances >= self._threshold(pairs)).mean()), "enumerated")

    def extreme(self, signs: Floats, pairs: Ints) -> Ints:
        """Return in how many patterns each of these pairs has coefficients as far apart as the observed ones."""
        moved = np.stack([signs @ sums for sums in self.halves[:, :, pairs]])
        at_least = self._distances(moved, pairs) >= self._threshold(pairs)
        return np.asarray(at_least.sum(axis=0), dtype=np.int64)

    def _distances(self, moved: Floats, pairs: Ints) -> Floats:
        """Return the (b, k) |r_a − r_b| for (3, b, k) sums that have moved."""
        middle = self.middle[:, None, pairs]
        items = self.items[pairs]
        first = coefficient(middle + moved, items)
        second = coefficient(middle - moved, items)
        return np.abs(first - second)

    def _threshold(self, pairs: Ints) -> Floats:
        """Return the (k,) observed differences, less what rounding may add."""
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
) -> tuple[PairedDifference, ...]:
    """Compare the correlations of encoders with x: one row for each question, family by family.

    Each pair is compared on the items defined for both: the difference of the coefficients, its percentile interval
    over units (both resampled with the same counts), and the p-value of exchanging the two in whole units.

    Parameters
    ----------
    x
        (n,) for example the human scores; NaN is undefined.
    ys
        The (n,) values of each encoder.
    unit
        (n,) unit codes from 0.

    Returns
    -------
    No p where one unit holds more than a third of the items.
    """
    coefficients = {name: correlation(x, y, kind) for name, y in ys.items()}
    questions = roles.questions(coefficients)
    common = {(a, b): ~np.isnan(x + ys[a] + ys[b]) for a, b in pairs_of(questions, ys)}
    replicates = _Replicates(x, ys, unit, kind, draws, purpose)
    gaps = {pair: _gap(pair, mask, replicates) for pair, mask in common.items()}
    units = int(unit.max(initial=-1)) + 1

    def exchange(places: list[int]) -> CorrelationExchange:
        pairs = list(common)
        first, second, items = [], [], []
        for place in places:
            a, b = pairs[place]
            mask = common[a, b]
            first.append(correlation_sums(x[mask], ys[a][mask], unit[mask], units, kind))
            second.append(correlation_sums(x[mask], ys[b][mask], unit[mask], units, kind))
            items.append(int(mask.sum()))
        return CorrelationExchange.of(np.stack(first, axis=2), np.stack(second, axis=2), np.array(items))

    return answer(questions, gaps, exchange, draws, *purpose)


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
        self.x, self.ys, self.unit, self.kind = x, ys, unit, kind
        self._draws, self._purpose = draws, purpose
        self._kept: dict[tuple[str, bytes], Floats] = {}

    def of(self, name: str, mask: Bools) -> Floats:
        """Return the (resamples,) correlations of an encoder on these items."""
        key = (name, np.packbits(mask).tobytes())
        if key not in self._kept:
            masked = np.where(mask, self.x, np.nan)
            self._kept[key] = bootstrap(masked, self.ys[name], self.unit, self.kind, self._draws, *self._purpose)
        return self._kept[key]


def _gap(pair: tuple[str, str], mask: Bools, replicates: _Replicates) -> Gap:
    """Return the difference of two correlations on common items, with its percentile interval over units."""
    a, b = pair
    x, kind = replicates.x[mask], replicates.kind
    r_a = correlation(x, replicates.ys[a][mask], kind)
    r_b = correlation(x, replicates.ys[b][mask], kind)
    difference = round(r_a - r_b, DIGITS)
    items = int(mask.sum())
    undefined = len(mask) - items
    if items < MIN_ITEMS or np.isnan(difference):
        return Gap(undefined_estimate(len(mask)), None)

    # Rounded, so that two encoders in the same order differ by nothing.
    drawn = np.round(replicates.of(a, mask) - replicates.of(b, mask), DIGITS)
    defined = drawn[~np.isnan(drawn)]
    sizes = np.bincount(replicates.unit[mask])
    units = int(np.count_nonzero(sizes))
    error = float(defined.std(ddof=1)) if units > 1 and len(defined) > 1 else None

    estimate = Estimate(difference, None, None, items, units, undefined)
    if units < MIN_UNITS:
        estimate = Estimate(difference, None, None, items, units, undefined, too_few(units))
    elif len(defined):
        low, high = percentiles(drawn[:, None], np.array([tail(sizes.astype(np.float64))]))
        estimate = Estimate(difference, float(low[0]), float(high[0]), items, units, undefined)
    return Gap(estimate, error, testable=bool(sizes.max() <= MAX_SHARE * items))
