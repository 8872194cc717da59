"""The item values of one metric for all encoders: what pairs are compared on, and what the gate guards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.stats.correlate import Kind
from embassay.stats.gate import loss_limit, most_lost
from embassay.stats.labels import Labels
from embassay.stats.units import Floats, Ints


@dataclass(frozen=True)
class Correlated:
    """What a correlation over items is computed from.

    Attributes
    ----------
    x
        (n,) for example the human scores.
    ys
        The (n,) values of each encoder.
    """

    x: Floats
    ys: Mapping[str, Floats]
    kind: Kind


@dataclass(frozen=True)
class ItemMetric:
    """A metric of a diagnostic on one corpus that is a mean over items.

    Attributes
    ----------
    metric, subset, condition
        The names of the metric in rows and comparisons.
    margin
        The smallest loss that matters; None where the diagnostic declares none.
    values
        The (n,) item values of each encoder, whose mean is the metric; NaN is undefined.
    labels
        The unit labels of the items.
    stream
        The names of its random streams, as in the comparisons.
    of_shares
        Whether the values are yes and no, or shares of them.
    is_bounded
        Whether the values lie in [0, 1], as shares do.
    similarity_function
        As in rows; empty for the similarity function of the scores.
    places
        (n,) the places of these items in the scores; None for all items.
    correlated
        For a correlation, whose item values are influences: what it is computed from.
    """

    metric: str
    margin: float | None
    values: Mapping[str, Floats]
    labels: Labels
    stream: tuple[str, ...]
    subset: str = "all"
    condition: str = ""
    of_shares: bool = True
    is_bounded: bool = True
    similarity_function: str = ""
    places: Ints | None = None
    correlated: Correlated | None = None

    @property
    def key(self) -> MetricKey:
        """The metric, in any diagnostic and corpus."""
        return MetricKey(self.metric, self.subset, self.similarity_function, self.condition)

    @property
    def unit(self) -> Ints:
        """(n,) the label set of each item."""
        return self.labels.label_set


@dataclass(frozen=True)
class Headline(ItemMetric):
    """The headline metric of a diagnostic; higher is better, and it has a margin."""

    margin: float

    def loss_limit(self, new: str, old: str) -> float | None:
        """Return the upper 95 % limit of what one encoder loses against another; None where the items are too few."""
        gains = self.values[new] - self.values[old]
        defined = ~np.isnan(gains)
        if self.labels.of_items(defined).too_few:
            return None
        most = most_lost(self.values[old][defined], 1.0 if self.is_bounded else None)
        return loss_limit(gains[defined], self.unit[defined], most)
