"""Which candidates may be the best, and which ranks each may have.

The best set is the set of candidates that a multiple comparison with the best does not exclude (Hsu 1996; the
confidence set for the first rank of Mogstad, Romano, Shaikh & Wilhelm 2024): the true best is in it with a confidence
of 95 %. Rank intervals hold for all candidates at once with the same confidence. Both come from the same random
exchanges of whole units between all candidates.

The two answer different questions. That a candidate may have rank 1 by its rank interval, and still is not in the best
set, is no contradiction: the best set is about the first rank only, and one-sided, so it excludes more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from embassay.randomness import generator
from embassay.result import MIN_UNITS
from embassay.stats.correlate import Kind, correlation, influences
from embassay.stats.exchange import MAX_SHARE, coefficient, correlation_sums
from embassay.stats.permutation import ALPHA, ROUNDING, monte_carlo_interval, random_signs
from embassay.stats.units import Bools, Floats, Ints
from embassay.types import Draws

MAX_UNDEFINED = 0.05
"""A candidate with a larger share of undefined items is left out, so that it does not cost the others their items."""
ROUNDS = (9_999, 49_999)
"""How many patterns have been drawn after each round; the second one only where the first does not decide."""
BLOCK = 2**20
"""Numbers that are held at once: 8 MB."""


@dataclass(frozen=True)
class Standings:
    """What may be said about the ranks of candidates.

    Attributes
    ----------
    best_set
        The candidates that may be the best, highest value first; every other one is significantly worse than some
        candidate. Empty where there is no verdict; ``reason`` then says why.
    rank_low, rank_high
        The best and the worst rank that each candidate may have; empty where there is no verdict.
    values
        The value of each candidate on the items that are defined for all of them, highest first.
    left_out
        Candidates that are undefined for more than 5 % of the items; they have neither rank nor value here.
    undefined_as_wrong
        The value of each candidate, those left out included, when every undefined item counts as wrong.
    items, units
        The common items and their units.
    """

    best_set: tuple[str, ...] = ()
    rank_low: Mapping[str, int] = field(default_factory=dict)
    rank_high: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    undefined_as_wrong: Mapping[str, float] = field(default_factory=dict)
    items: int = 0
    units: int = 0
    reason: str | None = None


def rank_means(
    values: Mapping[str, Floats],
    unit: Ints,
    draws: Draws,
    *purpose: str,
    fold: Ints | None = None,
    wrong: float | None = 0.0,
) -> Standings:
    """Rank candidates by the mean of their items.

    With d_u the sum of j − i over the items of unit u, T_i is the maximum over j of Σ d_u/√(Σ d_u²). Candidate i is
    kept unless T_i is beyond the 95 % quantile of the same maximum when units are flipped for all candidates together.
    For the ranks, the maximum is taken over all pairs, on both sides.

    Parameters
    ----------
    values
        The (n,) item values of each candidate, all in the same order of items; NaN is undefined, higher is better.
    unit
        (n,) unit codes from 0.
    purpose
        Names the random stream.
    fold
        (n,) fold codes from 0, where the value is a mean over folds that all have the same weight.
    wrong
        What an undefined item counts as when it counts as wrong; None where nothing is right or wrong.
    """
    common = _CommonItems.of(values)
    inside = unit[common.mask]
    weight = _weights(common.mask.sum(), None if fold is None else fold[common.mask])
    weighted = {name: values[name][common.mask] * weight for name in common.candidates}
    level = {name: float(items.sum() / weight.sum()) for name, items in weighted.items() if len(items)}
    standings = _before_ranking(common, level, inside)
    if wrong is not None:
        standings = replace(standings, undefined_as_wrong=_as_wrong(values, common.defined_for_any, fold, wrong))
    if standings.reason:
        return standings
    sums = _unit_sums([weighted[name] for name in standings.values], inside)
    return _ranked(standings, JointFlips.of(sums), draws, *purpose)


def rank_correlations(
    x: Floats, ys: Mapping[str, Floats], unit: Ints, kind: Kind, draws: Draws, *purpose: str
) -> Standings:
    """Rank candidates by their correlation with x.

    As :func:`rank_means`, but the standardised ranks of whole units are exchanged, between all candidates together; see
    :mod:`embassay.stats.exchange`.

    Returns
    -------
    No verdict where one unit holds more than a third of the items. A candidate whose values do not vary is left out.
    """
    common = _CommonItems.of({name: y + 0 * x for name, y in ys.items()})
    of_x, inside = x[common.mask], unit[common.mask]
    level = {name: correlation(of_x, ys[name][common.mask], kind) for name in common.candidates}
    defined = {name: r for name, r in level.items() if not np.isnan(r)}
    common = replace(common, left_out=(*common.left_out, *(name for name in level if name not in defined)))
    standings = _before_ranking(common, defined, inside)
    if standings.reason is None and np.bincount(inside).max() > MAX_SHARE * len(inside):
        standings = replace(standings, reason="one unit holds more than a third of the items")
    if standings.reason:
        return standings
    columns = [ys[name][common.mask] for name in standings.values]
    units = int(inside.max()) + 1
    sums = np.stack([correlation_sums(of_x, y, inside, units, kind) for y in columns], axis=2)
    spread = _unit_sums([influences(of_x, y, kind) for y in columns], inside)
    return _ranked(standings, JointExchange(sums, _lengths(spread) / len(inside), len(inside)), draws, *purpose)


@dataclass(frozen=True)
class JointFlips:
    """Flips of whole units for all candidates together.

    Attributes
    ----------
    sums
        (units, K) the sum of each candidate's items in each unit.
    scale
        (K, K) √(Σ d_u²) for each pair; infinite for identical ones, which never differ.
    """

    sums: Floats
    scale: Floats

    @classmethod
    def of(cls, sums: Floats) -> JointFlips:
        """Take the scale from the sums themselves."""
        return cls(sums, _lengths(sums))

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.sums)

    def gaps(self, signs: Floats) -> Floats:
        """Return (b, K, K): by how much the second candidate is above the first under (b, units) signs."""
        flipped = signs @ self.sums
        return np.asarray((flipped[:, None, :] - flipped[:, :, None]) / self.scale)


@dataclass(frozen=True)
class JointExchange:
    """Exchanges of whole units' standardised ranks between all pairs of candidates.

    Attributes
    ----------
    sums
        (3, units, K); see :func:`~embassay.stats.exchange.correlation_sums`.
    scale
        (K, K) about the standard error of each pair's difference; infinite for identical ones.
    items
        Their number.
    """

    sums: Floats
    scale: Floats
    items: int

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.sums.shape[1])

    def gaps(self, signs: Floats) -> Floats:
        """Return (b, K, K): by how much the second coefficient is above the first where −1 exchanges a unit."""
        total = self.sums.sum(axis=1)
        middle = (total[:, None, :] + total[:, :, None])[:, None] / 2
        flipped = np.stack([signs @ sums for sums in self.sums])
        moved = (flipped[:, :, None, :] - flipped[:, :, :, None]) / 2
        second, first = (coefficient(middle + side * moved, self.items) for side in (1, -1))
        return np.asarray((second - first) / self.scale)


@dataclass(frozen=True)
class _CommonItems:
    """The items that candidates are ranked on.

    Attributes
    ----------
    candidates, left_out
        Those that take part, and those that are undefined for too many items.
    mask
        (n,) the items defined for all that take part.
    defined_for_any
        (n,) the items defined for any candidate.
    """

    candidates: tuple[str, ...]
    left_out: tuple[str, ...]
    mask: Bools
    defined_for_any: Bools

    @classmethod
    def of(cls, values: Mapping[str, Floats]) -> _CommonItems:
        if not values:
            nothing = np.zeros(0, dtype=bool)
            return cls((), (), nothing, nothing)
        defined = {name: ~np.isnan(items) for name, items in values.items()}
        of_any = np.logical_or.reduce(list(defined.values()))
        most = MAX_UNDEFINED * of_any.sum()
        candidates = tuple(name for name, d in defined.items() if d.any() and (of_any & ~d).sum() <= most)
        left_out = tuple(name for name in values if name not in candidates)
        return cls(candidates, left_out, np.logical_and.reduce([of_any, *(defined[n] for n in candidates)]), of_any)


class _Joint(Protocol):
    @property
    def units(self) -> int: ...

    def gaps(self, signs: Floats) -> Floats: ...


def _before_ranking(common: _CommonItems, level: Mapping[str, float], unit: Ints) -> Standings:
    """Return the values, highest first, with the reason if there is to be no verdict."""
    ordered = sorted(level, key=lambda name: -level[name])
    units = len(np.unique(unit))
    reason = None
    if not ordered:
        reason = "no candidate is defined for 95% of the items"
        if common.candidates:
            reason = "no item is defined for all candidates" if not len(unit) else "the values of no candidate vary"
    elif units < MIN_UNITS:
        reason = f"that takes {MIN_UNITS} independent units; there are {units}"
    return Standings(
        values={name: level[name] for name in ordered},
        left_out=common.left_out,
        items=len(unit),
        units=units,
        reason=reason,
    )


def _ranked(standings: Standings, joint: _Joint, draws: Draws, *purpose: str) -> Standings:
    """Return the standings with the best set and the rank intervals."""
    names = list(standings.values)
    observed = joint.gaps(np.ones((1, joint.units)))[0]
    below_best, differ = _extremes(observed, joint, draws, *purpose)
    better = (differ & (observed > 0)).sum(axis=1)
    worse = (differ & (observed < 0)).sum(axis=1)
    return replace(
        standings,
        best_set=tuple(name for name, below in zip(names, below_best, strict=True) if not below),
        rank_low={name: 1 + int(above) for name, above in zip(names, better, strict=True)},
        rank_high={name: len(names) - int(under) for name, under in zip(names, worse, strict=True)},
    )


def _extremes(observed: Floats, joint: _Joint, draws: Draws, *purpose: str) -> tuple[Bools, Bools]:
    """Return (K,) which candidates are significantly below another, and (K, K) which pairs differ significantly.

    What the last round leaves undecided is not significant: chance excludes no candidate.
    """
    size = len(observed)
    highest = observed.max(axis=1) - ROUNDING
    distance = np.abs(observed) - ROUNDING
    # How many patterns are as extreme: first for each candidate, then for each pair.
    extreme = np.zeros(size + size * size, dtype=np.int64)
    stream = generator(draws.seed, "ranks", *purpose)
    block = max(1, BLOCK // max(joint.units, size * size))
    low, high = np.zeros(len(extreme)), np.ones(len(extreme))
    for number, before in zip(ROUNDS, (0, *ROUNDS), strict=False):
        for signs in random_signs(stream, joint.units, number - before, block):
            flipped = joint.gaps(signs)
            largest = np.sort(flipped.max(axis=(1, 2)))
            extreme[:size] += (flipped.max(axis=2) >= highest).sum(axis=0)
            extreme[size:] += len(largest) - np.searchsorted(largest, distance.ravel())
        low, high = monte_carlo_interval(extreme, number)
        if not ((low <= ALPHA) & (high > ALPHA)).any():
            break
    significant = high <= ALPHA
    return significant[:size], significant[size:].reshape(size, size)


def _lengths(sums: Floats) -> Floats:
    """Return the (K, K) √(Σ d_u²) of all pairs of columns of (units, K) sums; infinite where it is rounding only."""
    squares = np.stack([((sums - column[:, None]) ** 2).sum(axis=0) for column in sums.T])
    largest = (sums * sums).sum(axis=0)
    rounding = (ROUNDING**2) * np.maximum(largest[:, None], largest[None, :])
    return np.sqrt(np.where(squares > rounding, squares, np.inf))


def _unit_sums(columns: Sequence[Floats], unit: Ints) -> Floats:
    """Return the (units, k) sums of columns without undefined items."""
    return np.stack([np.bincount(unit, weights=column) for column in columns], axis=1).astype(np.float64)


def _weights(items: int, fold: Ints | None) -> Floats:
    """Return (items,) weights: equal ones, or those that give each fold the same weight."""
    return np.ones(items) if fold is None else 1 / np.bincount(fold)[fold]


def _as_wrong(values: Mapping[str, Floats], inside: Bools, fold: Ints | None, wrong: float) -> dict[str, float]:
    """Return each candidate's mean with the undefined items counted as wrong, highest first."""
    weight = _weights(int(inside.sum()), None if fold is None else fold[inside])
    level = {
        name: float((np.where(np.isnan(items), wrong, items)[inside] * weight).sum() / weight.sum())
        for name, items in values.items()
        if len(weight)
    }
    return dict(sorted(level.items(), key=lambda pair: -pair[1]))
