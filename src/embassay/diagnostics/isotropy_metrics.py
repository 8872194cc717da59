"""The metrics of how evenly vectors fill their space, for each diagnostic that computes some of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from embassay.diagnostics.metrics.metric import Metric
from embassay.stats.geometry.isotropy import isotropy

DIGITS = 6
"""Significant digits that are kept: the precision of float32 vectors and their products."""

# Isotropic is not better by itself.
_described = partial(Metric, subset="*", condition="*", kind="computed", better="neither")
ISOTROPY_METRICS = (
    _described(
        "i_a",
        low=0.0,
        high=1.0,
        term="I_A",
        explanation="1 if the vectors point in all directions alike; near 0 if all point the same way.",
        meaning="1 where the vectors favour no direction, their mean included",
        source="Mu & Viswanath (2018)",
    ),
    _described(
        "isoscore",
        low=0.0,
        high=1.0,
        term="IsoScore",
        explanation=(
            "1 if the vectors vary equally in all directions, 0 if they vary in only one. A higher value does not make "
            "a better encoder by itself."
        ),
        meaning="1 where all directions vary equally, 0 where one does; too low for few texts",
        source="Rudman et al. (2022)",
    ),
    _described("isoscore_unbiased", meaning="isoscore, corrected for few texts"),
    _described("participation_ratio", low=0.0, meaning="number of dimensions used, corrected for few texts"),
    _described(
        "participation_ratio_plugin",
        low=0.0,
        meaning="number of dimensions used, not corrected",
    ),
    _described("mean_cosine", low=-1.0, high=1.0, meaning="mean cosine of two texts"),
    _described("rank", low=0.0, format="count", meaning="number of dimensions that a transform leaves"),
)


def measured(vectors: Any, metrics: Iterable[str]) -> dict[str, float]:
    """Return some figures of (n, d) vectors by name, rounded, with ``rows``, the number of vectors that are not zero.

    Undefined figures are missing.
    """
    figures = isotropy(vectors)
    values = {name: float(f"{getattr(figures, name):.{DIGITS}g}") for name in metrics}
    return {name: value for name, value in values.items() if np.isfinite(value)} | {"rows": float(figures.rows)}
