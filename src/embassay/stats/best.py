"""Which candidates may be the best, and which ranks each may have.

The best set holds the candidates that a multiple comparison with the best does not exclude (Hsu 1996; the confidence
set for the first rank of Mogstad, Romano, Shaikh & Wilhelm 2024): the true best is in it with a confidence of 95 %.
Rank intervals hold for all K candidates at once with the same confidence. Both come from the same random exchanges of
whole units between all candidates. With T_ij the standardised difference j − i, observed or after an exchange:

    best set          candidate i is kept unless max_j T_ij is beyond the 95 % quantile of the same maximum
    rank interval     [1 + number significantly better, K − number significantly worse], where i and j differ
                      significantly if |T_ij| is beyond the 95 % quantile of the maximum over all pairs

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
    """The best set and the rank intervals of candidates.

    Attributes
    ----------
    best_set
        The candidates that may be the best, highest value first; every other one is significantly worse than some
        candidate. Empty where there is no verdict; ``reason`` then says why not.
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

    With d_u the sum of j − i over the items of unit u, T_ij = Σ_u d_u / √(Σ_u d_u²). An exchange flips the signs of
    whole units, for all candidates together.

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
    common_unit = unit[common.mask]
    weight = _item_weights(common.mask, fold)
    weighted = {name: values[name][common.mask] * weight for name in common.candidates}
    means = {}
    if len(common_unit):
        means = {name: float(items.sum() / weight.sum()) for name, items in weighted.items()}
    standings = _before_ranking(common, means, common_unit)
    if wrong is not None:
        undefined_as_wrong = _undefined_as_wrong(values, common.defined_for_any, fold, wrong)
        standings = replace(standings, undefined_as_wrong=undefined_as_wrong)
    if standings.reason:
        return standings
    sums = _unit_sums([weighted[name] for name in standings.values], common_unit)
    return _ranked(standings, JointFlips.of(sums), draws, *purpose)


def rank_correlations(
    x: Floats, ys: Mapping[str, Floats], unit: Ints, kind: Kind, draws: Draws, *purpose: str
) -> Standings:
    """Rank candidates by their correlation with x.

    As :func:`rank_means`, but an exchange lets the standardised ranks of whole units change places between candidates,
    see :mod:`embassay.stats.exchange`, and T_ij is the difference of the coefficients over its standard error.

    Returns
    -------
    No verdict where one unit holds more than a third of the items. A candidate whose values do not vary is left out.
    """
    # Adding 0·x makes items undefined for which x is.
    common = _CommonItems.of({name: y + 0 * x for name, y in ys.items()})
    common_x = x[common.mask]
    common_unit = unit[common.mask]
    coefficients = {}
    constant = []
    for name in common.candidates:
        r = correlation(common_x, ys[name][common.mask], kind)
        if np.isnan(r):
            constant.append(name)
        else:
            coefficients[name] = r
    common = replace(common, left_out=(*common.left_out, *constant))
    standings = _before_ranking(common, coefficients, common_unit)
    if standings.reason is None and np.bincount(common_unit).max() > MAX_SHARE * len(common_unit):
        standings = replace(standings, reason="one unit holds more than a third of the items")
    if standings.reason:
        return standings

    columns = [ys[name][common.mask] for name in standings.values]
    units = int(common_unit.max()) + 1
    items = len(common_unit)
    sums = np.stack([correlation_sums(common_x, y, common_unit, units, kind) for y in columns], axis=2)
    influence_sums = _unit_sums([influences(common_x, y, kind) for y in columns], common_unit)
    standard_errors = _pair_norms(influence_sums) / items
    return _ranked(standings, JointExchange(sums, standard_errors, items), draws, *purpose)


class Joint(Protocol):
    """Exchanges of whole units between all candidates together."""

    @property
    def units(self) -> int:
        """The number of units."""

    def gaps(self, signs: Floats) -> Floats:
        """Return (b, K, K) T_ij, by how much the second candidate is above the first, for (b, units) signs."""


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
        return cls(sums, _pair_norms(sums))

    @property
    def units(self) -> int:
        """The number of units."""
        return len(self.sums)

    def gaps(self, signs: Floats) -> Floats:
        """Return (b, K, K): by how much the second candidate is above the first under (b, units) signs."""
        flipped = signs @ self.sums
        first = flipped[:, :, None]
        second = flipped[:, None, :]
        return np.asarray((second - first) / self.scale)


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
        """Return (b, K, K): by how much the second coefficient is above the first where −1 exchanges a unit.

        As in :class:`~embassay.stats.exchange.CorrelationExchange`, a sign moves half the difference of two
        candidates' sums from one to the other.
        """
        # Axes: kind of sum, flips, first candidate, second candidate.
        total = self.sums.sum(axis=1)
        both = total[:, None, :] + total[:, :, None]
        middle = both[:, None] / 2
        flipped = np.stack([signs @ sums for sums in self.sums])
        difference = flipped[:, :, None, :] - flipped[:, :, :, None]
        moved = difference / 2
        first = coefficient(middle - moved, self.items)
        second = coefficient(middle + moved, self.items)
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
        for_any = np.logical_or.reduce(list(defined.values()))
        candidates, left_out = [], []
        mask = for_any.copy()
        for name, of_candidate in defined.items():
            undefined = (for_any & ~of_candidate).sum()
            if of_candidate.any() and undefined <= MAX_UNDEFINED * for_any.sum():
                candidates.append(name)
                mask &= of_candidate
            else:
                left_out.append(name)
        return cls(tuple(candidates), tuple(left_out), mask, for_any)


def _before_ranking(common: _CommonItems, values: Mapping[str, float], unit: Ints) -> Standings:
    """Return the values, highest first, and the reason if there is to be no verdict."""
    units = len(np.unique(unit))
    reason = None
    if not common.candidates:
        reason = "no candidate is defined for 95% of the items"
    elif not len(unit):
        reason = "no item is defined for all candidates"
    elif not values:
        reason = "the values of no candidate vary"
    elif units < MIN_UNITS:
        reason = f"that takes {MIN_UNITS} independent units; there are {units}"
    return Standings(
        values=_highest_first(values),
        left_out=common.left_out,
        items=len(unit),
        units=units,
        reason=reason,
    )


def _ranked(standings: Standings, joint: Joint, draws: Draws, *purpose: str) -> Standings:
    """Return the standings with the best set and the rank intervals."""
    names = list(standings.values)
    observed = joint.gaps(np.ones((1, joint.units)))[0]
    significant = _significant(observed, joint, draws, *purpose)
    better = (significant.differs & (observed > 0)).sum(axis=1)
    worse = (significant.differs & (observed < 0)).sum(axis=1)
    return replace(
        standings,
        best_set=tuple(name for name, below in zip(names, significant.below_another, strict=True) if not below),
        rank_low={name: 1 + int(number) for name, number in zip(names, better, strict=True)},
        rank_high={name: len(names) - int(number) for name, number in zip(names, worse, strict=True)},
    )


@dataclass(frozen=True)
class _Significant:
    """What is significant at 5 %.

    Attributes
    ----------
    below_another
        (K,) whether a candidate is below some other one.
    differs
        (K, K) whether two candidates differ.
    """

    below_another: Bools
    differs: Bools


def _significant(observed: Floats, joint: Joint, draws: Draws, *purpose: str) -> _Significant:
    """Test (K, K) observed T_ij against random exchanges; see the top of this module.

    Exchanges are drawn until the 99 % Monte Carlo interval of every p excludes 0.05. What the last round leaves
    undecided is not significant: chance excludes no candidate.
    """
    candidates = len(observed)
    highest = observed.max(axis=1) - ROUNDING
    distances = np.abs(observed).ravel() - ROUNDING
    # The number of exchanges that are as extreme, of each candidate and of each pair.
    extreme_below = np.zeros(candidates, dtype=np.int64)
    extreme_pairs = np.zeros(candidates * candidates, dtype=np.int64)
    high = np.ones(candidates + candidates * candidates)
    stream = generator(draws.seed, "ranks", *purpose)
    block = max(1, BLOCK // max(joint.units, candidates * candidates))
    drawn = 0
    for total in ROUNDS:
        for signs in random_signs(stream, joint.units, total - drawn, block):
            exchanged = joint.gaps(signs)
            extreme_below += (exchanged.max(axis=2) >= highest).sum(axis=0)
            largest = np.sort(exchanged.max(axis=(1, 2)))
            extreme_pairs += len(largest) - np.searchsorted(largest, distances)
        drawn = total
        low, high = monte_carlo_interval(np.concatenate([extreme_below, extreme_pairs]), drawn)
        undecided = (low <= ALPHA) & (high > ALPHA)
        if not undecided.any():
            break
    significant = high <= ALPHA
    return _Significant(significant[:candidates], significant[candidates:].reshape(candidates, candidates))


def _pair_norms(sums: Floats) -> Floats:
    """Return (K, K) √(Σ_u d_u²) for all pairs of columns of (units, K) sums; infinite where it is rounding only."""
    squares = np.stack([((sums - column[:, None]) ** 2).sum(axis=0) for column in sums.T])
    largest = (sums * sums).sum(axis=0)
    rounding = (ROUNDING**2) * np.maximum(largest[:, None], largest[None, :])
    return np.sqrt(np.where(squares > rounding, squares, np.inf))


def _unit_sums(columns: Sequence[Floats], unit: Ints) -> Floats:
    """Return the (units, k) sums of columns without undefined items."""
    return np.stack([np.bincount(unit, weights=column) for column in columns], axis=1).astype(np.float64)


def _item_weights(mask: Bools, fold: Ints | None) -> Floats:
    """Return the weights of the masked items: equal ones, or those that give each fold the same weight."""
    if fold is None:
        return np.ones(int(mask.sum()))
    masked = fold[mask]
    return np.asarray(1 / np.bincount(masked)[masked])


def _undefined_as_wrong(
    values: Mapping[str, Floats], mask: Bools, fold: Ints | None, wrong: float
) -> Mapping[str, float]:
    """Return each candidate's mean over the masked items with the undefined ones counted as wrong, highest first."""
    if not mask.any():
        return {}
    weight = _item_weights(mask, fold)
    means = {}
    for name, items in values.items():
        filled = np.where(np.isnan(items), wrong, items)[mask]
        means[name] = float((filled * weight).sum() / weight.sum())
    return _highest_first(means)


def _highest_first(values: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda pair: pair[1], reverse=True))
