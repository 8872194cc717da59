"""Shares of yes/no items, with 95 % intervals that hold for clusters and for shares near 0 and 1.

The percentile bootstrap covers only 65-89 % for a share of 2 % at 40-120 units in simulations. Wilson's interval
(Wilson 1927) does not collapse at the ends; here it is computed on an effective number of items n* (Kish 1965, section
8.2) instead of the number of items.

With 10 yes and 10 no answers or more, n* = p(1 − p)/v, v the variance of the encoder's own share over units, widened
where few units decide it (Korn & Graubard 1998). With fewer answers of one kind, the encoder's answers cannot tell how
far the items of a unit agree. This correlation is then pooled over the other encoders that answered the same items, see
:func:`pooled_correlation`. An encoder that ties on nearly every item has few answers too, whatever their expected
value: fewer than 10 items differ from the commonest value.

Notation: unit u has n_u items with S_u yes answers; n = Σn_u, p = ΣS_u/n, g = Σn_u(n_u − 1)/n is the mean number of
other items in an item's unit, and U_e = n/(1 + g) = n²/Σn_u² is the effective number of units.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, TypeVar

import numpy as np

from embassay.result import MIN_UNITS, Estimate
from embassay.stats.resample import UnitSums, too_few, undefined_estimate
from embassay.stats.units import UPPER, Bools, Floats, Ints, effective_sample_size, kish

Name = TypeVar("Name", bound=Hashable)
FEW_ANSWERS = 10
"""With fewer items that differ from the commonest value the encoder's own variance over units is not trusted."""
PRIOR_WEIGHT = 3.0
"""The prior of the pooled correlation: this times g is added to both sums, as if so much had been seen of ρ = 1."""
SHRINKAGE = 0.2
"""How far the pooled correlation is moved towards 1: the encoder at hand may agree more within units than others."""
ROUNDING = 1e-9
"""Effective units that are 1 up to rounding are 1."""


@dataclass(frozen=True, eq=False)
class IntraUnitSums:
    """The two sums whose ratio A/B is the correlation of answers within units; they add up over encoders.

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
        # In ascending order, so that the order of the encoders does not change even the last digit.
        excess = np.sort([part.excess for part in parts], axis=0).sum(axis=0)
        agreement = np.sort([part.agreement for part in parts], axis=0).sum(axis=0)
        return cls(excess, agreement)


@dataclass(frozen=True, eq=False)
class ShareSummary:
    """Everything that the estimates of k shares of one encoder need, summed over its items and units; (k,) each.

    Attributes
    ----------
    share, items, undefined
        p, n, and the number of undefined items; p is NaN where n is 0.
    units, effective_units, partners
        The number of units with an item, U_e, and g.
    minority
        How many items differ from the commonest value.
    effective_items
        n* by the encoder's own variance over units.
    within
        A and B.
    """

    share: Floats
    items: Floats
    undefined: Floats
    units: Ints
    effective_units: Floats
    partners: Floats
    minority: Floats
    effective_items: Floats
    within: IntraUnitSums

    @classmethod
    def of(cls, values: Floats, unit: Ints) -> ShareSummary:
        """Summarise (n, k) values in [0, 1]: NaN is undefined, ``ABSENT`` no item; see :func:`share`."""
        table = UnitSums.of(values, unit)
        sums = table.sums
        sizes = table.sizes[:, table.pattern]
        # Units without any item would change the order of summation, and with it the last digit.
        occupied = sizes.any(axis=1)
        sums, sizes = sums[occupied], sizes[occupied]
        p = _ratio(sums.sum(axis=0), sizes.sum(axis=0))
        # Not Σx² − n·p², which leaves rounding errors where all values agree.
        residuals = np.where(np.isfinite(values), values - p, 0.0)
        squares = (residuals**2).sum(axis=0)
        undefined = np.isnan(values).sum(axis=0)
        return cls.of_unit_sums(sums, sizes, squares, minority(values), undefined)

    @classmethod
    def of_unit_sums(
        cls, sums: Floats, sizes: Floats, squares: Floats, minority: Floats, undefined: Floats
    ) -> ShareSummary:
        """Summarise (units, k) S_u and n_u, and (k,) Σ(x − p)²."""
        items = sizes.sum(axis=0)
        p = _ratio(sums.sum(axis=0), items)
        effective_units = kish(sizes)
        partners = _ratio((sizes * (sizes - 1)).sum(axis=0), items)

        # With one unit the residual is 0, whatever the correlation is: it says nothing, and A = B = 0.
        several = effective_units > 1 + ROUNDING
        correction = np.where(several, effective_units / np.maximum(effective_units - 1, ROUNDING), 0.0)
        residuals = sums - p * sizes
        # Σ(x − p)² is n·p(1 − p) for yes/no answers. With ties it is less; n·p(1 − p) would then make A negative for an
        # encoder that is tied everywhere, and claim that the items of a unit exclude each other.
        excess = np.where(several, correction * (residuals**2).sum(axis=0) - squares, 0.0)
        agreement = np.where(several, squares * partners, 0.0)
        return cls(
            share=p,
            items=items,
            undefined=undefined,
            units=np.count_nonzero(sizes, axis=0),
            effective_units=effective_units,
            partners=partners,
            minority=minority,
            effective_items=effective_sample_size(sums, sizes, squares),
            within=IntraUnitSums(excess, agreement),
        )

    def limits(self, others: IntraUnitSums | None) -> Limits:
        """Return the limits of the shares, with A and B summed over the other encoders; see :func:`share`."""
        if others is None:
            others = IntraUnitSums.nothing(len(self.share))
        correlation = pooled_correlation(others, self.partners)
        pooled = pooled_sample_size(self.items, self.effective_units, correlation)
        one_answer = 1 / np.maximum(self.items, 1)
        limits = guarded_wilson(self.share, one_answer, self.minority, self.effective_items, pooled)
        # Where every unit has a single item there is nothing to correlate.
        return limits._replace(pooled=limits.pooled & (self.partners > 0))

    def estimates(self, others: IntraUnitSums | None) -> tuple[PooledShare, ...]:
        """Return the k estimates; no interval under ``MIN_UNITS`` units.

        Parameters
        ----------
        others
            A and B summed over the other encoders, for the limits of a share with few yes or few no answers; None
            where there are no others.
        """
        limits = self.limits(others)
        estimates = []
        for column, p in enumerate(self.share.tolist()):
            items = int(self.items[column])
            units = int(self.units[column])
            undefined = int(self.undefined[column])
            pooled = False
            if items == 0:
                estimate = undefined_estimate(undefined)
            elif units < MIN_UNITS:
                estimate = Estimate(p, None, None, items, units, undefined, too_few(units))
            else:
                low, high = float(limits.low[column]), float(limits.high[column])
                estimate = Estimate(p, low, high, items, units, undefined)
                pooled = bool(limits.pooled[column])
            estimates.append(PooledShare(estimate, pooled))
        return tuple(estimates)


@dataclass(frozen=True)
class PooledShare:
    """A share, and whether its limits depend on the answers of other encoders, too."""

    estimate: Estimate
    pooled: bool


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
    columns = values
    if values.ndim == 1:
        columns = values[:, None]
    return ShareSummary.of(columns, unit).within


def pooled_correlation(others: IntraUnitSums, partners: Floats) -> Floats:
    """Return the correlation within units that is assumed for an encoder with few yes or few no answers.

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
    pooled = np.clip(_ratio(others.excess + prior, others.agreement + prior), 0.0, 1.0)
    return np.where(partners > 0, pooled + SHRINKAGE * (1 - pooled), 0.0)


def pooled_sample_size(items: Floats, effective_units: Floats, correlation: Floats) -> Floats:
    """Return n* = n/D with the design effect D = min((1 + gρ)(t/z)², 1 + g).

    1 + g = n/U_e; t and z are the 97.5 % quantiles of Student's t on U_e − 1 degrees of freedom and of the normal
    distribution.

    Parameters
    ----------
    items
        (k,) n.
    effective_units
        (k,) U_e.
    correlation
        (k,) ρ.

    Returns
    -------
    (k,) between U_e and n.
    """
    from scipy.special import stdtrit

    full_agreement = items / effective_units
    # Under two effective units D is 1 + g anyway.
    freedom = np.maximum(effective_units - 1, 1.0)
    t = stdtrit(freedom, UPPER)
    z = NormalDist().inv_cdf(UPPER)
    partners = full_agreement - 1
    widened = (1 + partners * correlation) * (t / z) ** 2
    design_effect = np.minimum(widened, full_agreement)
    return np.asarray(items / design_effect)


class Limits(NamedTuple):
    """The limits of k shares, and which of them depend on the answers of other encoders.

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


def guarded_wilson(p: Floats, one_answer: Floats, minority: Floats, unpooled: Floats, pooled: Floats) -> Limits:
    """Return the limits of Wilson's interval, on the pooled or the unpooled effective number of items.

    With fewer than 10 yes or 10 no answers the pooled number is used. With more, the unpooled one is used, but neither
    limit may be closer to the share than the limit of 9 answers on the pooled number. Otherwise one more yes answer
    could lower the upper limit.

    Parameters
    ----------
    p
        (k,) the share.
    one_answer
        (k,) the most that one yes answer adds to the share: 1/n where all items have the same weight.
    minority
        (k,) how many items differ from the commonest value; see :func:`minority`.
    unpooled, pooled
        (k,) effective numbers of items: p(1 − p)/v of the encoder alone, and :func:`pooled_sample_size`.
    """
    nine_answers = np.minimum((FEW_ANSWERS - 1) * one_answer, 1.0)
    pooled_low, pooled_high = wilson(p, pooled)
    unpooled_low, unpooled_high = wilson(p, unpooled)

    # The guards: the upper limit of at most 9 yes answers, and the lower limit of at most 9 no answers.
    _, guard_high = wilson(np.minimum(p, nine_answers), pooled)
    guard_low, _ = wilson(np.maximum(p, 1 - nine_answers), pooled)
    guarded = (guard_low < unpooled_low) | (guard_high > unpooled_high)

    few = minority < FEW_ANSWERS
    return Limits(
        low=np.where(few, pooled_low, np.minimum(unpooled_low, guard_low)),
        high=np.where(few, pooled_high, np.maximum(unpooled_high, guard_high)),
        pooled=np.asarray(few | guarded),
    )


def minority(values: Floats) -> Floats:
    """Return the (k,) number of items that differ from the commonest value of their column.

    Parameters
    ----------
    values
        (n, k); what is not finite is left out. With values of 0 and 1 only it is the fewer of yes and no.
    """
    yes = (values == 1).sum(axis=0)
    no = (values == 0).sum(axis=0)
    defined = np.isfinite(values)
    items = defined.sum(axis=0)
    fewer: Floats = np.minimum(yes, no).astype(np.float64)
    # Only columns with other values than 0 and 1 need a count of each value.
    for column in np.flatnonzero(yes + no < items):
        _, counts = np.unique(values[defined[:, column], column], return_counts=True)
        fewer[column] = items[column] - counts.max()
    return fewer


def wilson(p: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's (1927) 95 % interval of a share p of n items, both ends in [0, 1].

        (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n)

    The share itself where n is infinite.
    """
    z = NormalDist().inv_cdf(UPPER)
    z_squared = z**2
    centre = p + z_squared / (2 * n)
    variance_of_share = p * (1 - p) / n
    variance = variance_of_share + z_squared / (4 * n * n)
    reach = np.sqrt(z_squared * variance)
    scale = 1 + z_squared / n
    low = (centre - reach) / scale
    high = (centre + reach) / scale
    # Rounding may leave 1e-17 at the ends, and an end on the wrong side of the share.
    lower: Floats = np.where(p > 0, np.clip(low, 0.0, p), p)[()]
    upper: Floats = np.where(p < 1, np.clip(high, p, 1.0), p)[()]
    return lower, upper


def share(values: Floats, unit: Ints, others: IntraUnitSums | None = None) -> Estimate:
    """Estimate a share with its 95 % interval.

    With t the 97.5 % quantile on U_e − 1 degrees of freedom, and the notation at the top of this module:

        fewer than 10 yes or 10 no:  Wilson(p, n*), n* = n/min((1 + gρ)(t/1.96)², 1 + g), ρ pooled over the others
        else:                        Wilson(p, p(1 − p)/v), but high ≥ high of Wilson(min(p, 9/n), n*)
                                                            and low ≤ low of Wilson(max(p, 1 − 9/n), n*)

    v is the variance over units, see :func:`~embassay.stats.units.effective_sample_size`. With ties, "fewer than 10"
    counts the items that differ from the commonest value, also for an encoder that is tied at 1/3 nearly everywhere.

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
    (estimated,) = ShareSummary.of(values[:, None], unit).estimates(others)
    return estimated.estimate


def shares_of_encoders(tables: Iterable[Mapping[Name, Floats]], unit: Ints) -> tuple[dict[Name, PooledShare], ...]:
    """Estimate the same shares of several encoders; each pools the correlation within units over the other encoders.

    Parameters
    ----------
    tables
        For each encoder the (n,) values of its shares by name, as in :func:`share`. Only one table is held at a time.
        An encoder may lack a share that others have.
    unit
        (n,) unit codes.

    Returns
    -------
    For each encoder its shares by name. The values do not depend on the other encoders; the limits of shares with few
    answers may, a little.
    """
    names_of: list[list[Name]] = []
    summaries: list[ShareSummary] = []
    for values_by_name in tables:
        names_of.append(list(values_by_name))
        columns = np.empty((len(unit), 0))
        if values_by_name:
            columns = np.stack(list(values_by_name.values()), axis=1)
        summaries.append(ShareSummary.of(columns, unit))

    all_names = dict.fromkeys(name for names in names_of for name in names)
    place = {name: column for column, name in enumerate(all_names)}
    places_of = []
    within = []
    for names, summary in zip(names_of, summaries, strict=True):
        places = [place[name] for name in names]
        # A share that an encoder lacks adds nothing to the pool.
        aligned = IntraUnitSums.nothing(len(place))
        aligned.excess[places] = summary.within.excess
        aligned.agreement[places] = summary.within.agreement
        places_of.append(places)
        within.append(aligned)

    estimates = []
    for number, (names, summary) in enumerate(zip(names_of, summaries, strict=True)):
        others = [*within[:number], *within[number + 1 :]]
        pool = None
        if others:
            total = IntraUnitSums.total(others)
            places = places_of[number]
            pool = IntraUnitSums(total.excess[places], total.agreement[places])
        estimates.append(dict(zip(names, summary.estimates(pool), strict=True)))
    return tuple(estimates)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN where the denominator is 0."""
    defined = denominator > 0
    return np.where(defined, numerator / np.where(defined, denominator, 1.0), np.nan)
