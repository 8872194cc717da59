"""Compute the item scores of composition samples from vectors: raw measures and projections, chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.core.samples.composition import Composition as Sample
from embassay.core.vectors import Vectors
from embassay.diagnostics.composition.criteria import NULL_PLANAR, NULL_RAW, PLANAR, RAW, null_name
from embassay.stats.geometry.closeness import MEASURES, Measure, Moments, Sums, paired
from embassay.stats.geometry.plane import project, project_by_products
from embassay.stats.units import Floats, Ints

CHUNK = 16_384
"""Samples whose vectors are processed together."""
UNIT_NORM = 1e-4
"""Largest deviation from 1 of a norm that still counts as 1."""


def measured(samples: Sequence[Sample], vectors: Vectors, chunk: int = CHUNK) -> dict[str, Floats]:
    """Return the raw measures by name, (n, 6) with columns ``RAW``, and ``plane``, (n, 6) with columns ``PLANAR``.

    n is the number of samples. X = e(A) − e(B) exists only for samples of the operator "difference"; columns with X are
    NaN for all others. ``chunk`` samples are processed together, which changes no value.
    """
    values = dict[str, Floats]()
    for measure in MEASURES:
        values[measure] = np.full((len(samples), len(RAW)), np.nan)
    values["plane"] = np.full((len(samples), len(PLANAR)), np.nan)
    for start in range(0, len(samples), chunk):
        part = samples[start : start + chunk]
        rows = np.arange(start, start + len(part))
        a = vectors.take(s.a for s in part)
        b = vectors.take(s.b for s in part)
        target = vectors.take(s.target for s in part)
        # The vectors of each pair, with the rows of the result that they belong to.
        pairs = {"AT": (rows, a, target), "BT": (rows, b, target), "AB": (rows, a, b)}
        is_difference = _are_differences(part)
        if is_difference.any():
            of_differences = rows[is_difference]
            # In float64: the difference of two float32 vectors would lose the digits that they share.
            a_of_x = a[is_difference]
            b_of_x = b[is_difference]
            x = a_of_x.astype(np.float64) - b_of_x.astype(np.float64)
            pairs["XT"] = (of_differences, x, target[is_difference])
            pairs["XB"] = (of_differences, x, b_of_x)
            pairs["XA"] = (of_differences, x, a_of_x)
        for name, (places, first, second) in pairs.items():
            column = RAW.index(name)
            for measure, closeness in paired(first, second).items():
                values[measure][places, column] = closeness
        projection = project(a, b, target)
        for column, name in enumerate(PLANAR):
            values["plane"][rows, column] = getattr(projection, name)
    return values


def null_measured(
    samples: Sequence[Sample], null: Ints, vectors: Vectors, angle: Floats, chunk: int = CHUNK
) -> dict[str, Floats]:
    """Return the raw measures and projections with the targets of other samples, (n, draws) each, by name.

    N is the target of another sample. A and B are the same in all draws, so everything that depends on them alone is
    computed once. With X = e(A) − e(B), X·N and the projection of N follow from A·N and B·N.

    Parameters
    ----------
    null
        (n, draws) index of the sample whose target is N; −1 where there is none, and every value is NaN there.
    angle
        (n,) the angle θ(A, B) in radians.
    chunk
        Samples processed together; changes no value.
    """
    values = dict[str, Floats]()
    for measure in MEASURES:
        for pair in NULL_RAW:
            values[null_name(measure, pair)] = np.full(null.shape, np.nan)
    for column in NULL_PLANAR:
        values[null_name("plane", column)] = np.full(null.shape, np.nan)

    row_of_a = np.array([vectors.row["text", s.a] for s in samples])
    row_of_b = np.array([vectors.row["text", s.b] for s in samples])
    row_of_target = np.array([vectors.row["text", s.target] for s in samples])
    # A vector is in many pairs, so its own sums are computed once.
    moments = Moments.of(vectors.matrix)
    for start in range(0, len(samples), chunk):
        part = slice(start, start + chunk)
        difference_rows = np.flatnonzero(_are_differences(samples[part]))
        pairs = _VectorPairs.of(vectors, moments, row_of_a[part], row_of_b[part], angle[part])
        null_of_part = null[part]
        for draw in range(null.shape[1]):
            other_sample = null_of_part[:, draw]
            # Index −1 would select the last sample. Use the first one as a placeholder and set its results to NaN.
            is_missing = other_sample < 0
            target = row_of_target[np.where(is_missing, 0, other_sample)]
            for name, values_of_draw in pairs.with_target(target, difference_rows).items():
                values[name][part, draw] = np.where(is_missing, np.nan, values_of_draw)
    return values


@dataclass(frozen=True)
class _VectorPairs:
    """The vectors of A and B of m samples, and the values that depend on A and B alone.

    Attributes
    ----------
    moments
        Moments of all vectors, row by row.
    a, b
        (m, d) vectors of A and of B.
    of_a, of_b
        Moments of ``a`` and of ``b``.
    angle
        (m,) the angle θ(A, B) in radians.
    """

    vectors: Vectors
    moments: Moments
    a: Any
    b: Any
    of_a: Moments
    of_b: Moments
    angle: Floats

    @classmethod
    def of(cls, vectors: Vectors, moments: Moments, a: Ints, b: Ints, angle: Floats) -> _VectorPairs:
        """Take the rows ``a`` and ``b`` of all vectors."""
        return cls(vectors, moments, vectors.matrix[a], vectors.matrix[b], moments.take(a), moments.take(b), angle)

    @cached_property
    def x(self) -> Any:
        """X = e(A) − e(B) in float64."""
        return self.a.astype(np.float64) - self.b.astype(np.float64)

    @cached_property
    def of_x(self) -> Moments:
        """The moments of X."""
        return Moments.of(self.x)

    def with_target(self, target: Ints, difference_rows: Ints) -> dict[str, Floats]:
        """Return the raw measures and projections with N as the target, (m,) each, by name.

        Parameters
        ----------
        target
            (m,) row of N in the matrix of all vectors.
        difference_rows
            Indices, among the m samples, of those of the operator "difference"; X·N is NaN for the others.
        """
        n = self.vectors.matrix[target]
        of_n = self.moments.take(target)
        with_a = Sums.of(self.a, n)
        with_b = Sums.of(self.b, n)
        values = dict[str, Floats]()
        for measure, closeness in with_a.measures(self.of_a, of_n).items():
            values[null_name(measure, "AN")] = closeness
        for measure, closeness in with_b.measures(self.of_b, of_n).items():
            values[null_name(measure, "BN")] = closeness
        for measure in MEASURES:
            values[null_name(measure, "XN")] = np.full(len(target), np.nan)
        if difference_rows.size:
            # X·N = A·N − B·N
            dot = (with_a.dot - with_b.dot)[difference_rows]
            with_x = self._x_with_target(n[difference_rows], of_n.take(difference_rows), dot, difference_rows)
            for measure, closeness in with_x.items():
                values[null_name(measure, "XN")][difference_rows] = closeness
        norm_a = np.sqrt(self.of_a.squares)
        norm_b = np.sqrt(self.of_b.squares)
        norm_n = np.sqrt(of_n.squares)
        plane = project_by_products(self.angle, with_a.dot, with_b.dot, norm_a, norm_b, norm_n)
        for column in NULL_PLANAR:
            values[null_name("plane", column)] = getattr(plane, column)
        return values

    def _x_with_target(self, n: Any, of_n: Moments, dot: Floats, difference_rows: Ints) -> dict[Measure, Floats]:
        """Return the raw measures of X and N by measure, (k,) each, for the k samples at ``difference_rows``.

        ``n`` (k, d) holds their vectors N, ``of_n`` the moments of these, and ``dot`` (k,) X·N = A·N − B·N.
        """
        x = self.x[difference_rows]
        of_x = self.of_x.take(difference_rows)
        # ‖X − N‖² = ‖X‖² + ‖N‖² − 2X·N, without a pass over the vectors. L1 has no such formula.
        squared_distance = of_x.squares + of_n.squares - 2 * dot
        # Rounding may leave a number just below 0 where X and N are equal.
        squared_distance = np.maximum(squared_distance, 0.0)
        l1 = paired(x, n, ["l1"])["l1"]
        return Sums(dot, l1, squared_distance).measures(of_x, of_n)


def _are_differences(samples: Sequence[Sample]) -> NDArray[np.bool_]:
    return np.array([s.operator == "difference" for s in samples])


def all_unit(samples: Sequence[Sample], vectors: Vectors) -> bool:
    """Return whether all vectors of A and B have length 1, up to ``UNIT_NORM``."""
    # A dict keeps each text once, in order.
    texts = dict[str, None]()
    for sample in samples:
        texts[sample.a] = None
        texts[sample.b] = None
    matrix = vectors.take(list(texts))
    # For a sparse matrix, ** would be the matrix power.
    squares = matrix.multiply(matrix) if issparse(matrix) else matrix**2
    squared_norms = np.asarray(squares.sum(axis=1), dtype=np.float64)
    deviations = np.abs(np.sqrt(squared_norms) - 1)
    return bool(np.all(deviations <= UNIT_NORM))
