"""What one encoder makes of composition samples: raw measures and projections, chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics._set_criteria import PLANAR, RAW
from embassay.geometry.closeness import MEASURES, paired
from embassay.geometry.plane import project
from embassay.samples import Composition as Sample
from embassay.stats.units import Floats
from embassay.vectors import Vectors

CHUNK = 16_384
"""Samples whose vectors are looked at together."""
UNIT_NORM = 1e-4
"""All norms within this of 1: only comparable norms exist."""


def measured(samples: Sequence[Sample], null: NDArray[np.int64], vectors: Vectors) -> dict[str, Floats]:
    """Return the (n, 9) raw measures by name, and the (n, 6) projections of target and null."""
    found: dict[str, Floats] = {measure: np.full((len(samples), len(RAW)), np.nan) for measure in MEASURES}
    found |= {name: np.full((len(samples), len(PLANAR)), np.nan) for name in ("plane", "null_plane")}
    for start in range(0, len(samples), CHUNK):
        part = samples[start : start + CHUNK]
        rows = np.arange(start, start + len(part))
        a, b, target = (vectors.take(getattr(s, side) for s in part) for side in ("a", "b", "target"))
        other = vectors.take(samples[max(place, 0)].target for place in null[rows].tolist())
        pairs = {"AT": (a, target), "BT": (b, target), "AB": (a, b), "AN": (a, other), "BN": (b, other)}
        for name, pair in pairs.items():
            _put(found, name, rows, paired(*pair))
        inside = np.array([s.operator == "difference" for s in part])
        if inside.any():
            x = _wide(a[inside]) - _wide(b[inside])
            sides = {"XT": target, "XB": b, "XA": a, "XN": other}
            for name, side in sides.items():
                _put(found, name, rows[inside], paired(x, side[inside]))
        for name, third in (("plane", target), ("null_plane", other)):
            found[name][rows] = np.stack(list(vars(project(a, b, third)).values()), axis=1)
    missing = null < 0
    for measure in MEASURES:
        for name in ("AN", "BN", "XN"):
            found[measure][missing, RAW.index(name)] = np.nan
    found["null_plane"][missing] = np.nan
    return found


def _put(found: dict[str, Floats], name: str, rows: NDArray[np.int64], values: Mapping[Any, Floats]) -> None:
    for measure, of_rows in values.items():
        found[measure][rows, RAW.index(name)] = of_rows


def _wide(block: NDArray[np.float32]) -> Floats:
    return block.astype(np.float64)


def all_unit(samples: Sequence[Sample], vectors: Vectors) -> bool:
    """Say whether all of A and B have length 1."""
    texts = list(dict.fromkeys(text for s in samples for text in (s.a, s.b)))
    matrix_ = vectors.take(texts)
    squares = matrix_.multiply(matrix_).sum(axis=1) if hasattr(matrix_, "multiply") else (matrix_**2).sum(axis=1)
    return bool(np.all(np.abs(np.sqrt(np.asarray(squares, dtype=np.float64)) - 1) <= UNIT_NORM))
