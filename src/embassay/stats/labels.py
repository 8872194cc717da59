"""Which items depend on each other, and how many independent items they count as.

An item has one or several *labels*: in retrieval its right documents, elsewhere its one unit (a group, a cluster, a
document). Items that share a label depend on each other, the more the larger the part of their labels that they share:

    K_ij = |L_i ∩ L_j| / √(|L_i|·|L_j|)        ΣK = Σ_x (Σ_{i ∋ x} 1/√|L_i|)²        g = ΣK/n − 1        U_e = n/(1 + g)

g is the number of other items that an item shares its labels with, and U_e the effective number of units (that of Kish
1965 where each item has one label). Items with the same labels form a *label set*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embassay.core.formatting import counted
from embassay.core.result import MIN_UNITS
from embassay.stats.units import UPPER, Bools, Floats, Ints, unit_codes

MAX_SHARE = 2 / 3
"""No verdict where one label belongs to a larger share of the items: it alone would decide."""
PRIOR_WEIGHT = 3.0
"""The weight of the prior of ρ, in units of g."""
PRIOR = 0.5
"""The ρ that the prior takes: half of what items of a label have in common."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of n items.

    Attributes
    ----------
    label_set
        (n,) the label set of each item, from 0 without gaps.
    pairs
        (m, 2) each label set with each of its labels, both from 0; every label set has at least one.
    """

    label_set: Ints
    pairs: Ints

    @classmethod
    def of(cls, unit: Ints, unit_labels: Ints | None = None) -> Labels:
        """Return the labels of items from the (n,) code of each item's label set.

        Parameters
        ----------
        unit_labels
            (m, 2) the code of a label set and that of one of its labels; without any, each code is one label.
        """
        codes, label_set = np.unique(unit, return_inverse=True)
        label_set = np.asarray(label_set, dtype=np.int64)
        if unit_labels is None or not len(unit_labels):
            places = np.arange(len(codes))
            return cls(label_set, np.stack([places, places], axis=1))
        kept = unit_labels[np.isin(unit_labels[:, 0], codes)]
        sets = np.searchsorted(codes, kept[:, 0])
        return cls(label_set, np.stack([sets, unit_codes(kept[:, 1])], axis=1))

    def of_items(self, chosen: Bools | Ints) -> Labels:
        """Return the labels of some items."""
        return Labels.of(self.label_set[chosen], self.pairs)

    @property
    def items(self) -> int:
        """n, the number of items."""
        return len(self.label_set)

    @property
    def sets(self) -> int:
        """The number of distinct label sets."""
        return int(self.label_set.max(initial=-1)) + 1

    @property
    def labels(self) -> int:
        """The number of distinct labels."""
        return int(self.pairs[:, 1].max(initial=-1)) + 1

    @cached_property
    def is_partition(self) -> bool:
        """Whether each label set has one label of its own."""
        return len(self.pairs) == self.sets == self.labels

    @cached_property
    def _weights(self) -> Floats:
        """(m,) 1/√|L| of the label set of each pair."""
        return np.asarray(1 / np.sqrt(np.bincount(self.pairs[:, 0]))[self.pairs[:, 0]])

    def sums(self, values: Floats) -> Floats:
        """Return (labels,) Σ_{i ∋ x} v_i/√|L_i| of (n,) values."""
        of_sets = np.bincount(self.label_set, weights=values, minlength=self.sets)
        weighted = of_sets[self.pairs[:, 0]] * self._weights
        return np.asarray(np.bincount(self.pairs[:, 1], weights=weighted, minlength=self.labels), dtype=np.float64)

    @cached_property
    def partners(self) -> float:
        """g; 0 where no two items share a label."""
        if not self.items:
            return 0.0
        partners = float((self.sums(np.ones(self.items)) ** 2).sum()) / self.items - 1
        return partners if partners > ROUNDING else 0.0

    @property
    def effective_units(self) -> float:
        """U_e, from 1 to n."""
        return self.items / (1 + self.partners)

    @cached_property
    def items_of_labels(self) -> Ints:
        """(labels,) the number of items that have each label."""
        of_sets = np.bincount(self.label_set, minlength=self.sets)
        return np.bincount(self.pairs[:, 1], weights=of_sets[self.pairs[:, 0]], minlength=self.labels).astype(np.int64)

    @property
    def largest(self) -> int:
        """The number of items that have the most frequent label."""
        return int(self.items_of_labels.max(initial=0))

    def agreement(self, values: Floats) -> tuple[float, float]:
        """Return the two sums whose ratio A/B is the correlation of (n,) values of items that share labels.

            A = U_e/(U_e − 1)·Σ_x (Σ_{i ∋ x} e_i/√|L_i|)² − Σe²        B = g·Σe²        e = x − mean

        Both add up over systems. What is not finite is left out; both are 0 where nothing varies.
        """
        defined = np.isfinite(values)
        units = self.effective_units
        if not defined.any() or units <= 1 + ROUNDING:
            return 0.0, 0.0
        deviations = np.where(defined, values - values[defined].mean(), 0.0)
        squares = float((deviations**2).sum())
        if squares <= ROUNDING:
            return 0.0, 0.0
        together = float((self.sums(deviations) ** 2).sum())
        return units / (units - 1) * together - squares, self.partners * squares

    def correlation(self, values: Floats) -> float:
        """Return A/B of (n,) values, in [0, 1]; 1 where they do not vary, which shows nothing."""
        excess, agreement = self.agreement(values)
        return min(max(excess / agreement, 0.0), 1.0) if agreement else 1.0

    @property
    def too_few(self) -> str:
        """Why nothing can be said about other items like these, a clause; empty where something can."""
        if self.sets < MIN_UNITS:
            return f"no interval: {counted(self.sets, 'independent unit')}, {MIN_UNITS} are needed"
        if self.largest > MAX_SHARE * self.items:
            return f"no interval: one unit holds {self.largest:,} of {self.items:,} items"
        return ""


def effective_number(labels: Labels, rows: Sequence[Floats], *, of_shares: bool) -> float:
    """Return n*, the number of independent items that the items count as in the mean of one metric.

    One number for all systems: the correlation ρ of what items have that share labels is pooled over the rows.

        ρ = (ΣA/v + 1.5g)/(ΣB/v + 3g) within [0, 1]        D = (1 + gρ)(t/1.96)² within [1, 1 + g]        n* = n/D

    A and B are those of :meth:`Labels.agreement`, v = 1 for shares and the variance of the items else, and t the 97.5 %
    quantile of Student's t on U_e − 1 degrees of freedom.

    Parameters
    ----------
    rows
        The (n,) values of each system. Those without variance say nothing.

    Returns
    -------
    From U_e to n.
    """
    from scipy.special import stdtrit

    partners, units = labels.partners, labels.effective_units
    if not partners:
        return float(labels.items)
    excess, agreement = [0.0], [0.0]
    for values in rows:
        excess_of_row, agreement_of_row = labels.agreement(values)
        if agreement_of_row:
            scale = 1.0 if of_shares else float(np.var(values[np.isfinite(values)]))
            excess.append(excess_of_row / scale)
            agreement.append(agreement_of_row / scale)
    # In ascending order, so that the order of the systems does not change even the last digit.
    prior = PRIOR_WEIGHT * partners
    correlation = (sum(sorted(excess)) + PRIOR * prior) / (sum(sorted(agreement)) + prior)
    correlation = min(max(correlation, 0.0), 1.0)
    t = float(stdtrit(max(units - 1, 1.0), UPPER))
    z = float(stdtrit(np.inf, UPPER))
    design_effect = (1 + partners * correlation) * (t / z) ** 2
    return labels.items / min(max(design_effect, 1.0), 1 + partners)
