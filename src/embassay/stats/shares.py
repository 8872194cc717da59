"""Shares of yes/no items, with an interval that holds for clusters and for shares near 0 and 1.

The percentile bootstrap covers only 65-89 % for a share of 2 % at 40-120 units in simulations. Wilson's interval
(Wilson 1927) does not collapse at the ends; it is put on an effective number of items n* (Kish 1965, section 8.2).

With 10 yes and 10 no answers or more, n* = p(1 − p)/v, v the variance of the encoder's own share over units, widened
where few units decide it (Korn & Graubard 1998). With fewer, the encoder's answers cannot tell how far the items of a
unit agree: this correlation is then pooled over the other encoders that answered the same items, see
:func:`pooled_correlation`. An encoder that ties on nearly every item has few answers too, whatever their expected
value: fewer than 10 items differ from the commonest value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.resample import UnitSums, too_few, undefined_estimate
from embassay.stats.units import LEVEL, UPPER, Bools, Floats, Ints, effective_sample_size, kish

Name = TypeVar("Name", bound=Hashable)
FEW_ANSWERS = 10
"""With fewer items that differ from the commonest value the encoder's own variance over units is not trusted."""
PRIOR_WEIGHT = 3.0
"""The prior of the pooled correlation: this times g is added to both sums, as if so much had been seen of ρ = 1."""
SHRINKAGE = 0.2
"""How far the pooled correlation is moved towards 1: the encoder at hand may agree more within units than others."""
_ROUNDING = 1e-9
"""Effective units that are 1 up to rounding are 1."""


@dataclass(frozen=True, eq=False)
class ShareSums:
    """The sums of yes answers over units, which are all that the interval of a share needs.

    Attributes
    ----------
    sums, sizes
        (units, k): yes answers S_u and items n_u of each unit, for k shares. A unit may be empty.
    squares
        (k,) Σ(x − p)² over the items: n·p(1 − p) for yes/no answers, less where there are ties.
    minority
        (k,) how many items differ from the commonest value: the fewer of yes and no, where there are no ties.
    """

    sums: Floats
    sizes: Floats
    squares: Floats
    minority: Floats

    @classmethod
    def of(cls, values: Floats, unit: Ints) -> ShareSums:
        """Add up (n, k) values in [0, 1] over units; what is not finite is left out."""
        summed = UnitSums.of(values, unit)
        sizes = summed.sizes[:, summed.pattern]
        # A unit without any item must not move the last digit by moving the order of summation.
        used = sizes.any(axis=1)
        sums, sizes = summed.sums[used], sizes[used]
        p = _ratio(sums.sum(axis=0), sizes.sum(axis=0))
        # Not Σx² − n·p²: that leaves rounding where all values agree.
        residuals = np.where(np.isfinite(values), values - p, 0.0)
        return cls(sums, sizes, (residuals**2).sum(axis=0), minority(values))

    @classmethod
    def of_yes_no(cls, sums: Floats, sizes: Floats) -> ShareSums:
        """Take (units, k) numbers of yes answers and of items, where every answer is 0 or 1."""
        items, yes = sizes.sum(axis=0), sums.sum(axis=0)
        p = _ratio(yes, items)
        squares = np.where(items > 0, items * p * (1 - p), 0.0)
        return cls(sums, sizes, squares, np.minimum(yes, items - yes))

    @property
    def items(self) -> Floats:
        """(k,) n, the number of items."""
        return np.asarray(self.sizes.sum(axis=0))

    @property
    def share(self) -> Floats:
        """(k,) p; NaN where there is no item."""
        return _ratio(self.sums.sum(axis=0), self.items)

    @property
    def effective_units(self) -> Floats:
        """(k,) U_e = n/(1 + g) = n²/Σn_u²; NaN where there is no item."""
        return kish(self.sizes)

    @property
    def partners(self) -> Floats:
        """(k,) g = Σn_u(n_u − 1)/n: how many other items of its unit an item has on average."""
        return _ratio((self.sizes * (self.sizes - 1)).sum(axis=0), self.items)


@dataclass(frozen=True, eq=False)
class IntraUnitSums:
    """The two sums whose ratio A/B is the correlation of the answers within units; they add up over encoders.

    Attributes
    ----------
    excess
        (k,) A = U_e/(U_e − 1) · Σ_u(S_u − p·n_u)² − Σ(x − p)²: how much more the units' sums vary than those of
        independent items. Negative where the items of a unit agree less than by chance.
    agreement
        (k,) B = Σ(x − p)² · g: the same if all items of a unit agreed.
    """

    excess: Floats
    agreement: Floats

    @classmethod
    def nothing(cls, columns: int) -> IntraUnitSums:
        """Return the sums of no encoder."""
        return cls(np.zeros(columns), np.zeros(columns))

    @classmethod
    def total(cls, parts: Sequence[IntraUnitSums]) -> IntraUnitSums:
        """Add up the sums of one or more encoders."""
        # In ascending order, so that the order of the encoders moves not even the last digit.
        excess = np.sort([part.excess for part in parts], axis=0).sum(axis=0)
        agreement = np.sort([part.agreement for part in parts], axis=0).sum(axis=0)
        return cls(excess, agreement)


def intra_unit_sums(values: Floats, unit: Ints) -> IntraUnitSums:
    """Return A and B of each share of one encoder; see :class:`IntraUnitSums`.

    Parameters
    ----------
    values
        (n, k) or (n,) in [0, 1]: 1 yes, 0 no, between for an expected value over ties. What is not finite is left out.
    unit
        (n,) unit codes.

    Returns
    -------
    (k,) sums, k = 1 for (n,). Both are 0 with no item, with a single unit, and where all items have the same value.
    """
    columns = values[:, None] if values.ndim == 1 else values
    return sums_within_units(ShareSums.of(columns, unit))


def sums_within_units(answers: ShareSums) -> IntraUnitSums:
    """Return A and B from sums over units; see :class:`IntraUnitSums`.

    For yes/no answers Σ(x − p)² = n·p(1 − p). With ties it is less; n·p(1 − p) would then make A negative for an
    encoder that is tied everywhere, and claim that the items of a unit exclude each other.
    """
    spread = answers.effective_units
    residuals = answers.sums - answers.share * answers.sizes
    # With one unit the residual is 0, whatever the correlation is.
    correction = np.where(spread > 1 + _ROUNDING, spread / np.maximum(spread - 1, _ROUNDING), 0.0)
    excess = np.where(correction > 0, correction * (residuals**2).sum(axis=0) - answers.squares, 0.0)
    agreement = np.where(correction > 0, answers.squares * answers.partners, 0.0)
    return IntraUnitSums(excess, agreement)


@dataclass(frozen=True, eq=False)
class ShareSummary:
    """All that the shares of one encoder and their limits need, once its items have been added up; (k,) each.

    Attributes
    ----------
    share, items, units, partners
        p, n, the number of units with an item, and g.
    effective_units
        U_e.
    minority
        How many items differ from the commonest value.
    own
        The effective number of items by the encoder's own variance over units.
    within
        A and B.
    about
        The items that the share is about, those undefined included.
    """

    share: Floats
    items: Floats
    units: Ints
    partners: Floats
    effective_units: Floats
    minority: Floats
    own: Floats
    within: IntraUnitSums
    about: Floats

    @classmethod
    def of(cls, values: Floats, unit: Ints) -> ShareSummary:
        """Add up (n, k) values; see :func:`share`."""
        about = len(values) - np.isposinf(values).sum(axis=0)
        return replace(cls.of_sums(ShareSums.of(values, unit)), about=about.astype(np.float64))

    @classmethod
    def of_sums(cls, answers: ShareSums) -> ShareSummary:
        """Take what has been added up over units already; nothing is undefined."""
        return cls(
            share=answers.share,
            items=answers.items,
            units=np.count_nonzero(answers.sizes, axis=0),
            partners=answers.partners,
            effective_units=answers.effective_units,
            minority=answers.minority,
            own=effective_sample_size(answers.sums, answers.sizes, answers.squares),
            within=sums_within_units(answers),
            about=answers.items,
        )

    def limits(self, others: IntraUnitSums | None) -> Limits:
        """Return the limits of the shares; see :func:`share_limits`."""
        others = others or IntraUnitSums.nothing(len(self.share))
        correlation = pooled_correlation(others, self.partners)
        pooled = pooled_sample_size(self.items, self.effective_units, correlation)
        limits = guarded_wilson(self.share, 1 / np.maximum(self.items, 1), self.minority, self.own, pooled)
        # Where every unit has a single item there is nothing to correlate.
        return limits._replace(pooled=limits.pooled & (self.partners > 0))

    def shares(self, others: IntraUnitSums | None) -> tuple[PooledShare, ...]:
        """Return the estimates of the shares."""
        limits = self.limits(others)
        return tuple(self._share(column, limits) for column in range(len(self.share)))

    def _share(self, column: int, limits: Limits) -> PooledShare:
        items, units = int(self.items[column]), int(self.units[column])
        undefined = int(self.about[column]) - items
        if items == 0:
            return PooledShare(undefined_estimate(undefined), pooled=False)
        p = float(self.share[column])
        if units < MIN_UNITS:
            return PooledShare(Estimate(p, None, None, items, units, undefined, too_few(units)), pooled=False)
        low, high = float(limits.low[column]), float(limits.high[column])
        return PooledShare(Estimate(p, low, high, items, units, undefined), pooled=bool(limits.pooled[column]))


@dataclass(frozen=True)
class PooledShare:
    """A share, and whether its limits rest on the answers of other encoders, too."""

    estimate: Estimate
    pooled: bool


def pooled_correlation(others: IntraUnitSums, partners: Floats) -> Floats:
    """Return the correlation within units that an encoder with few yes or few no answers is given.

        ρ₀ = clip((ΣA + 3g)/(ΣB + 3g), 0, 1)        ρ = ρ₀ + 0.2(1 − ρ₀)

    The sums are over the other encoders. Without any, ρ = 1: the items of a unit count as one. Where every unit has a
    single item (g = 0) there is nothing to correlate, and ρ = 0.

    Parameters
    ----------
    others
        (k,) ΣA and ΣB.
    partners
        (k,) g of the encoder at hand.

    Returns
    -------
    (k,) ρ in [0.2, 1], or 0.
    """
    prior = PRIOR_WEIGHT * partners
    correlation = np.clip(_ratio(others.excess + prior, others.agreement + prior), 0.0, 1.0)
    return np.where(partners > 0, correlation + SHRINKAGE * (1 - correlation), 0.0)


def pooled_sample_size(items: Floats, spread: Floats, correlation: Floats) -> Floats:
    """Return n* = n/D, D = min((1 + gρ)(t/z)², 1 + g), 1 + g = n/U_e, t on U_e − 1 degrees of freedom.

    Parameters
    ----------
    items
        (k,) n.
    spread
        (k,) U_e, the effective number of units.
    correlation
        (k,) ρ.

    Returns
    -------
    (k,) between U_e and n.
    """
    from scipy.special import stdtrit

    agreed = items / spread
    # Under two effective units D is 1 + g anyway.
    quantile = stdtrit(np.maximum(spread - 1, 1.0), UPPER) / NormalDist().inv_cdf(UPPER)
    return np.asarray(items / np.minimum((1 + (agreed - 1) * correlation) * quantile**2, agreed))


class Limits(NamedTuple):
    """The limits of k shares, and which of them rest on the answers of other encoders.

    Attributes
    ----------
    low, high
        (k,) in [0, 1], with the share between them; NaN where there is no item.
    pooled
        (k,) whether the correlation within units that was pooled over the other encoders decides one of them.
    """

    low: Floats
    high: Floats
    pooled: Bools


def share_limits(answers: ShareSums, others: IntraUnitSums | None = None) -> Limits:
    """Return the limits of shares, 95 %; see :func:`share`.

    Parameters
    ----------
    others
        ΣA and ΣB over the other encoders; none by default.
    """
    return ShareSummary.of_sums(answers).limits(others)


def guarded_wilson(p: Floats, each: Floats, fewer: Floats, own: Floats, pooled: Floats) -> Limits:
    """Return the ends of Wilson's interval on the effective number that the answers can bear.

    With fewer than 10 yes or 10 no answers: on the pooled one. Else on the encoder's own, but neither end inside that
    of 9 answers on the pooled one: otherwise one more yes could lower the upper limit.

    Parameters
    ----------
    p
        (k,) the share.
    each
        (k,) how much one yes answer adds to the share, at most: 1/n where all items weigh the same.
    fewer
        (k,) how many items differ from the commonest value; see :func:`minority`.
    own, pooled
        (k,) effective numbers of items: p(1 − p)/v, and :func:`pooled_sample_size`.
    """
    most = np.minimum((FEW_ANSWERS - 1) * each, 1.0)
    low, high = wilson(p, own)
    _, floor = wilson(np.minimum(p, most), pooled)
    ceiling, _ = wilson(np.maximum(p, 1 - most), pooled)
    few = fewer < FEW_ANSWERS
    low_of_few, high_of_few = wilson(p, pooled)
    return Limits(
        np.where(few, low_of_few, np.minimum(low, ceiling)),
        np.where(few, high_of_few, np.maximum(high, floor)),
        np.asarray(few | (ceiling < low) | (floor > high)),
    )


def minority(values: Floats) -> Floats:
    """Return the (k,) number of items that differ from the commonest value of their column.

    Parameters
    ----------
    values
        (n, k); what is not finite is left out. With values of 0 and 1 only it is the fewer of yes and no.
    """
    yes, no = (values == 1).sum(axis=0), (values == 0).sum(axis=0)
    defined = np.isfinite(values)
    items = defined.sum(axis=0)
    fewer: Floats = np.minimum(yes, no).astype(np.float64)
    for column in np.flatnonzero(yes + no < items):
        _, counts = np.unique(values[defined[:, column], column], return_counts=True)
        fewer[column] = items[column] - counts.max()
    return fewer


def wilson(p: Floats, n: Floats, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a share p of n items, both ends in [0, 1].

    (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n). The share itself where n is infinite.
    """
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    centre = p + z2 / (2 * n)
    spread = np.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
    low, high = (centre - spread) / (1 + z2 / n), (centre + spread) / (1 + z2 / n)
    # Rounding may leave 1e-17 at the ends, and an end on the wrong side of the share.
    lower: Floats = np.where(p > 0, np.clip(low, 0.0, p), p)[()]
    upper: Floats = np.where(p < 1, np.clip(high, p, 1.0), p)[()]
    return lower, upper


def share(values: Floats, unit: Ints, others: IntraUnitSums | None = None) -> Estimate:
    """Estimate a share with its 95 % interval.

    With n_u items and S_u yes answers in unit u, n = Σn_u, g = Σn_u(n_u − 1)/n, U_e = n/(1 + g) and t the 97.5 %
    quantile on U_e − 1 degrees of freedom:

        fewer than 10 yes or 10 no:  Wilson(p, n*), n* = n/min((1 + gρ)(t/1.96)², 1 + g), ρ pooled over the others
        else:                        Wilson(p, p(1 − p)/v), but high ≥ high of Wilson(min(p, 9/n), n*)
                                                            and low ≤ low of Wilson(max(p, 1 − 9/n), n*)

    v is the variance over units, see :func:`~embassay.stats.units.effective_sample_size`. With ties, "fewer than 10"
    are those that differ from the commonest value: of an encoder that is tied at 1/3 nearly everywhere too.

    So the upper limit never falls while the yes answers rise from 0 to 10 or more, however they lie in the units.

    Parameters
    ----------
    values
        (n,) in [0, 1]: 1 yes, 0 no, between for an expected value over ties; NaN is undefined, ``ABSENT`` no item.
    unit
        (n,) unit codes.
    others
        :meth:`IntraUnitSums.total` of :func:`intra_unit_sums` of the other encoders on the same items. Without it the
        items of a unit count as one where answers are few.

    Returns
    -------
    A fraction. No value when nothing is defined, no interval under ``MIN_UNITS`` units.
    """
    return shares(values[:, None], unit, others)[0]


def shares(values: Floats, unit: Ints, others: IntraUnitSums | None = None) -> tuple[Estimate, ...]:
    """Estimate many shares of one encoder, each as :func:`share` does.

    Parameters
    ----------
    values
        (n, k) as in :func:`share`.
    others
        (k,) sums over the other encoders, column by column.
    """
    return tuple(found.estimate for found in ShareSummary.of(values, unit).shares(others))


def shares_of_encoders(figures: Iterable[Mapping[Name, Floats]], unit: Ints) -> tuple[dict[Name, PooledShare], ...]:
    """Estimate the same shares of several encoders; the correlation within units is pooled over the others of each.

    Parameters
    ----------
    figures
        For each encoder the (n,) values of its shares by name, as in :func:`share`. Taken one by one. An encoder may
        lack a share that others have.
    unit
        (n,) unit codes.

    Returns
    -------
    For each encoder its shares by name. The values do not depend on the other encoders; the limits of shares with few
    answers may, a little.
    """
    summaries: list[tuple[list[Name], ShareSummary]] = []
    for figure in figures:
        table = np.stack(list(figure.values()), axis=1) if figure else np.empty((len(unit), 0))
        summaries.append((list(figure), ShareSummary.of(table, unit)))
    place = {name: column for column, name in enumerate(dict.fromkeys(n for names, _ in summaries for n in names))}
    within = [_aligned(summary.within, [place[name] for name in names], len(place)) for names, summary in summaries]

    estimates = []
    for number, (names, summary) in enumerate(summaries):
        others = [*within[:number], *within[number + 1 :]]
        pool = None
        if others:
            total = IntraUnitSums.total(others)
            columns = [place[name] for name in names]
            pool = IntraUnitSums(total.excess[columns], total.agreement[columns])
        estimates.append(dict(zip(names, summary.shares(pool), strict=True)))
    return tuple(estimates)


def _aligned(sums: IntraUnitSums, columns: list[int], width: int) -> IntraUnitSums:
    """Return the sums at these columns of so many; a share that the encoder lacks adds nothing."""
    excess, agreement = np.zeros(width), np.zeros(width)
    excess[columns], agreement[columns] = sums.excess, sums.agreement
    return IntraUnitSums(excess, agreement)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN where the denominator is 0."""
    defined = denominator > 0
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)
