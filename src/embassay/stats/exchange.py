"""Permutation tests of two correlations: standardised values of whole units are exchanged between two encoders.

A correlation is not a mean over items, so a test cannot flip the signs of differences. Instead the two encoders'
standardised values (ranks, for Spearman) are exchanged in a random subset of units, and both coefficients are computed
again from the mixed values. A coefficient is a function of three sums over items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.core.result import Comparison
from embassay.core.types import Draws
from embassay.stats.correlate import DIGITS, MIN_ITEMS, Kind, bootstrap, correlation, heavy_tails, standardised
from embassay.stats.families import PairTest, Roles, families_of, tested_row
from embassay.stats.labels import Labels
from embassay.stats.patterns import Moved, Patterns, settled
from embassay.stats.resample import percentile_interval
from embassay.stats.units import Bools, Floats, Ints

ROUNDING = 1e-9
"""Mixed values whose variance is below this share of their mean square do not vary."""
MAX_SHARE = 1 / 3
"""There is no p-value if one unit holds a larger share of the items: its exchange alone would decide the test."""


def correlation_terms(x: Floats, y: Floats, kind: Kind) -> Floats:
    """Return the values over whose sums :func:`coefficient` computes the correlation of y with x.

    Parameters
    ----------
    x, y
        (n,) the items of one encoder, all defined; neither x nor y is constant.

    Returns
    -------
    (3, n): z_x·z_y, z_y and z_y², z standardised over all items.
    """
    zx = standardised(x, kind)
    zy = standardised(y, kind)
    return np.stack([zx * zy, zy, zy * zy])


def coefficient(sums: Floats, items: int) -> Floats:
    """Return correlations from the sums of :func:`correlation_terms` over n items.

    With n items, m = Σz_y/n and x standardised: r = (Σz_x·z_y/n)/√(Σz_y²/n − m²).

    Parameters
    ----------
    sums
        (3, …).
    items
        n.

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


@dataclass(frozen=True, eq=False)
class CorrelationPair:
    """The items of two encoders whose correlations with x are compared.

    Attributes
    ----------
    defined
        (n,) which items are defined for x and both encoders.
    first, second
        (3, items) what :func:`coefficient` adds up, of each encoder; see :func:`correlation_terms`.
    """

    defined: Bools
    first: Floats
    second: Floats

    @classmethod
    def of(cls, x: Floats, y_a: Floats, y_b: Floats, kind: Kind) -> CorrelationPair:
        """Take two encoders; ranks are taken among the common items, not among all of them."""
        defined = ~np.isnan(x + y_a + y_b)
        first = correlation_terms(x[defined], y_a[defined], kind)
        second = correlation_terms(x[defined], y_b[defined], kind)
        return cls(defined, first, second)

    @property
    def columns(self) -> Floats:
        """(n, 3) half the difference of both encoders' terms, 0 where they are undefined."""
        columns = np.zeros((len(self.defined), 3))
        columns[self.defined] = (self.first - self.second).T / 2
        return columns

    def difference(self, moved: Floats) -> Floats:
        """Return (M,) r_a − r_b of the (M, 3) Σ w·column of some patterns.

        The mixed sums of the two encoders are m + Σ w·h and m − Σ w·h, with h the columns and m half the total of both
        encoders' terms, which no exchange changes.
        """
        items = int(self.defined.sum())
        middle = (self.first + self.second).sum(axis=1)[:, None] / 2
        first = coefficient(middle + moved.T, items)
        second = coefficient(middle - moved.T, items)
        return np.round(first - second, DIGITS)


def exchanged_correlations(pairs: Sequence[CorrelationPair], patterns: Patterns) -> Moved:
    """Return the differences of k pairs, with the standardised values of items exchanged between the two encoders."""
    observed, moved = list[float](), list[Floats]()
    # One pass over the patterns sums the three columns of every pair.
    sums = patterns.sums(np.concatenate([pair.columns for pair in pairs], axis=1))
    for pair, of_pair in zip(pairs, np.split(sums, len(pairs), axis=1), strict=True):
        as_they_are = pair.columns.sum(axis=0, keepdims=True)
        observed.append(float(pair.difference(as_they_are)[0]))
        moved.append(pair.difference(of_pair))
    return Moved(np.array(observed), np.stack(moved, axis=1))


def compare_correlations(
    key: MetricKey,
    x: Floats,
    ys: Mapping[str, Floats],
    labels: Labels,
    kind: Kind,
    roles: Roles,
    draws: Draws,
    *purpose: str,
) -> tuple[Comparison, ...]:
    """Compare the correlations of encoders with x: one row for each pair of :meth:`Roles.pairs`.

    Each pair is compared on the items defined for both. A row has the difference of the coefficients, its percentile
    interval over units (both resampled with the same counts), and the p-value of exchanging whole units.

    Parameters
    ----------
    key
        The metric.
    x
        (n,) for example the human scores; NaN is undefined.
    ys
        The (n,) values of each encoder.
    labels
        Those of the n items.

    Returns
    -------
    The rows; one without p-value where one unit holds more than a third of the items.
    """
    tests = roles.pairs(ys)
    replicates = _Replicates(x, ys, labels.label_set, kind, draws, purpose)
    rows = list[Comparison]()
    tested = dict[int, CorrelationPair]()
    for place, test in enumerate(tests):
        defined = ~np.isnan(x + ys[test.a] + ys[test.b])
        row, can_be_tested = _row(test.row(key), defined, replicates, labels.of_items(defined))
        rows.append(row)
        if can_be_tested:
            tested[place] = CorrelationPair.of(x, ys[test.a], ys[test.b], kind)
    if not tested:
        return tuple(rows)
    _, corrected = settled(
        Patterns(labels, draws, purpose),
        lambda patterns: exchanged_correlations(list(tested.values()), patterns),
        families_of([tests[place] for place in tested]),
    )
    for pair, (place, items) in enumerate(tested.items()):
        low, high = replicates.interval(tests[place], items.defined, float(corrected.level[pair]))
        rows[place] = tested_row(rows[place], corrected, pair, low, high)
    return tuple(rows)


@dataclass(frozen=True, eq=False)
class _Replicates:
    """Bootstrap replicates of the encoders' correlations, computed once for each set of common items."""

    x: Floats
    ys: Mapping[str, Floats]
    unit: Ints
    kind: Kind
    draws: Draws
    purpose: tuple[str, ...]
    replicates: dict[tuple[str, bytes], Floats] = field(default_factory=dict)

    def of(self, name: str, mask: Bools) -> Floats:
        """Return the (resamples,) correlations of an encoder on these items."""
        key = (name, np.packbits(mask).tobytes())
        if key not in self.replicates:
            masked_x = np.where(mask, self.x, np.nan)
            self.replicates[key] = bootstrap(masked_x, self.ys[name], self.unit, self.kind, self.draws, *self.purpose)
        return self.replicates[key]

    def interval(self, test: PairTest, mask: Bools, level: float) -> tuple[float, float]:
        """Return the percentile interval of a difference at 1 − ``level``."""
        # Rounded, so that two encoders that rank the items in the same way differ by exactly 0.
        drawn = np.round(self.of(test.a, mask) - self.of(test.b, mask), DIGITS)
        return percentile_interval(drawn, self.unit[mask], 1 - level)


def _row(row: Comparison, mask: Bools, replicates: _Replicates, labels: Labels) -> tuple[Comparison, bool]:
    """Return the difference of two correlations on common items without p, and whether it can be tested."""
    x, kind = replicates.x[mask], replicates.kind
    y_a, y_b = replicates.ys[row.a][mask], replicates.ys[row.b][mask]
    items = len(x)
    r_a, r_b = correlation(x, y_a, kind), correlation(x, y_b, kind)
    difference = round(r_a - r_b, DIGITS)
    if items < MIN_ITEMS or np.isnan(difference):
        return row, False
    # A few items decide Pearson's coefficient of values with heavy tails.
    can_be_tested = not heavy_tails(kind, x, y_a, y_b) and not labels.too_few
    no_unit_dominates = labels.largest <= MAX_SHARE * items
    return replace(row, difference=difference, items=items, units=labels.sets), can_be_tested and no_unit_dominates
