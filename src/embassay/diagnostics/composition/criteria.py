"""The criteria of Bansal et al. (2025) as arithmetic on one encoder's item scores.

A sample's margins m₁, m₂ say how clearly each of two conditions holds; s is a closeness, O, D, U the targets:

| | sample | m₁ | m₂ |
|---|---|---|---|
| c1 | overlap (A, B, O) | s(A,O) − s(A,B) | s(B,O) − s(A,B) |
| c3 | difference (A, B, D) | s(A,D) − s(B,D) | s(A,B) − s(B,D) |
| c4 | difference (A, B, D) | s(e(A)−e(B), e(D)) − s(e(A)−e(B), e(B)); ours, harder: … − s(e(A)−e(B), e(A)) | — |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.geometry.closeness import MEASURES, Measure, nearness
from embassay.stats.grid import CELLS, Grid, cells
from embassay.stats.resample import ABSENT
from embassay.stats.units import Floats
from embassay.types import ItemScores

RAW = ("AT", "BT", "AB", "XT", "XB", "XA")
"""Columns of a measure: A, B, the target T, and X = e(A) − e(B)."""
NULL_RAW = ("AN", "BN", "XN")
"""The same with the target N of another unit: a value of its own each, with a column for each draw of N."""
PLANAR = ("angle", "from_a", "from_b", "position", "share", "norm_ratio")
"""Columns of the plane: the fields of :class:`~embassay.geometry.plane.Plane`."""
NULL_PLANAR = ("from_a", "from_b", "position", "share")
"""Those that depend on the target: with N a value of its own each, with a column for each draw."""
BETWEEN = np.deg2rad(1.0)
"""c2: how far the angles to A and to B may miss the angle between them (the authors' test)."""
NEAR = np.deg2rad(15.0)
"""c5, c6: the largest angle at which a projection is near a vector."""
TIE = 1e-12
"""A margin this little below 0 is 0: the rounding of float64 decides nothing."""
ROUNDING = 1e-9
"""What rounding may put a target that is A or B beyond it."""
COMPARABLE = 0.1
"""c6: norms are comparable where their ratio is within 1 ± this."""
PER_BIN = {"ned": 11}
"""Grid values in each of ten bins, where they are not 23."""
Key = tuple[str, str, str, str]
"""Quantity, subset, measure and condition of a figure."""
TARGET = {"overlap": "O", "difference": "D", "union": "U"}
CRITERION = {"overlap": "c1", "difference": "c3", "union": "c6"}
PLANE_CRITERION = {"overlap": "c2", "difference": "c5", "union": "c6"}
Axes = dict[tuple[str, str], tuple[Grid, ...]]
"""The axes of each (criterion, measure), over all encoders that were asked for."""


@dataclass(frozen=True)
class Block:
    """One encoder's samples of one operator.

    Attributes
    ----------
    rows
        (m,) which of the scores' items they are.
    """

    scores: ItemScores
    operator: str
    rows: NDArray[np.int64]

    def raw(self, measure: str, name: str) -> Floats:
        """Return (m,) a raw measure by the name of its column; (draws, m) of one with the null's target."""
        if name in NULL_RAW:
            return self._drawn(null_name(measure, name))
        return np.asarray(self._columns(measure)[RAW.index(name)])

    def near(self, measure: Measure, name: str) -> Floats:
        """Return the closeness by the name of its column, shaped as :meth:`raw`."""
        return nearness(measure, self.raw(measure, name))

    def planar(self, name: str, null: bool = False) -> Floats:
        """Return (m,) a figure of the plane of the target; (draws, m) of the null's targets."""
        if null:
            return self._drawn(null_name("plane", name))
        return np.asarray(self._columns("plane")[PLANAR.index(name)])

    def _drawn(self, name: str) -> Floats:
        """Return (draws, m) a value of the null, taken out once: what is fixed, (m,), then goes with each draw."""
        if name not in self._taken:
            self._taken[name] = np.ascontiguousarray(self.scores.values[name][self.rows].T)
        return self._taken[name]

    def _columns(self, name: str) -> Floats:
        """Return (k, m) a value's columns, taken out once."""
        if name not in self._taken:
            self._taken[name] = np.ascontiguousarray(self.scores.values[name][self.rows].T)
        return self._taken[name]

    @cached_property
    def _taken(self) -> dict[str, Floats]:
        return {}

    def margins(self, criterion: str, measure: Measure, null: bool = False) -> tuple[Floats, ...]:
        """Return the margins of a criterion, (m,) each, or (draws, m); those of ``c4`` are against B, and against A."""
        target = "N" if null else "T"
        if criterion == "c4":
            own = self.near(measure, f"X{target}")
            return own - self.near(measure, "XB"), own - self.near(measure, "XA")
        a, b, ab = (self.near(measure, name) for name in (f"A{target}", f"B{target}", "AB"))
        return (a - ab, b - ab) if criterion == "c1" else (a - b, ab - b)


def null_name(value: str, column: str) -> str:
    """Return the name of the scores' value that holds the (n, draws) of a measure, or of the plane, with N."""
    return f"null/{value}/{column}"


def over_draws(values: Floats) -> Floats:
    """Return (m,) the means of (draws, m) over the draws that are defined; (m,) values as they are."""
    if values.ndim == 1:
        return values
    mean: Floats = values.mean(axis=0)
    some = np.flatnonzero(np.isnan(mean))
    if some.size:
        defined = ~np.isnan(values[:, some])
        number = defined.sum(axis=0)
        total = np.where(defined, values[:, some], 0.0).sum(axis=0)
        mean[some] = np.divide(total, number, out=np.full(len(some), np.nan), where=number > 0)
    return mean


def margin_criteria(operator: str) -> tuple[str, ...]:
    """Return the criteria that are margins, for the samples of an operator."""
    return {"overlap": ("c1",), "difference": ("c3", "c4"), "union": ()}[operator]


def axes_of(criterion: str, measure: Measure, blocks: list[Block]) -> tuple[Grid, ...]:
    """Return the grids of a criterion's margins, each from the smallest to the largest over all the encoders."""
    found = [block.margins(criterion, measure) for block in blocks]
    axes = []
    for one in zip(*found, strict=True):
        values = np.concatenate(one)
        defined = values[~np.isnan(values)]
        low, high = (float(defined.min()), float(defined.max())) if defined.size else (0.0, 0.0)
        axes.append(Grid.spanning(low, high, PER_BIN.get(measure, 23)))
    return tuple(axes)


def bounds(axes: tuple[Grid, ...]) -> str:
    """Return the grid's ends as text, for a signature."""
    return ";".join(f"{axis.values[0]:.10g},{axis.values[-1]:.10g},{axis.size}" for axis in axes)


def yes_no(block: Block) -> Iterator[tuple[Key, Floats]]:
    """Yield each figure that is a share of samples for which something holds: (m,) of 1, 0 and NaN.

    Under the null an answer is the share of the draws for which it holds.
    """
    for criterion in margin_criteria(block.operator):
        for measure in MEASURES:
            for null in (False, True):
                condition = "null:eps0" if null else "eps0"
                passed = [_holds(m, m >= -TIE) for m in block.margins(criterion, measure, null)]
                yield from _in_cells(criterion, measure, condition, passed)
    for null in (False, True):
        yield from _planar_claims(block, null)
    if block.operator == "union":
        yield from _cases(block)


def numbers(block: Block, axes: Axes) -> Iterator[tuple[Key, Floats]]:
    """Yield each figure that is a mean over samples: (m,) of any numbers and NaN."""
    for criterion in margin_criteria(block.operator):
        for measure in MEASURES:
            yield from _margin_figures(block, criterion, measure, axes[criterion, measure])
    for measure in MEASURES:
        for name, letters in _raw_names(block.operator):
            values = over_draws(block.raw(measure, name))
            yield ("raw", f"{CRITERION[block.operator]}:{letters}", measure, ""), values
    subset = PLANE_CRITERION[block.operator]
    for null in (False, True):
        condition = "null" if null else ""
        for quantity, name in (("position", "position"), ("in_plane", "share")):
            yield (quantity, subset, "angle", condition), over_draws(block.planar(name, null))
    observed, null_ = (dict(_planar_claims(block, null)) for null in (False, True))
    for (key, values), other in zip(observed.items(), null_.values(), strict=True):
        about = values != ABSENT
        yield (*key[:3], "excess"), np.subtract(values, other, where=about, out=np.full(len(values), ABSENT))


def _margin_figures(
    block: Block, criterion: str, measure: Measure, axes: tuple[Grid, ...]
) -> Iterator[tuple[Key, Floats]]:
    observed, null = (block.margins(criterion, measure, n) for n in (False, True))
    at_zero = [[_holds(m, m >= -TIE) for m in margins] for margins in (observed, null)]
    on_grid = [[axis.fraction(m) for axis, m in zip(axes, margins, strict=True)] for margins in (observed, null)]
    zero, zero_null = (dict(_in_cells(criterion, measure, "", passed)) for passed in at_zero)
    grid, grid_null = (dict(_in_cells(criterion, measure, "", passed)) for passed in on_grid)
    for key, values in grid.items():
        yield (*key[:3], "grid"), values
        yield (*key[:3], "null:grid"), grid_null[key]
        yield (*key[:3], "excess:grid"), values - grid_null[key]
        yield (*key[:3], "excess:eps0"), zero[key] - zero_null[key]
    names = ("vsB", "vsA") if criterion == "c4" else ("1", "2")
    for name, margin, other in zip(names, observed, null, strict=True):
        yield ("margin", f"{criterion}:{name}", measure, ""), margin
        yield ("margin", f"{criterion}:{name}", measure, "null"), over_draws(other)


def _in_cells(criterion: str, measure: str, condition: str, passed: list[Floats]) -> Iterator[tuple[Key, Floats]]:
    """Yield the shares of (condition 1, condition 2) in their four cells; those of c4 one by one.

    What passed is (m,), or (draws, m) and then averaged over the draws.
    """
    if criterion == "c4":
        for name, values in zip(("vsB", "vsA"), passed, strict=True):
            yield ("share", f"c4:{name}", measure, condition), over_draws(values)
        return
    in_cells = cells(*passed)
    for place, name in enumerate(CELLS):
        yield ("share", f"{criterion}:{name}", measure, condition), over_draws(in_cells[:, place])


def _planar_claims(block: Block, null: bool) -> Iterator[tuple[Key, Floats]]:
    condition = "null" if null else ""
    angle = block.planar("angle")
    from_a, from_b, position = (block.planar(n, null) for n in ("from_a", "from_b", "position"))
    if block.operator == "overlap":
        missed = np.abs(angle - (from_a + from_b))
        yield ("share", "c2:between", "angle", condition), over_draws(_holds(missed, missed < BETWEEN))
        yield ("share", "c2:inside", "angle", condition), over_draws(_inside(position))
    elif block.operator == "difference":
        yield ("share", "c5:within15", "angle", condition), over_draws(_holds(from_a, from_a <= NEAR))
    else:
        for name, case in union_cases(block).items():
            claim = {
                "middle": _inside(position),
                "near_a": _holds(from_a, from_a <= NEAR),
                "near_b": _holds(from_b, from_b <= NEAR),
            }[CLAIMS[name]]
            yield ("share", f"c6:{CLAIMS[name]}", "angle", condition), np.where(case, over_draws(claim), ABSENT)


CLAIMS = {"comparable": "middle", "longer_a": "near_a", "longer_b": "near_b"}
"""What c6 claims in each case: the projection lies between A and B, or near the longer one."""


def union_cases(block: Block) -> dict[str, NDArray[np.bool_]]:
    """Return which samples are in each case of c6, by ‖e(A)‖/‖e(B)‖ against 1 ± 0.1."""
    ratio = block.planar("norm_ratio")
    return {
        "comparable": np.abs(ratio - 1) <= COMPARABLE,
        "longer_a": ratio > 1 + COMPARABLE,
        "longer_b": ratio < 1 - COMPARABLE,
    }


def _cases(block: Block) -> Iterator[tuple[Key, Floats]]:
    ratio = block.planar("norm_ratio")
    for name, case in union_cases(block).items():
        yield ("share", f"c6:{name}", "norm", ""), _holds(ratio, case)


def main_claim(block: Block, null: bool = False) -> Floats:
    """Return whether each operator's first claim holds: c1 or c3 (both conditions, cosine, ε = 0), or c6 in the middle.

    Returns
    -------
    (m,) of 1, 0 and NaN; (draws, m) under the null.
    """
    if block.operator == "union":
        case = union_cases(block)["comparable"]
        return np.where(case, _inside(block.planar("position", null)), np.nan)
    first, second = (_holds(m, m >= -TIE) for m in block.margins(CRITERION[block.operator], "cosine", null))
    return first * second


def _inside(position: Floats) -> Floats:
    return _holds(position, (position >= -ROUNDING) & (position <= 1 + ROUNDING))


def _holds(values: Floats, condition: NDArray[np.bool_]) -> Floats:
    """Return 1 where a condition holds, 0 where not, NaN where the value that it is about is undefined."""
    return np.where(np.isnan(values), np.nan, condition.astype(np.float64))


def _raw_names(operator: str) -> Iterator[tuple[str, str]]:
    """Yield (column, letters) of the raw measures of an operator: A with the target, B with it, A with B …"""
    target = TARGET[operator]
    names = ("AT", "BT", "AB", "AN", "BN") + (("XT", "XB", "XA") if operator == "difference" else ())
    for name in names:
        yield name, name.replace("T", target)
