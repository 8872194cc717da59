"""What is stored of composition samples: closeness of A, B and the target, its projection, the same of wrong targets.

A wrong target is that of a sample of another unit; the values with it are the null of the criteria.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.randomness import generator
from embassay.core.samples.shapes import Composition as Sample
from embassay.core.vectors import Vectors
from embassay.stats.geometry.closeness import Measure, Moments, Sums
from embassay.stats.geometry.plane import project, project_by_products
from embassay.stats.units import Bools, Floats, Ints

PLANAR = ("angle", "from_a", "from_b", "position", "share", "norm_ratio")
"""The fields of :class:`~embassay.stats.geometry.plane.Plane`."""
NULL_PLANAR = ("from_a", "from_b", "position", "share")
"""Those that depend on the target, which are also measured with N."""
CHUNK = 16_384
"""Samples whose vectors are processed together."""
TRIES = 64
"""Rounds of rejection sampling; samples still without a target then draw from the list of all that fit."""


@dataclass(frozen=True)
class _Vectors:
    """m vectors, dense or CSR, and their moments, which are computed once for all pairs."""

    matrix: Any
    moments: Moments

    def take(self, rows: NDArray[Any]) -> _Vectors:
        """Return some of them."""
        return _Vectors(self.matrix[rows], self.moments.take(rows))

    def measures(self, other: _Vectors) -> dict[Measure, Floats]:
        """Return the (m,) closeness to the same rows of others by each measure."""
        return Sums.of(self.matrix, other.matrix).measures(self.moments, other.moments)


def measured(samples: Sequence[Sample], others: Ints, vectors: Vectors, chunk: int = CHUNK) -> dict[str, Floats]:
    """Return the measures and projections of each sample, with its own target T and with those of other samples, N.

    X = e(A) − e(B) exists for samples of the operator "difference"; values with X are NaN for all others.

    Parameters
    ----------
    others
        (n, draws) index of the sample whose target is N; −1 where there is none, and every value is NaN there.
    chunk
        Samples processed together, which changes no value.

    Returns
    -------
    (n,) ``measure/pair`` and ``plane/field``; with N (n, draws) ``measure/pair`` and ``null plane/field``.
    """
    number = len(samples)
    values = defaultdict[str, Floats](lambda: np.full(number, np.nan))
    nulls = defaultdict[str, Floats](lambda: np.full(others.shape, np.nan))
    every = _Vectors(vectors.matrix, Moments.of(vectors.matrix))
    row_of = dict[str, Ints]()
    for part in ("a", "b", "target"):
        row_of[part] = np.array([vectors.row["text", getattr(s, part)] for s in samples])
    is_difference = np.array([s.operator == "difference" for s in samples])
    for start in range(0, number, chunk):
        rows = np.arange(start, min(start + chunk, number))
        a, b, target = (every.take(of_samples[rows]) for of_samples in row_of.values())
        inside = np.flatnonzero(is_difference[rows])
        # In float64: the difference of two float32 vectors would lose the digits that they share.
        gap = a.matrix[inside].astype(np.float64) - b.matrix[inside].astype(np.float64)
        x = _Vectors(gap, Moments.of(gap))
        pairs = {
            "AT": a.measures(target),
            "BT": b.measures(target),
            "AB": a.measures(b),
            "XT": x.measures(target.take(inside)),
            "XB": x.measures(b.take(inside)),
            "XA": x.measures(a.take(inside)),
        }
        _store(values, pairs, rows, inside)
        plane = project(a.matrix, b.matrix, target.matrix)
        for field in PLANAR:
            values[f"plane/{field}"][rows] = getattr(plane, field)

        for draw, other in enumerate(others[rows].T):
            # Index −1 would select the last sample. The first one stands in its place until the end.
            wrong = every.take(row_of["target"][np.maximum(other, 0)])
            of_wrong = {"AN": a.measures(wrong), "BN": b.measures(wrong), "XN": x.measures(wrong.take(inside))}
            _store(nulls, of_wrong, rows, inside, draw)
            norms = (np.sqrt(one.moments.squares) for one in (a, b, wrong))
            wrong_plane = project_by_products(plane.angle, of_wrong["AN"]["dot"], of_wrong["BN"]["dot"], *norms)
            for field in NULL_PLANAR:
                nulls[f"null plane/{field}"][rows, draw] = getattr(wrong_plane, field)
    for of_pairs in nulls.values():
        of_pairs[others < 0] = np.nan
    return {**values, **nulls}


def _store(
    values: Mapping[str, Floats],
    pairs: Mapping[str, Mapping[Measure, Floats]],
    rows: Ints,
    inside: Ints,
    *draw: int,
) -> None:
    """Store the closeness of pairs in some rows, of pairs with X only ``inside``; with the null, that of one draw."""
    for pair, measures in pairs.items():
        places: tuple[Any, ...] = (rows[inside] if "X" in pair else rows, *draw)
        for measure, closeness in measures.items():
            values[f"{measure}/{pair}"][places] = closeness


def other_targets(
    targets: Sequence[str], unit: Ints, group: NDArray[np.str_], *purpose: str, draws: Iterable[int]
) -> Ints:
    """Draw, for each sample, other samples of its group whose targets replace its own.

    Parameters
    ----------
    targets
        (n,) target texts; a sample with an equal target is never drawn.
    unit
        (n,) unit codes; a sample of the same unit is never drawn.
    group
        (n,) the kind of target, for example the operator; only samples of the same group are drawn.
    draws
        Numbers of the draws. Each has its own random stream, so more draws do not change the earlier ones.

    Returns
    -------
    (n, draws) indices of samples; −1 where no sample fits.
    """
    # Codes of the texts, which are compared faster than the texts themselves.
    _, text = np.unique(np.asarray(targets), return_inverse=True)
    members_of = {name: np.flatnonzero(group == name) for name in np.unique(group).tolist()}
    columns = list[Ints]()
    for number in draws:
        column = np.full(len(targets), -1)
        for name, members in members_of.items():
            stream = generator(0, "null", name, f"draw {number}", *purpose)
            column[members] = _draw(members, text, unit, stream)
        columns.append(column)
    return np.stack(columns, axis=1)


def _draw(members: Ints, text: Ints, unit: Ints, stream: np.random.Generator) -> Ints:
    """Draw, for each member, a member of another unit with another text; −1 where there is none."""

    def fits(samples: Ints, others: Ints) -> Bools:
        return np.not_equal(unit[others], unit[samples]) & np.not_equal(text[others], text[samples])

    drawn = np.full(len(members), -1)
    for _ in range(TRIES):
        missing = np.flatnonzero(drawn < 0)
        if not missing.size:
            return drawn
        others = members[stream.integers(0, len(members), size=len(missing))]
        is_fit = fits(members[missing], others)
        drawn[missing[is_fit]] = others[is_fit]
    # So few members fit that rejection sampling missed them; list them and draw one.
    for place in np.flatnonzero(drawn < 0):
        fitting = members[fits(members[place], members)]
        if fitting.size:
            drawn[place] = fitting[stream.integers(0, len(fitting))]
    return drawn
