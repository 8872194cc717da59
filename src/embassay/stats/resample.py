"""Bootstrap of whole units, as arithmetic on counts.

Every statistic here is a ratio of sums over units, Σ c·S_u / Σ c·n_u with c the resampling counts. So a bootstrap is
one matrix product, and all quantities and all models share the same counts: what is resampled together is paired
(Efron & Tibshirani 1993, chapter 8; units as in the cluster bootstrap of Davison & Hinkley 1997, section 3.8).

Random streams are therefore named by diagnostic and corpus alone. With the quantity in the name, two quantities that
are equal item by item (RR and AP with one right document) would get different intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embassay.randomness import generator
from embassay.result import MIN_UNITS, Estimate
from embassay.stats.units import LEVEL, Bools, Floats, Ints, effective_sample_size, effective_units, unit_sums
from embassay.types import Draws

BLOCK = 4_000_000
"""The most counts that are held at once: 16 MB."""
ABSENT = float("inf")
"""Marks an item that a column is not about: it is neither counted nor undefined."""


def counts(units: int, draws: Draws, *purpose: str) -> Iterator[Ints]:
    """Yield the resampling counts in blocks: (b, units) each, b adding up to ``draws.resamples``.

    Each row says how often each unit is drawn in one resample of ``units`` units with replacement.
    """
    stream = generator(draws.seed, "bootstrap", *purpose)
    for size in _blocks(draws.resamples, units):
        drawn = stream.integers(0, units, size=(size, units), dtype=np.int32)
        yield np.stack([np.bincount(row, minlength=units) for row in drawn])


def bootstrap_means(
    values: Floats,
    unit: Ints,
    draws: Draws,
    *purpose: str,
    differences: Bools | None = None,
) -> Floats:
    """Return the (resamples, k) means of bootstrap samples of whole units.

    Parameters
    ----------
    values
        (n, k); NaN is left out of its own column only.
    differences
        (k,) which columns are differences of two shares; see :func:`means`.
    """
    return _replicates(UnitSums.of(values, unit, differences), draws, *purpose)


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
        (n, k) each, for example one for each encoder: any finite numbers; NaN is undefined, ``ABSENT`` no item.
        Taken one by one.
    unit
        (n,) unit codes.
    purpose
        Names the random stream: the same words give the same resamples to every model.
    differences
        (k,) which columns are differences of two shares. To every resample of such a column some items of +1 and some
        of −1 are added, each as often as a unit is drawn (after Agresti & Min 2005): where few units disagree the
        plain bootstrap has no width, and covers as little as 20-60 %. How many: see :func:`pseudo_items`.

    Returns
    -------
    For each table, an Estimate of each column: no value when nothing is defined, no interval under ``MIN_UNITS``
    units.
    """
    summed = [UnitSums.of(values, unit, differences) for values in tables]
    if sum(table.size for table in summed) == 0:
        return tuple(() for _ in summed)
    joined = UnitSums.joined(summed)
    low, high = percentiles(_replicates(joined, draws, *purpose), joined.tails)
    estimates = []
    first = 0
    for table in summed:
        row = [table.estimate(column, low[first + column], high[first + column]) for column in range(table.size)]
        estimates.append(tuple(row))
        first += table.size
    return tuple(estimates)


@dataclass(frozen=True)
class UnitSums:
    """The sums of a table over units, which are all that a bootstrap of means needs.

    Attributes
    ----------
    sums
        (units, k) the sum of the defined items.
    sizes
        (units, m) their number, once for each pattern of undefined items.
    pattern
        (k,) which of the m patterns a column has.
    items
        (k,) how many items a column is about, undefined ones included.
    pseudo
        (k,) how many items of +1, and as many of −1, a resample also gets; 0 but for differences of shares.
    """

    sums: Floats
    sizes: Floats
    pattern: Ints
    items: Ints
    pseudo: Floats

    @classmethod
    def of(cls, values: Floats, unit: Ints, differences: Bools | None = None) -> UnitSums:
        """Sum (n, k) values over units; (k,) ``differences`` says which columns are differences of shares."""
        units = int(unit.max(initial=-1)) + 1
        columns = values.shape[1]
        sums = np.zeros((units, columns))
        pattern = np.zeros(columns, dtype=np.int64)
        # Columns with the same undefined items have the same sizes, which are counted and resampled once.
        sizes = list[Floats]()
        places = dict[bytes, int]()
        for column, items in enumerate(values.T):
            defined = np.isfinite(items)
            key = np.packbits(defined).tobytes()
            if key not in places:
                places[key] = len(sizes)
                sizes.append(np.bincount(unit, weights=defined, minlength=units)[:units].astype(np.float64))
            pattern[column] = places[key]
            filled = items if defined.all() else np.where(defined, items, 0.0)
            sums[:, column] = np.bincount(unit, weights=filled, minlength=units)[:units]
        pseudo = np.zeros(columns)
        if differences is not None:
            for chosen in np.flatnonzero(differences):
                pseudo[chosen] = pseudo_items(values[:, chosen], unit)
        return cls(
            sums=sums,
            sizes=np.stack(sizes, axis=1) if sizes else np.zeros((units, 0)),
            pattern=pattern,
            items=len(values) - np.isposinf(values).sum(axis=0),
            pseudo=pseudo,
        )

    @classmethod
    def joined(cls, parts: Sequence[UnitSums]) -> UnitSums:
        """Put tables of the same units side by side: one wide product is faster than many narrow ones."""
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
        """Return the (b, k) means of resamples in which each unit stands (b, units) times.

        (Σ c·S_u + (e₊ − e₋)·m)/(Σ c·n_u + (e₊ + e₋)·m) with m the pseudo-items of either sign. NaN where a resample
        has no item.

        Parameters
        ----------
        extra
            (b, 2) how often the pseudo-items of +1 and those of −1 stand in each resample.
        """
        sums = count @ self.sums
        sizes = count @ self.sizes
        sizes = np.where(sizes > 0, sizes, np.nan)[:, self.pattern]
        with_pseudo = np.flatnonzero(self.pseudo)
        if with_pseudo.size:
            positive, negative = extra[:, :1], extra[:, 1:]
            sums[:, with_pseudo] += (positive - negative) * self.pseudo[with_pseudo]
            sizes[:, with_pseudo] += (positive + negative) * self.pseudo[with_pseudo]
        return np.asarray(sums / sizes)

    def estimate(self, column: int, low: float, high: float) -> Estimate:
        """Return the mean of a column with this interval, if there are enough units."""
        sizes = self.sizes[:, self.pattern[column]]
        items = int(sizes.sum())
        units = int(np.count_nonzero(sizes))
        undefined = int(self.items[column]) - items
        if items == 0:
            return undefined_estimate(undefined)
        value = float(self.sums[:, column].sum() / items)
        if units < MIN_UNITS:
            return Estimate(value, None, None, items, units, undefined, too_few(units))
        return Estimate(value, float(low), float(high), items, units, undefined)


def pseudo_items(gaps: Floats, unit: Ints) -> float:
    """Return how many items of either sign are added to a resample of differences of shares.

    As many as one independent item is worth: n/n*, with n* the effective number of items of the share of items that
    differ. That is 1 where items differ one by one, and all items of a unit where whole units differ. At most half
    the mean size of a unit, at least half an item.

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
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    half = sizes.mean() / 2
    if len(sizes) < 2:
        return float(half)
    squares = np.asarray(((differs - differs.mean()) ** 2).sum())
    effective = effective_sample_size(sums, sizes, squares)
    return float(min(max(sizes.sum() / effective, 0.5), half))


def _replicates(summed: UnitSums, draws: Draws, *purpose: str) -> Floats:
    units = len(summed.sums)
    stream = generator(draws.seed, "halves", *purpose)
    blocks = []
    for block in counts(units, draws, *purpose):
        extra = stream.binomial(units, 1 / max(units, 1), size=(len(block), 2)).astype(np.float64)
        blocks.append(summed.resampled(block.astype(np.float64), extra))
    return np.concatenate(blocks)


def tail(sizes: Floats, level: float = LEVEL) -> float:
    """Return the share of the replicates beyond each end of an interval.

    The expanded percentiles of Hesterberg (2015), which make up for the plain bootstrap's lack of width with few
    units, here with unequal units too:

        Φ(−√(U/(U − 1)) · t)

    t the (1 + level)/2 quantile on one degree of freedom less than the effective units. At 95 %: 0.025 for very many
    units, 0.0086 for ten equal ones.

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
    return float(ndtr(-((units / (units - 1)) ** 0.5) * t))


def percentiles(replicates: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends, (k,) each, that leave a share ``tails`` (k,) of the replicates outside.

    Parameters
    ----------
    replicates
        (resamples, k); NaN is left out, and a column of NaN has NaN ends.
    """
    low, high = np.full((2, replicates.shape[1]), np.nan)
    defined = ~np.isnan(replicates).all(axis=0)
    for share in np.unique(tails[defined]):
        columns = np.flatnonzero((tails == share) & defined)
        chosen = replicates[:, columns]
        # nanquantile goes column by column in Python.
        quantile = np.nanquantile if np.isnan(chosen).any() else np.quantile
        low[columns], high[columns] = quantile(chosen, [share, 1 - share], axis=0)
    return low, high


def undefined_estimate(items: int) -> Estimate:
    """Return the estimate of nothing: no item was defined."""
    reason = "no items" if items == 0 else "undefined for every item"
    return Estimate(None, None, None, 0, 0, items, reason)


def too_few(units: int) -> str:
    """Say why a value has no interval."""
    return f"no interval under {MIN_UNITS} units ({units} here)"


def _blocks(rows: int, width: int) -> Iterator[int]:
    block = max(1, BLOCK // max(width, 1))
    for start in range(0, rows, block):
        yield min(block, rows - start)
