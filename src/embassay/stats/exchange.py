"""Comparisons of correlations: the standardised ranks of whole units are exchanged between two encoders.

A correlation is no mean over items, so there is no difference whose sign could be flipped. Instead the two encoders'
standardised values (ranks, for Spearman) change places in some of the units, and both coefficients are computed again
from the mixed values. The coefficient is a function of sums over units, so a pattern costs three sums for each unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.correlate import DIGITS, MIN_ITEMS, Kind, bootstrap, correlation
from embassay.stats.families import Gap, PairedDifference, Roles, answer, pairs_of
from embassay.stats.permutation import MAX_ENUMERATED, ROUNDING, PValue
from embassay.stats.resample import percentiles, tail, too_few, undefined_estimate
from embassay.stats.units import Floats
from embassay.types import Draws

MAX_SHARE = 1 / 3
"""Where one unit holds a larger share of the items there is no p-value: exchanging it decides the coefficients."""


def correlation_sums(x: Floats, y: Floats, unit: NDArray[np.int64], units: int, kind: Kind) -> Floats:
    """Return what the correlation of y with x is computed from, unit by unit.

    Parameters
    ----------
    x, y
        (n,) the items of one pair of encoders, all defined; both sides vary.

    Returns
    -------
    (3, units): the sums of z_x·z_y, of z_y and of z_y² over the items of each unit, z standardised over all items.
    """
    zx, zy = standardised(x, kind), standardised(y, kind)
    return np.stack([np.bincount(unit, weights=v, minlength=units) for v in (zx * zy, zy, zy * zy)])


def standardised(values: Floats, kind: Kind) -> Floats:
    """Return values, or for Spearman their midranks, with mean 0 and variance 1; they must vary."""
    scaled = midranks(values) if kind == "spearman" else values / np.abs(values).max()
    centred = scaled - scaled.mean()
    return np.asarray(centred / np.sqrt((centred * centred).mean()))


def midranks(values: Floats) -> Floats:
    """Return ranks from 1; tied values share the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def coefficient(sums: Floats, items: NDArray[np.int64] | int) -> Floats:
    """Return the correlation from its (3, …) sums: products, values and squares of a side, x being standardised.

    It is 0 where the mixed values do not vary.
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
    items: NDArray[np.int64]

    @classmethod
    def of(cls, first: Floats, second: Floats, items: NDArray[np.int64]) -> CorrelationExchange:
        """Put pairs together from the (3, units, k) sums of either side; see :func:`correlation_sums`."""
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
        moving = self.halves[:, np.abs(self.halves[:, :, pair]).max(axis=0) > 0, pair]
        if moving.shape[1] > MAX_ENUMERATED:
            return None
        moved = np.zeros((3, 1))
        # The first sign stays: exchanging all units only swaps the two coefficients.
        for place, unit in enumerate(moving.T):
            step = unit[:, None]
            moved = moved + step if place == 0 else np.concatenate([moved + step, moved - step], axis=1)
        gaps = self._gaps(moved[:, :, None], np.array([pair]))[:, 0]
        return PValue(float((gaps >= self._bar(np.array([pair]))).mean()), "enumerated")

    def extreme(self, signs: Floats, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in how many patterns each of these pairs has coefficients as far apart as the observed ones."""
        gaps = self._gaps(np.stack([signs @ sums for sums in self.halves[:, :, pairs]]), pairs)
        return np.asarray((gaps >= self._bar(pairs)).sum(axis=0), dtype=np.int64)

    def _gaps(self, moved: Floats, pairs: NDArray[np.int64]) -> Floats:
        """Return the (b, k) |r_a − r_b| for (3, b, k) sums that have moved."""
        middle, items = self.middle[:, None, pairs], self.items[pairs]
        return np.asarray(np.abs(coefficient(middle + moved, items) - coefficient(middle - moved, items)))

    def _bar(self, pairs: NDArray[np.int64]) -> Floats:
        """Return the (k,) observed differences, less what rounding may add."""
        return np.asarray(self._gaps(self.halves[:, :, pairs].sum(axis=1)[:, None, :], pairs)[0] - ROUNDING)


def compare_correlations(
    x: Floats,
    ys: Mapping[str, Floats],
    unit: NDArray[np.int64],
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
    questions = roles.questions({name: correlation(x, y, kind) for name, y in ys.items()})
    common = {(a, b): ~np.isnan(x + ys[a] + ys[b]) for a, b in pairs_of(questions, ys)}
    replicates = _Replicates(x, ys, unit, kind, draws, purpose)
    gaps = {pair: _gap(pair, mask, replicates) for pair, mask in common.items()}
    units = int(unit.max(initial=-1)) + 1

    def exchange(kept: list[int]) -> CorrelationExchange:
        chosen = [list(common.items())[i] for i in kept]
        first, second = (
            np.stack(
                [correlation_sums(x[mask], ys[pair[side]][mask], unit[mask], units, kind) for pair, mask in chosen],
                axis=2,
            )
            for side in (0, 1)
        )
        return CorrelationExchange.of(first, second, np.array([int(mask.sum()) for _, mask in chosen]))

    return answer(questions, gaps, exchange, draws, *purpose)


class _Replicates:
    """Bootstrap replicates of the encoders' correlations, computed once for each set of common items."""

    def __init__(
        self,
        x: Floats,
        ys: Mapping[str, Floats],
        unit: NDArray[np.int64],
        kind: Kind,
        draws: Draws,
        purpose: tuple[str, ...],
    ) -> None:
        self.x, self.ys, self.unit, self.kind = x, ys, unit, kind
        self._draws, self._purpose = draws, purpose
        self._kept: dict[tuple[str, bytes], Floats] = {}

    def of(self, name: str, mask: NDArray[np.bool_]) -> Floats:
        """Return the (resamples,) correlations of an encoder on these items."""
        key = (name, np.packbits(mask).tobytes())
        if key not in self._kept:
            masked = np.where(mask, self.x, np.nan)
            self._kept[key] = bootstrap(masked, self.ys[name], self.unit, self.kind, self._draws, *self._purpose)
        return self._kept[key]


def _gap(pair: tuple[str, str], mask: NDArray[np.bool_], replicates: _Replicates) -> Gap:
    """Return the difference of two correlations on common items, with its percentile interval over units."""
    x, unit, kind = replicates.x[mask], replicates.unit[mask], replicates.kind
    items, undefined = int(mask.sum()), int((~mask).sum())
    first, second = (correlation(x, replicates.ys[name][mask], kind) for name in pair)
    difference = round(first - second, DIGITS)
    if items < MIN_ITEMS or np.isnan(difference):
        return Gap(undefined_estimate(len(mask)), None)
    sizes = np.bincount(unit)
    units = int(np.count_nonzero(sizes))
    # Rounded, so that two encoders in the same order differ by nothing.
    drawn = np.round(replicates.of(pair[0], mask) - replicates.of(pair[1], mask), DIGITS)
    defined = drawn[~np.isnan(drawn)]
    error = float(defined.std(ddof=1)) if units > 1 and len(defined) > 1 else None
    testable = bool(sizes.max() <= MAX_SHARE * items)
    if units < MIN_UNITS:
        return Gap(Estimate(difference, None, None, items, units, undefined, too_few(units)), error, testable)
    (low,), (high,) = percentiles(drawn[:, None], np.array([tail(sizes.astype(np.float64))]))
    if np.isnan(low):
        return Gap(Estimate(difference, None, None, items, units, undefined), error, testable)
    return Gap(Estimate(difference, float(low), float(high), items, units, undefined), error, testable)
