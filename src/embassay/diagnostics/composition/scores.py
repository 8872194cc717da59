"""What one encoder makes of composition samples: raw measures and projections, chunk by chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.composition.criteria import NULL_PLANAR, NULL_RAW, PLANAR, RAW, null_name
from embassay.geometry.closeness import MEASURES, Measure, Moments, Sums, paired
from embassay.geometry.plane import project, project_by_products
from embassay.samples.composition import Composition as Sample
from embassay.stats.units import Floats
from embassay.vectors import Vectors

CHUNK = 16_384
"""Samples whose vectors are looked at together."""
UNIT_NORM = 1e-4
"""All norms within this of 1: only comparable norms exist."""
Ints = NDArray[np.int64]


def measured(samples: Sequence[Sample], vectors: Vectors) -> dict[str, Floats]:
    """Return the (n, 6) raw measures by name, and the (n, 6) projections of the targets."""
    found: dict[str, Floats] = {measure: np.full((len(samples), len(RAW)), np.nan) for measure in MEASURES}
    found["plane"] = np.full((len(samples), len(PLANAR)), np.nan)
    for start in range(0, len(samples), CHUNK):
        part = samples[start : start + CHUNK]
        rows = np.arange(start, start + len(part))
        a, b, target = (vectors.take(getattr(s, side) for s in part) for side in ("a", "b", "target"))
        for name, pair in {"AT": (a, target), "BT": (b, target), "AB": (a, b)}.items():
            _put(found, name, rows, paired(*pair))
        inside = _differences(part)
        if inside.any():
            x = a[inside].astype(np.float64) - b[inside].astype(np.float64)
            for name, side in {"XT": target, "XB": b, "XA": a}.items():
                _put(found, name, rows[inside], paired(x, side[inside]))
        found["plane"][rows] = np.stack(list(vars(project(a, b, target)).values()), axis=1)
    return found


def null_measured(samples: Sequence[Sample], null: Ints, vectors: Vectors, angle: Floats) -> dict[str, Floats]:
    """Return the raw measures and projections with the targets of other samples, (n, draws) each, by name.

    A sample's A and B are the same in all draws, so what depends on them alone is worked out once; X·N, for
    X = e(A) − e(B), and the projection of N follow from A·N and B·N.

    Parameters
    ----------
    null
        (n, draws) the sample whose target stands in, −1 where there is none.
    angle
        (n,) θ(A, B).
    """
    names = [null_name(measure, pair) for measure in MEASURES for pair in NULL_RAW]
    names += [null_name("plane", column) for column in NULL_PLANAR]
    found = {name: np.full(null.shape, np.nan) for name in names}
    place = {side: np.array([vectors.row["text", getattr(s, side)] for s in samples]) for side in ("a", "b", "target")}
    moments = Moments.of(vectors.matrix)
    for start in range(0, len(samples), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(samples)))
        planes = _Planes.of(vectors, moments, place["a"][rows], place["b"][rows], angle[rows])
        differences = np.flatnonzero(_differences(samples[start : start + CHUNK]))
        for draw, other in enumerate(null[rows].T):
            # Any target will do where there is none: what it gives is taken out again.
            target = place["target"][np.maximum(other, 0)]
            for name, values in planes.with_target(target, differences).items():
                found[name][rows, draw] = np.where(other < 0, np.nan, values)
    return found


@dataclass(frozen=True)
class _Planes:
    """The vectors of A and B of some samples, and what depends on them alone."""

    vectors: Vectors
    moments: Moments
    a: Any
    b: Any
    of_a: Moments
    of_b: Moments
    angle: Floats

    @classmethod
    def of(cls, vectors: Vectors, moments: Moments, a: Ints, b: Ints, angle: Floats) -> _Planes:
        """Take the rows ``a`` and ``b`` of all vectors."""
        return cls(vectors, moments, vectors.matrix[a], vectors.matrix[b], moments.take(a), moments.take(b), angle)

    @cached_property
    def gap(self) -> Any:
        """X = e(A) − e(B) in float64."""
        return self.a.astype(np.float64) - self.b.astype(np.float64)

    @cached_property
    def of_gap(self) -> Moments:
        """The moments of X."""
        return Moments.of(self.gap)

    def with_target(self, target: Ints, differences: Ints) -> dict[str, Floats]:
        """Return the null's values by name, (m,) each, for the rows ``target`` of all vectors.

        Those of X·N are NaN but for the ``differences``.
        """
        n, of_n = self.vectors.matrix[target], self.moments.take(target)
        with_a, with_b = Sums.of(self.a, n), Sums.of(self.b, n)
        pairs = {"AN": with_a.measures(self.of_a, of_n), "BN": with_b.measures(self.of_b, of_n)}
        found = {null_name(m, name): values for name, pair in pairs.items() for m, values in pair.items()}
        found |= {null_name(measure, "XN"): np.full(len(target), np.nan) for measure in MEASURES}
        if differences.size:
            own, dot = of_n.take(differences), (with_a.dot - with_b.dot)[differences]
            of_gap = self.of_gap.take(differences)
            l1 = paired(self.gap[differences], n[differences], ["l1"])["l1"]
            squared = np.maximum(of_gap.squares + own.squares - 2 * dot, 0.0)
            for measure, values in Sums(dot, l1, squared).measures(of_gap, own).items():
                found[null_name(measure, "XN")][differences] = values
        norms = (np.sqrt(m.squares) for m in (self.of_a, self.of_b, of_n))
        plane = project_by_products(self.angle, with_a.dot, with_b.dot, *norms)
        return found | {null_name("plane", column): getattr(plane, column) for column in NULL_PLANAR}


def _differences(samples: Sequence[Sample]) -> NDArray[np.bool_]:
    return np.array([s.operator == "difference" for s in samples])


def _put(found: dict[str, Floats], name: str, rows: Ints, values: Mapping[Measure, Floats]) -> None:
    for measure, of_rows in values.items():
        found[measure][rows, RAW.index(name)] = of_rows


def all_unit(samples: Sequence[Sample], vectors: Vectors) -> bool:
    """Say whether all of A and B have length 1."""
    texts = list(dict.fromkeys(text for s in samples for text in (s.a, s.b)))
    matrix_ = vectors.take(texts)
    squares = matrix_.multiply(matrix_).sum(axis=1) if hasattr(matrix_, "multiply") else (matrix_**2).sum(axis=1)
    return bool(np.all(np.abs(np.sqrt(np.asarray(squares, dtype=np.float64)) - 1) <= UNIT_NORM))
