"""The bootstrap of whole units, as a matrix product with resampling counts.

Every statistic here is a ratio of sums over units, Σ c_u·S_u / Σ c_u·n_u with c the resampling counts. So one matrix
product computes it for all resamples. All metrics and all models share the same counts, which makes comparisons
paired (Efron & Tibshirani 1993, chapter 8; units as in the cluster bootstrap of Davison & Hinkley 1997, section 3.8).

Therefore random streams are named by diagnostic and corpus only. If the metric were part of the name, two metrics
that are equal for every item (RR and AP with one right document) would get different intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from embassay.core.randomness import generator
from embassay.core.result import MIN_UNITS, Estimate
from embassay.core.types import Draws
from embassay.stats.skewness import SkewedMeans
from embassay.stats.units import LEVEL, Bools, Floats, Ints, effective_sample_size, effective_units, unit_sums

BLOCK = 4_000_000
"""The most resampling counts in memory at once: 16 MB."""
ABSENT = float("inf")
"""Marks an item that does not belong to a column: it counts neither as defined nor as undefined."""


def counts(units: int, draws: Draws, *purpose: str) -> Iterator[Ints]:
    """Yield the resampling counts in blocks: (b, units) each, b adding up to ``draws.resamples``.

    A row holds how often each unit is drawn in one resample, which draws ``units`` units with replacement.
    """
    stream = generator(draws.seed, "bootstrap", *purpose)
    for size in _blocks(draws.resamples, units):
        drawn = stream.integers(0, units, size=(size, units), dtype=np.int32)
        yield np.stack([np.bincount(row, minlength=units) for row in drawn])


def mean(values: Floats, unit: Ints, draws: Draws, *purpose: str) -> Estimate:
    """Estimate a mean with its percentile interval over units; see :func:`means`.

    Parameters
    ----------
    values
        (n,) any finite numbers; NaN is undefined.
    """
    return means([values[:, None]], unit, draws, *purpose)[0][0]


def means(
    tables: Iterable[Floats],
    unit: Ints,
    draws: Draws,
    *purpose: str,
    differences: Bools | None = None,
) -> tuple[tuple[Estimate, ...], ...]:
    """Estimate the means of many columns, all with the same resamples.

    Parameters
    ----------
    tables
        (n, k) each, for example one for each encoder: finite numbers; NaN is undefined, ``ABSENT`` no item of the
        column. Only one table is held at a time.
    unit
        (n,) unit codes.
    purpose
        Names the random stream; equal names give equal resamples, so all models get the same.
    differences
        (k,) which columns are differences of two shares. Every resample of such a column also gets pseudo-items of +1
        and of −1, whose number of draws is as random as that of a unit (after Agresti & Min 2005). Without them the
        interval has no width where few units disagree, and covers as little as 20-60 %. For their number see
        :func:`pseudo_items`.

    Returns
    -------
    For each table, an Estimate of each column: no value when nothing is defined, no interval under ``MIN_UNITS``
    units. The end of the long tail of skewed means is moved outwards; see :mod:`embassay.stats.skewness`.
    """
    summed = [UnitSums.of(values, unit, differences) for values in tables]
    if sum(table.size for table in summed) == 0:
        return tuple(() for _ in summed)
    joined = UnitSums.joined(summed)
    low, high = percentiles(bootstrap_means(joined, draws, *purpose), joined.tails)
    # Without their sums, differences of shares are not skewed: pseudo-items are their correction.
    sums = joined.sums * (joined.pseudo == 0)
    low, high = SkewedMeans.of(sums, joined.sizes[:, joined.pattern]).widened(low, high)
    estimates = (joined.estimate(column, low[column], high[column]) for column in range(joined.size))
    return tuple(tuple(islice(estimates, table.size)) for table in summed)


@dataclass(frozen=True)
class UnitSums:
    """The sums of a table over units: everything that a bootstrap of means needs.

    Attributes
    ----------
    sums
        (units, k) the sum of the defined items.
    sizes
        (units, m) the number of defined items, once for each of the m patterns of defined items.
    pattern
        (k,) the place of each column's pattern in ``sizes``.
    items
        (k,) the number of items that belong to a column, undefined ones included.
    pseudo
        (k,) the number of pseudo-items of +1, and also of −1; 0 except for differences of shares.
    """

    sums: Floats
    sizes: Floats
    pattern: Ints
    items: Ints
    pseudo: Floats

    @classmethod
    def of(cls, values: Floats, unit: Ints, differences: Bools | None = None) -> UnitSums:
        """Sum (n, k) values over units; (k,) ``differences`` are the columns that are differences of shares."""
        units = int(unit.max(initial=-1)) + 1
        columns = values.shape[1]
        sums = np.zeros((units, columns))
        pattern = np.zeros(columns, dtype=np.int64)
        # Columns in which the same items are defined have the same sizes, which are counted and resampled once.
        sizes = list[Floats]()
        places = dict[bytes, int]()
        for column, items in enumerate(values.T):
            defined = np.isfinite(items)
            key = np.packbits(defined).tobytes()
            if key not in places:
                places[key] = len(sizes)
                sizes.append(np.bincount(unit, weights=defined, minlength=units)[:units].astype(np.float64))
            pattern[column] = places[key]
            filled = items
            if not defined.all():
                filled = np.where(defined, items, 0.0)
            sums[:, column] = np.bincount(unit, weights=filled, minlength=units)[:units]
        pseudo = np.zeros(columns)
        if differences is not None:
            for chosen in np.flatnonzero(differences):
                pseudo[chosen] = pseudo_items(values[:, chosen], unit)
        # np.stack cannot join an empty list.
        sizes_of_patterns = np.zeros((units, 0))
        if sizes:
            sizes_of_patterns = np.stack(sizes, axis=1)
        return cls(
            sums=sums,
            sizes=sizes_of_patterns,
            pattern=pattern,
            items=len(values) - np.isposinf(values).sum(axis=0),
            pseudo=pseudo,
        )

    @classmethod
    def joined(cls, parts: Sequence[UnitSums]) -> UnitSums:
        """Join tables of the same units side by side: one wide matrix product is faster than many narrow ones."""
        patterns = []
        first = 0
        for part in parts:
            patterns.append(part.pattern + first)
            first += part.sizes.shape[1]
        return cls(
            sums=np.concatenate([part.sums for part in parts], axis=1),
            sizes=np.concatenate([part.sizes for part in parts], axis=1),
            pattern=np.concatenate(patterns),
            items=np.concatenate([part.items for part in parts]),
            pseudo=np.concatenate([part.pseudo for part in parts]),
        )

    @property
    def size(self) -> int:
        """The number of columns."""
        return len(self.pattern)

    @cached_property
    def tails(self) -> Floats:
        """(k,) the share of the replicates beyond each end of a column's interval; see :func:`tail`."""
        return np.array([tail(sizes) for sizes in self.sizes.T])[self.pattern]

    def resampled(self, count: Floats, extra: Floats) -> Floats:
        """Return the (b, k) means of b resamples; NaN where a resample has no item.

            (Σ_u c_u·S_u + (e₊ − e₋)·m) / (Σ_u c_u·n_u + (e₊ + e₋)·m)

        m is the number of pseudo-items of either sign.

        Parameters
        ----------
        count
            (b, units) c, how often each unit is drawn.
        extra
            (b, 2) e₊ and e₋, how often the pseudo-items of +1 and those of −1 are drawn.
        """
        sums = count @ self.sums
        sizes_of_patterns = count @ self.sizes
        sizes_of_patterns = np.where(sizes_of_patterns > 0, sizes_of_patterns, np.nan)
        sizes = sizes_of_patterns[:, self.pattern]

        columns = np.flatnonzero(self.pseudo)
        if columns.size:
            positive, negative = extra[:, :1], extra[:, 1:]
            sums[:, columns] += (positive - negative) * self.pseudo[columns]
            sizes[:, columns] += (positive + negative) * self.pseudo[columns]
        return np.asarray(sums / sizes)

    def estimate(self, column: int, low: float, high: float) -> Estimate:
        """Return the mean of a column with the interval [low, high]; without it under ``MIN_UNITS`` units."""
        sizes = self.sizes[:, self.pattern[column]]
        items = int(sizes.sum())
        units = int(np.count_nonzero(sizes))
        undefined = int(self.items[column]) - items
        if items == 0:
            return undefined_estimate(undefined)
        total = self.sums[:, column].sum()
        value = float(total / items)
        if units < MIN_UNITS:
            return Estimate(value, None, None, items, units, undefined, too_few(units))
        return Estimate(value, float(low), float(high), items, units, undefined)


def pseudo_items(gaps: Floats, unit: Ints) -> float:
    """Return the number of pseudo-items of either sign for a resample of differences of shares.

    It is n/n*, the number of items that count as one independent item; n* is the effective number of items of the share
    of items that differ. n/n* is 1 where items differ independently, and the size of a unit where whole units differ.
    The result is limited to [½, half the mean size of a unit]; the upper limit wins.

    Parameters
    ----------
    gaps
        (n,) in [-1, 1]; what is not finite is left out.
    """
    defined = np.isfinite(gaps)
    if not defined.any():
        return 0.0
    differs = np.abs(gaps[defined])
    sums, sizes = unit_sums(differs, unit[defined])
    occupied = sizes > 0
    sums, sizes = sums[occupied], sizes[occupied]
    half_unit = sizes.mean() / 2
    if len(sizes) < 2:
        return float(half_unit)
    residuals = differs - differs.mean()
    squares = np.asarray((residuals**2).sum())
    effective = effective_sample_size(sums, sizes, squares)
    per_independent_item = sizes.sum() / effective
    return float(min(max(per_independent_item, 0.5), half_unit))


def bootstrap_means(summed: UnitSums, draws: Draws, *purpose: str) -> Floats:
    """Return the (resamples, k) means of bootstrap samples of whole units."""
    units = len(summed.sums)
    stream = generator(draws.seed, "halves", *purpose)
    # The distribution of how often a given unit is drawn.
    probability = 1 / max(units, 1)
    blocks = []
    for block in counts(units, draws, *purpose):
        extra = stream.binomial(units, probability, size=(len(block), 2)).astype(np.float64)
        blocks.append(summed.resampled(block.astype(np.float64), extra))
    return np.concatenate(blocks)


def tail(sizes: Floats, level: float = LEVEL) -> float:
    """Return the share of the replicates that lie beyond each end of an interval.

    With few units the plain percentile interval is too narrow. Hesterberg (2015) expands it by using the share

        Φ(−√(U/(U − 1)) · t)

    where t is the (1 + level)/2 quantile of Student's t. Here its degrees of freedom are U_e − 1, which holds for units
    of unequal size, too. At 95 %: 0.025 for very many units, 0.0086 for ten equal ones.

    Parameters
    ----------
    sizes
        (units,) items in each unit; empty units do not count.
    """
    from scipy.special import ndtr, stdtrit

    units = np.count_nonzero(sizes)
    if units < 2:
        return (1 - level) / 2
    freedom = max(effective_units(sizes) - 1, 1.0)
    t = stdtrit(freedom, (1 + level) / 2)
    expansion = (units / (units - 1)) ** 0.5
    return float(ndtr(-expansion * t))


def percentiles(replicates: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """Return the low and the high ends of percentile intervals, (k,) each.

    Parameters
    ----------
    replicates
        (resamples, k); NaN is left out, and a column of NaN has NaN ends.
    tails
        (k,) the share of the replicates beyond each end.
    """
    low, high = np.full((2, replicates.shape[1]), np.nan)
    defined = ~np.isnan(replicates).all(axis=0)
    for share in np.unique(tails[defined]):
        columns = np.flatnonzero((tails == share) & defined)
        values = replicates[:, columns]
        # nanquantile is slow: it loops over the columns in Python.
        quantile = np.quantile
        if np.isnan(values).any():
            quantile = np.nanquantile
        low[columns], high[columns] = quantile(values, [share, 1 - share], axis=0)
    return low, high


def percentile_interval(replicates: Floats, unit: Ints, level: float = LEVEL) -> tuple[float, float]:
    """Return the percentile interval of (resamples,) replicates of a figure of items in these (n,) units."""
    sizes = np.bincount(unit).astype(np.float64)
    (low,), (high,) = percentiles(replicates[:, None], np.array([tail(sizes, level)]))
    return float(low), float(high)


def undefined_estimate(items: int, reason: str = "") -> Estimate:
    """Return the estimate for a number of items of which none is defined."""
    if not reason:
        reason = "undefined for every item" if items else "no items"
    return Estimate(None, None, None, 0, 0, items, reason)


def too_few(units: int) -> str:
    """Return the reason why a value has no interval."""
    return f"no interval under {MIN_UNITS} units ({units} here)"


def _blocks(rows: int, width: int) -> Iterator[int]:
    """Yield the numbers of rows of blocks with at most ``BLOCK`` numbers each."""
    block = max(1, BLOCK // max(width, 1))
    for start in range(0, rows, block):
        yield min(block, rows - start)
