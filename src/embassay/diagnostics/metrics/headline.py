"""The item values of the headline for all encoders: what encoders are ranked by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.core.metric_key import MetricKey
from embassay.stats.labels import Labels
from embassay.stats.units import Floats, Ints


@dataclass(frozen=True)
class Headline:
    """The headline metric of a diagnostic on one corpus; higher is better.

    Attributes
    ----------
    key
        The metric, in any diagnostic and corpus.
    margin
        The smallest loss that matters.
    values
        The (n,) item values of each encoder, whose mean is the metric; NaN is undefined. Those of a correlation are
        influences.
    labels
        The unit labels of the items.
    of_shares
        Whether the values are yes and no, or shares of them.
    is_bounded
        Whether the values lie in [0, 1], as shares do.
    places
        (n,) the places of these items in the scores; None for all items.
    """

    key: MetricKey
    margin: float
    values: Mapping[str, Floats]
    labels: Labels
    of_shares: bool = True
    is_bounded: bool = True
    places: Ints | None = None
