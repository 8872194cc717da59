"""Holm's correction of a family of p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p: Sequence[float]) -> tuple[float, ...]:
    """Return the p-values of one family after Holm's (1979) step-down correction, in the order given.

    The i-th smallest of m becomes the maximum over j ≤ i of (m − j + 1)·p(j), at most 1. It never falls when any of
    the p-values rises.
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1.0)
    return tuple(float(v) for v in adjusted)
