"""Resampling of whole units, as arithmetic on counts.

Every statistic here is a ratio of sums over units, Σ c·sum_u / Σ c·n_u with c the resampling counts, so a
bootstrap is one matrix product, and all quantities and all models share the same counts: what is resampled
together is paired (Efron & Tibshirani 1993, chapter 8; units as in the cluster bootstrap of Davison &
Hinkley 1997, section 3.8).

So a stream is named by diagnostic and corpus alone. With the quantity in its name, two quantities that are equal item
by item (RR and AP with one right document) would get different intervals.
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
ABSENT = float("inf")
"""Stands in a column for an item that the figure is not about: neither counted nor undefined."""


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
        (k,) which columns are differences of two shares. In every resample such a column also gets some items of +1
        and some of −1, each as often as a unit is drawn (after Agresti & Min 2005): where few units disagree the
        plain bootstrap has no width, and covers as little as 20-60 %. How many: see :func:`pseudo_items`.

    Returns
    -------
    For each table, an Estimate of each column: no value when nothing is defined, no interval under ``MIN_UNITS``
    units.
    """
    summed = [UnitSums.of(values, unit, differences) for values in tables]
    if not summed or not sum(s.size for s in summed):
        return tuple(() for _ in summed)
    joined = UnitSums.joined(summed)
    low, high = percentiles(_replicates(joined, draws, *purpose), joined.tails)
    found, start = [], 0
    for s in summed:
        ends = zip(low[start : start + s.size], high[start : start + s.size], strict=True)
        found.append(tuple(s.estimate(column, *pair) for column, pair in enumerate(ends)))
        start += s.size
    return tuple(found)


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
        """Add up (n, k) values over units; (k,) ``differences`` says which are differences of shares."""
        count = int(unit.max(initial=-1)) + 1
        known: dict[bytes, int] = {}
        sums, sizes, pattern, items = np.zeros((count, values.shape[1])), list[Floats](), list[int](), list[int]()
        for column, numbers in enumerate(values.T):
            defined = np.isfinite(numbers)
            whole = bool(defined.all())
            place = known.setdefault(b"" if whole else np.packbits(defined).tobytes(), len(known))
            if place == len(sizes):
                sizes.append(np.bincount(unit, weights=defined, minlength=count)[:count].astype(np.float64))
            filled = numbers if whole else np.where(defined, numbers, 0.0)
            sums[:, column] = np.bincount(unit, weights=filled, minlength=count)[:count]
            pattern.append(place)
            items.append(len(numbers) if whole else len(numbers) - int(np.isposinf(numbers).sum()))
        patterns = np.stack(sizes, axis=1) if sizes else np.zeros((count, 0))
        pseudo = np.zeros(len(pattern))
        if differences is not None and differences.any():
            pseudo[differences] = [pseudo_items(gaps, unit) for gaps in values[:, differences].T]
        return cls(sums, patterns, np.array(pattern, dtype=np.int64), np.array(items, dtype=np.int64), pseudo)

    @classmethod
    def joined(cls, parts: Sequence[UnitSums]) -> UnitSums:
        """Put tables of the same units side by side: one wide product is faster than many narrow ones."""
        starts = np.cumsum([0, *(part.sizes.shape[1] for part in parts)])
        return cls(
            np.concatenate([part.sums for part in parts], axis=1),
            np.concatenate([part.sizes for part in parts], axis=1),
            np.concatenate([part.pattern + start for part, start in zip(parts, starts, strict=False)]),
            np.concatenate([part.items for part in parts]),
            np.concatenate([part.pseudo for part in parts]),
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

        Parameters
        ----------
        extra
            (b, 2) how often the items of +1 and those of −1 that are ``pseudo`` stand in each.
        """
        total = count @ self.sizes
        total = np.where(total > 0, total, np.nan)[:, self.pattern]
        sums = count @ self.sums
        if (some := np.flatnonzero(self.pseudo)).size:
            sums[:, some] += (extra[:, :1] - extra[:, 1:]) * self.pseudo[some]
            total[:, some] += extra.sum(axis=1, keepdims=True) * self.pseudo[some]
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / total)

    def estimate(self, column: int, low: float, high: float) -> Estimate:
        """Return the mean of a column with the interval given, if it has units enough."""
        sizes = self.sizes[:, self.pattern[column]]
        items, units = int(sizes.sum()), int(np.count_nonzero(sizes))
        if items == 0:
            return undefined_estimate(int(self.items[column]))
        value = float(self.sums[:, column].sum() / items)
        undefined = int(self.items[column]) - items
        if units < MIN_UNITS:
            return Estimate(value, None, None, items, units, undefined, too_few(units))
        return Estimate(value, float(low), float(high), items, units, undefined)


def pseudo_items(gaps: Floats, unit: Ints) -> float:
    """Return how many items of either sign a resample of differences of shares also gets.

    As many as one independent item is worth, n/n* with n* that of the share of the items that differ: one where they
    differ one by one, all of a unit where whole units do. At most half a unit of middle size, at least half an item.

    Parameters
    ----------
    gaps
        (n,) in [-1, 1]; what is not finite is left out.
    """
    defined = np.isfinite(gaps)
    if not defined.any():
        return 0.0
    differ = np.abs(gaps[defined])
    sums, sizes = unit_sums(differ, unit[defined])
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    half = sizes.mean() / 2
    if len(sizes) < 2:
        return float(half)
    independent = effective_sample_size(sums, sizes, np.asarray(((differ - differ.mean()) ** 2).sum()))
    return float(min(max(sizes.sum() / independent, 0.5), half))


def _replicates(summed: UnitSums, draws: Draws, *purpose: str) -> Floats:
    units = len(summed.sums)
    stream = generator(draws.seed, "halves", *purpose)
    blocks = []
    for block in counts(units, draws, *purpose):
        extra = stream.binomial(units, 1 / max(units, 1), size=(len(block), 2)).astype(np.float64)
        blocks.append(summed.resampled(block.astype(np.float64), extra))
    return np.concatenate(blocks)


def tail(sizes: Floats, level: float = LEVEL) -> float:
    """Return the share of the replicates beyond each end of an interval, by default a 95 % one.

    Φ(−√(U/(U − 1)) · t₀.₉₇₅) with t on one degree of freedom less than the effective units: the expanded
    percentiles of Hesterberg (2015), which repair what the plain bootstrap lacks for few units, here for unequal ones
    too. 0.025 for very many units, 0.0086 for ten equal ones.

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
    return float(ndtr(-((units / (units - 1)) ** 0.5) * stdtrit(freedom, (1 + level) / 2)))


def percentiles(replicates: Floats, tails: Floats) -> tuple[Floats, Floats]:
    """Return the lower and the upper ends, (k,) each, that leave a share ``tails`` (k,) of the replicates outside.

    Parameters
    ----------
    replicates
        (resamples, k); NaN is left out, and a column of NaN has NaN ends.
    """
    low, high = np.full((2, replicates.shape[1]), np.nan)
    defined = ~np.isnan(replicates).all(axis=0)
    for share in np.unique(tails):
        columns = np.flatnonzero((tails == share) & defined)
        chosen = replicates[:, columns]
        # nanquantile goes column by column in Python.
        quantile = np.nanquantile if np.isnan(chosen).any() else np.quantile
        if columns.size:
            low[columns], high[columns] = quantile(chosen, [share, 1 - share], axis=0)
    return low, high


def undefined_estimate(items: int) -> Estimate:
    """Return the estimate of nothing: no item was defined."""
    reason = "no items" if items == 0 else "undefined for every item"
    return Estimate(None, None, None, 0, 0, items, reason)


def too_few(units: int) -> str:
    """Say why a figure has no interval."""
    return f"no interval under {MIN_UNITS} units ({units} here)"


def _blocks(rows: int, width: int) -> Iterator[int]:
    block = max(1, BLOCK // max(width, 1))
    for start in range(0, rows, block):
        yield min(block, rows - start)
