"""The best set (candidates that may be the best) and the rank interval of each candidate.

The best set holds the candidates that a multiple comparison with the best does not exclude (Hsu 1996; the confidence
set for the first rank of Mogstad, Romano, Shaikh & Wilhelm 2024): it contains the true best with 95 % confidence. Rank
intervals hold for all K candidates at once with 95 % confidence. Both are computed from the same random exchanges of
whole units between all candidates. With T_ij the standardised difference j − i, observed or after an exchange:

    best set          candidate i is kept unless max_j T_ij exceeds the 95 % quantile of this maximum over exchanges
    rank interval     [1 + number significantly better, K − number significantly worse], where i and j differ
                      significantly if |T_ij| exceeds the 95 % quantile of the maximum over all pairs

A candidate may be outside the best set although its rank interval contains rank 1. This is no contradiction: the test
for the best set is one-sided and concerns the first rank only, so it excludes more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Protocol

import numpy as np

from embassay.randomness import generator
from embassay.result import ALPHA, MAX_UNDEFINED, MIN_UNITS, Estimate
from embassay.stats.correlate import Kind, correlation, influences
from embassay.stats.exchange import MAX_SHARE, coefficient, correlation_sums
from embassay.stats.permutation import ROUNDING, monte_carlo_interval, random_signs
from embassay.stats.resample import counts, tail
from embassay.stats.resample import means as interval_of_means
from embassay.stats.skewness import ONE_SIDED, SkewedMeans
from embassay.stats.units import Bools, Floats, Ints
from embassay.types import Draws

ROUNDS = (9_999, 49_999)
"""The number of patterns drawn after each round; there is a second round only if the first does not decide."""
BLOCK = 2**20
"""The most numbers in memory at once: 8 MB."""


@dataclass(frozen=True)
class Standings:
    """The best set and the rank intervals of candidates.

    Attributes
    ----------
    best_set
        The candidates that may be the best, highest value first; every other one is significantly worse than some
        candidate. Empty if there is no verdict; ``reason`` then gives the reason.
    rank_low, rank_high
        The best and the worst rank that each candidate may have; empty if there is no verdict.
    values
        The value of each candidate on the items that are defined for all of them, highest first.
    left_out
        Candidates that are undefined for more than 5 % of the items; they have neither rank nor value here.
    undefined_as_wrong
        The value of each candidate, including those left out, with every undefined item counted as wrong.
    first
        What chance does to the value of the first of several. None for fewer than two candidates, and for correlations.
    items, units
        The number of common items, and of their units.
    """

    best_set: tuple[str, ...] = ()
    rank_low: Mapping[str, int] = field(default_factory=dict)
    rank_high: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    undefined_as_wrong: Mapping[str, float] = field(default_factory=dict)
    first: FirstOfSeveral | None = None
    items: int = 0
    units: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class FirstOfSeveral:
    """What chance does to the highest of several means, from bootstrap samples of units.

    Attributes
    ----------
    too_high
        A lower and an upper estimate of by how much it is too high on average. The lower one is the bias of the
        sample's highest candidate: its mean in the sample less its mean here. It is too low where candidates are equal,
        because their means here already differ by chance. The upper one takes all candidates of the best set as equal:
        the mean of their largest deviation.
    widening
        By how much the lower part of its 95 % interval must be longer to hold for the first of several: the 97.5 %
        quantile of the largest standardised deviation of all candidates, divided by that of one.
    lead
        A 95 % interval of the difference to the second that holds for all pairs of candidates together: the interval
        of this pair alone is longer by the largest standardised deviation of the difference of two, over 1.96.
    """

    too_high: tuple[float, float]
    widening: float
    lead: tuple[float, float]

    @classmethod
    def of(
        cls, sums: Floats, weights: Floats, is_best: Bools, gap: Estimate, draws: Draws, *purpose: str
    ) -> FirstOfSeveral:
        """Draw samples of units.

        Parameters
        ----------
        sums
            (units, K) the weighted sum of each candidate's items in each unit, highest candidate first.
        weights
            (units,) the sum of the weights.
        is_best
            (K,) whether a candidate is in the best set.
        gap
            The difference of the first and the second with the interval of this pair alone. The samples drawn here are
            too alike where both are right on nearly all items: two equal columns differ in none of them.
        """
        here = sums.sum(axis=0) / weights.sum()
        blocks = []
        for block in counts(len(sums), draws, *purpose):
            drawn = block.astype(np.float64)
            blocks.append(drawn @ sums / (drawn @ weights)[:, None] - here)
        deviations = np.concatenate(blocks)
        highest = (deviations + here).argmax(axis=1)
        of_highest = deviations[np.arange(len(deviations)), highest].mean()
        largest = deviations[:, is_best].max(axis=1).mean()
        low, high = sorted((float(of_highest), float(largest)))

        standardised = _standardised(deviations)
        level = 1 - tail(weights)
        of_one, of_several = np.quantile(standardised, level), np.quantile(standardised.max(axis=1), level)
        widening = float(of_several / of_one) if of_one > 0 else 1.0

        furthest = np.zeros(len(deviations))
        for column in deviations.T:
            of_pairs = np.abs(_standardised(deviations - column[:, None])).max(axis=1)
            furthest = np.maximum(furthest, of_pairs)
        of_pairs = max(float(np.quantile(furthest, 2 * level - 1)) / NormalDist().inv_cdf(level), 1.0)
        ahead, least, most = (0.0 if end is None else end for end in (gap.value, gap.low, gap.high))
        lead = ahead - of_pairs * (ahead - least), ahead + of_pairs * (most - ahead)
        if is_best[1]:
            # The second is not excluded from the best set, and a reader must not see both answers.
            lead = min(lead[0], 0.0), lead[1]
        return cls((low, high), max(widening, 1.0), lead)

    def interval(self, value: float, low: float, high: float) -> tuple[float, float]:
        """Return the interval of the first that holds for the first of several, from its own interval."""
        return value - self.widening * (value - low), high


def _standardised(deviations: Floats) -> Floats:
    """Return (n, k) deviations divided by their standard deviation in each column; 0 where they do not vary."""
    errors = deviations.std(axis=0)
    return np.asarray(deviations / np.where(errors > ROUNDING, errors, np.inf))


def rank_means(
    values: Mapping[str, Floats],
    unit: Ints,
    draws: Draws,
    *purpose: str,
    fold: Ints | None = None,
    wrong: float | None = 0.0,
    of_shares: bool = False,
) -> Standings:
    """Rank candidates by the mean of their items.

    With d_u the sum of j − i over the items of unit u, T_ij = Σ_u d_u / √(Σ_u d_u²). An exchange flips the signs of
    whole units, for all candidates together. Where the d_u are skewed and no shares, the observed T_ij is made smaller;
    see :mod:`embassay.stats.skewness`.

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
        The value of an undefined item that counts as wrong; None for metrics without right and wrong.
    of_shares
        Whether the values are yes and no, or shares of them.
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
    weights = np.bincount(common_unit, weights=weight).astype(np.float64)
    remaining = 1.0 if of_shares else _remaining(sums, weights)
    standings = _ranked(standings, JointFlips.of(sums), draws, *purpose, remaining=remaining)
    if len(standings.values) < 2:
        return standings
    is_best = np.array([name in standings.best_set for name in standings.values])
    first, second, *_ = standings.values
    # Weighted so that their mean is the difference of the two values.
    gaps = (weighted[first] - weighted[second]) * len(common_unit) / weight.sum()
    is_share = np.array([of_shares])
    ((gap,),) = interval_of_means([gaps[:, None]], common_unit, draws, *purpose, differences=is_share)
    return replace(standings, first=FirstOfSeveral.of(sums, weights, is_best, gap, draws, *purpose))


def rank_correlations(
    x: Floats, ys: Mapping[str, Floats], unit: Ints, kind: Kind, draws: Draws, *purpose: str
) -> Standings:
    """Rank candidates by their correlation with x.

    As :func:`rank_means`, but the standardised values of whole units are exchanged between candidates, see
    :mod:`embassay.stats.exchange`, and T_ij is the difference of the coefficients divided by its standard error.

    Returns
    -------
    No verdict where one unit holds more than a third of the items. A candidate whose values do not vary is left out.
    """
    # Adding 0·x makes every item undefined for which x is undefined.
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
        """Return (b, K, K) T_ij: the second candidate's sum less the first's, standardised, for (b, units) signs."""
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
        """Return (b, K, K) T_ij: the second coefficient less the first, standardised; a sign of −1 exchanges a unit.

        The mixed sums are those of :class:`~embassay.stats.exchange.CorrelationExchange`, for every pair of candidates:
        half the pair's total ± half the difference of the flipped sums.
        """
        # (3, K) and (3, b, K): the totals of each candidate, as they are and with flipped units.
        total = self.sums.sum(axis=1)
        flipped = np.stack([signs @ sums for sums in self.sums])

        # (3, 1, K, K) and (3, b, K, K): for each pair, the first candidate on the last axis but one.
        both = total[:, None, :] + total[:, :, None]
        middle = both[:, None] / 2
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
        The candidates that are ranked, and those that are undefined for too many items.
    mask
        (n,) the items that are defined for all ranked candidates.
    defined_for_any
        (n,) the items defined for any candidate.
    """

    candidates: tuple[str, ...]
    left_out: tuple[str, ...]
    mask: Bools
    defined_for_any: Bools

    @classmethod
    def of(cls, values: Mapping[str, Floats]) -> _CommonItems:
        """Choose the candidates with at most 5 % undefined items, and the items that all of them have."""
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
    """Return standings with the values, highest first, and with the reason if there can be no verdict."""
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


def _ranked(
    standings: Standings, joint: Joint, draws: Draws, *purpose: str, remaining: Floats | float = 1.0
) -> Standings:
    """Return the standings with the best set and the rank intervals; see :func:`_remaining`."""
    names = list(standings.values)
    observed = joint.gaps(np.ones((1, joint.units)))[0] * remaining
    significant = _significant(observed, joint, draws, *purpose)
    # observed[i, j] is positive where candidate j is above candidate i.
    better = (significant.differs & (observed > 0)).sum(axis=1)
    worse = (significant.differs & (observed < 0)).sum(axis=1)
    best_set = []
    rank_low = {}
    rank_high = {}
    for place, name in enumerate(names):
        rank_low[name] = 1 + int(better[place])
        rank_high[name] = len(names) - int(worse[place])
        if not significant.below_another[place]:
            best_set.append(name)
    return replace(standings, best_set=tuple(best_set), rank_low=rank_low, rank_high=rank_high)


@dataclass(frozen=True)
class _Significant:
    """The results of the tests at the 5 % level.

    Attributes
    ----------
    below_another
        (K,) whether a candidate is significantly below some other one.
    differs
        (K, K) whether two candidates differ significantly.
    """

    below_another: Bools
    differs: Bools


def _significant(observed: Floats, joint: Joint, draws: Draws, *purpose: str) -> _Significant:
    """Test (K, K) observed T_ij against random exchanges; see the top of this module.

    Exchanges are drawn until the 99 % Monte Carlo interval of every p excludes 0.05. A test that the last round leaves
    undecided is not significant, so that chance excludes no candidate.
    """
    candidates = len(observed)
    highest = observed.max(axis=1) - ROUNDING
    distances = np.abs(observed).ravel() - ROUNDING
    # The number of exchanges that are at least as extreme as observed, for each candidate and for each pair.
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
    return _Significant(
        below_another=significant[:candidates],
        differs=significant[candidates:].reshape(candidates, candidates),
    )


def _pair_norms(sums: Floats) -> Floats:
    """Return (K, K) √(Σ_u d_u²) for all pairs of columns of (units, K) sums; infinite for columns equal up to rounding.

    An infinite norm makes the standardised difference of such a pair 0.
    """
    rows = []
    for column in sums.T:
        differences = sums - column[:, None]
        rows.append((differences**2).sum(axis=0))
    squares = np.stack(rows)
    own_squares = (sums * sums).sum(axis=0)
    larger = np.maximum(own_squares[:, None], own_squares[None, :])
    rounding = ROUNDING**2 * larger
    return np.sqrt(np.where(squares > rounding, squares, np.inf))


def _remaining(sums: Floats, weights: Floats) -> Floats:
    """Return (K, K) the share of each T_ij that remains after the correction for skewed units, in [0, 1].

    With U units and t the mean difference divided by its standard error, T_ij is t·√(U/(U − 1 + t²)).
    """
    sizes = np.broadcast_to(weights[:, None], sums.shape)
    rows = []
    for column in sums.T:
        means = SkewedMeans.of(sums - column[:, None], sizes, ONE_SIDED)
        t, corrected = means.t, means.corrected_t
        others = len(sums) - 1
        rows.append(corrected / t * np.sqrt((others + t**2) / (others + corrected**2)))
    return np.stack(rows)


def _unit_sums(columns: Sequence[Floats], unit: Ints) -> Floats:
    """Return the (units, k) sums over units of k columns in which all items are defined."""
    sums = [np.bincount(unit, weights=column) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)


def _item_weights(mask: Bools, fold: Ints | None) -> Floats:
    """Return the weights of the masked items: 1 each, or 1/(items of the fold), which weights all folds equally."""
    if fold is None:
        return np.ones(int(mask.sum()))
    fold_of_item = fold[mask]
    sizes = np.bincount(fold_of_item)
    return np.asarray(1 / sizes[fold_of_item])


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
        total = (filled * weight).sum()
        means[name] = float(total / weight.sum())
    return _highest_first(means)


def _highest_first(values: Mapping[str, float]) -> dict[str, float]:
    """Return the values in descending order; equal ones keep their order."""
    return dict(sorted(values.items(), key=lambda pair: pair[1], reverse=True))
