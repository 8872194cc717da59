"""Which differences between encoders are real: paired, over units, corrected for their number.

A pair is compared on the items that are defined for both. Under the null hypothesis the two are
exchangeable within a unit, so the sign of a whole unit's difference is flipped (Fisher's randomisation;
Phipson & Smyth 2010 for p = (1 + extreme)/(1 + B), which is never 0). Holm (1979) corrects within a family.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from embassay.result import Estimate
from embassay.stats.resample import means, signs
from embassay.stats.units import Floats, ratio_variance, unit_sums
from embassay.types import Draws

ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True)
class Difference:
    """The mean of a minus the mean of b on the same items.

    Attributes
    ----------
    difference, low, high
        None when no item is defined for both; no interval under ``MIN_UNITS`` units.
    p, p_holm
        Two-sided permutation p, as it is and after Holm over the family; never 0.
    error
        The standard error of the difference over units; None for fewer than two units.
    """

    a: str
    b: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    items: int
    units: int
    error: float | None


def compare(
    values: Mapping[str, Floats], unit: NDArray[np.int64], draws: Draws, *purpose: str, of_shares: bool = False
) -> tuple[Difference, ...]:
    """Compare all pairs of encoders; one call is one family.

    Parameters
    ----------
    values
        The (n,) item values of each encoder, all in the same order of items; NaN is undefined.
    unit
        (n,) unit codes.
    purpose
        Names the random streams; every pair is resampled with the same counts.
    of_shares
        Whether the values are yes and no (or shares of them); see ``differences`` of
        :func:`~embassay.stats.resample.means`.
    """
    pairs = list(combinations(values, 2))
    if not pairs or len(unit) == 0:
        return ()
    gaps = np.stack([values[a] - values[b] for a, b in pairs], axis=1)
    p = permutation_p(gaps, unit, draws, *purpose)
    estimates = means([gaps], unit, draws, *purpose, differences=np.full(len(pairs), of_shares))[0]
    found = [_difference(pair, gap, unit, e, q) for pair, gap, e, q in zip(pairs, gaps.T, estimates, p, strict=True)]
    return corrected(found)


def corrected(family: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return the differences of one family with their p after Holm; those without a p do not count in it."""
    adjusted = iter(holm([d.p for d in family if d.p is not None]))
    return tuple(d if d.p is None else replace(d, p_holm=next(adjusted)) for d in family)


def permutation_p(gaps: Floats, unit: NDArray[np.int64], draws: Draws, *purpose: str) -> Floats:
    """Return the (k,) two-sided p of the null hypothesis that the mean of each column is 0.

    p = (1 + #{as extreme})/(1 + B), B = max(9,999, 400·k), signs flipped by whole units, the same signs
    for all columns. "As extreme" forgives 1e-9 of Σ|unit sums|, so that rounding decides nothing.
    """
    sums, _ = unit_sums(gaps, unit)
    number = max(9_999, 400 * gaps.shape[1])
    bar = np.abs(sums.sum(axis=0)) - 1e-9 * np.abs(sums).sum(axis=0)
    extreme = sum((np.abs(block @ sums) >= bar).sum(axis=0) for block in signs(len(sums), number, draws, *purpose))
    return np.asarray((1.0 + extreme) / (1 + number), dtype=np.float64)


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return Holm's adjusted p-values, in the order given: p(i) → max over j ≤ i of (m − j + 1)·p(j), at most 1."""
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(float(v) for v in adjusted)


def not_separable(best: str, candidates: Sequence[str], differences: Sequence[Difference]) -> tuple[str, ...]:
    """Return the candidates whose difference from the best is not significant after Holm, best first."""
    real = {
        name
        for d in differences
        if best in (d.a, d.b) and d.p_holm is not None and d.p_holm < ALPHA
        for name in (d.a, d.b)
    }
    return (best, *(name for name in candidates if name != best and name not in real))


def smallest_difference(error: float, worth: float | None, pairs: int = 1) -> float:
    """Return the true difference that is found in 80 % of corpora like this one.

    z·error; for shares, given n, how many independent items they are worth, max(z·error, z²/(n + z²)).
    z = z₁₋α/₂ₘ + z₀.₈, α = 0.05, m the number of pairs in the family (Holm's first step). From the spread of the
    differences only, never from the observed difference. The second term holds where the encoders hardly differ: a gap
    of δ needs at least a share δ of discordant items, whose standard error is √(δ(1 − δ)/n).
    """
    z = _z(pairs)
    return z * error if worth is None else max(z * error, z * z / (worth + z * z))


def units_needed(difference: float, error: float, units: int, pairs: int = 1) -> int:
    """Return how many units would show a difference of shares in 80 % of such corpora; the user names it.

    The least number u for which z·error·√(units/u) and z²/(u + z²) are both at most the difference (see
    :func:`smallest_difference`). Never from the observed difference.

    Parameters
    ----------
    difference
        Above 0.
    error, units
        The standard error of a difference as it is, and the units that it rests on.
    """
    z = _z(pairs)
    return math.ceil(max(units * (z * error / difference) ** 2, z * z * (1 - difference) / difference))


def _z(pairs: int) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - ALPHA / (2 * max(pairs, 1))) + normal.inv_cdf(POWER)


def _difference(
    pair: tuple[str, str], gap: Floats, unit: NDArray[np.int64], estimate: Estimate, p: float
) -> Difference:
    if estimate.value is None:
        return Difference(*pair, None, None, None, None, None, 0, 0, None)
    defined = ~np.isnan(gap)
    return Difference(
        *pair,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        p=float(p),
        p_holm=None,
        items=estimate.items,
        units=estimate.units,
        error=ratio_variance(gap[defined], unit[defined]) ** 0.5 if estimate.units > 1 else None,
    )
