"""The criteria of Bansal et al. (2025, section 4) as arithmetic on one encoder's item scores.

A condition of C1, C3 or C4 holds where its margin m is 0 or more; the margin says how clearly. s is a closeness, for
which larger is nearer (a distance is negated), and O, D, U are the targets:

| | sample | m₁ | m₂ |
|---|---|---|---|
| c1 | overlap (A, B, O) | s(A,O) − s(A,B) | s(B,O) − s(A,B) |
| c3 | difference (A, B, D) | s(A,D) − s(B,D) | s(A,B) − s(B,D) |
| c4 | difference (A, B, D) | s(e(A)−e(B), e(D)) − s(e(A)−e(B), e(B)); ours, harder: … − s(e(A)−e(B), e(A)) | — |

The other three are about the projection of the target on the plane of A and B (:func:`planar_claims`): c2 the overlap
lies between A and B, c5 the difference lies near A, c6 the union lies in the middle, or near the longer one.

Arrays are (m,) over the samples of one operator, or (draws, m) with the targets of the null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from embassay.core.metric_key import MetricKey
from embassay.core.types import ItemScores
from embassay.diagnostics.metrics.scoreboard import View
from embassay.stats.geometry.closeness import MEASURES, Measure, nearness
from embassay.stats.grid import CELLS, Grid, cells
from embassay.stats.resample import ABSENT
from embassay.stats.units import Floats

RAW = ("AT", "BT", "AB", "XT", "XB", "XA")
"""Columns of a measure: pairs of A, B, the target T, and X = e(A) − e(B)."""
NULL_RAW = ("AN", "BN", "XN")
"""Pairs with the target N of another unit. Each is a value of the scores, (n, draws)."""
PLANAR = ("angle", "from_a", "from_b", "position", "share", "norm_ratio")
"""Columns of the plane: the fields of :class:`~embassay.stats.geometry.plane.Plane`."""
NULL_PLANAR = ("from_a", "from_b", "position", "share")
"""Those that depend on the target. With N each is a value of the scores, (n, draws)."""
LIMITS = {"between": 1.0, "near": 15.0, "comparable": 0.1}
"""The paper's limits, options of the diagnostic. c2: by how many degrees the angles to A and to B may miss the angle
between them. c5, c6: the largest angle, in degrees, at which a projection is near a vector. c6: norms are comparable
where their ratio is within 1 ± this.
"""
NEAR_A = "c5:within{NEAR}"
"""The subset of c5, with the option ``near`` in braces."""
TIE = 1e-12
"""What misses a limit by this counts as reaching it, so that the rounding of float64 decides nothing."""
ROUNDING = 1e-9
"""How far rounding may put a target that equals A or B beyond it."""
PER_BIN = {"ned": 11}
"""Grid values in each of ten bins, where they are not 23."""
TARGET = {"overlap": "O", "difference": "D", "union": "U"}
CRITERION = {"overlap": "c1", "difference": "c3", "union": "c6"}
PLANE_CRITERION = {"overlap": "c2", "difference": "c5", "union": "c6"}
CASE_OF_CLAIM = {"middle": "comparable", "near_a": "longer_a", "near_b": "longer_b"}
"""c6: the case by the norms of A and B in which each claim is made."""
Axes = dict[tuple[str, str], tuple[Grid, ...]]
"""The axes of each (criterion, measure), over all encoders that were asked for."""


def criterion_of(key: MetricKey) -> str:
    """Return the criterion that a metric is about: ``c1`` of the subset ``c1:TT``."""
    return key.subset.partition(":")[0]


def limit_of(scores: ItemScores, name: str) -> float:
    """Return one of ``LIMITS``, as the scores were made with."""
    return scores.scalars.get(name, LIMITS[name])


def near_written(scores: ItemScores) -> str:
    """Return the limit ``near`` as it stands in the name of c5."""
    return f"{limit_of(scores, 'near'):g}"


@dataclass(frozen=True)
class OperatorView(View):
    """One encoder's samples of one operator.

    Attributes
    ----------
    items
        (m,) which of the scores' items they are.
    """

    operator: str
    items: NDArray[np.int64]

    def limit(self, name: str) -> float:
        """Return one of ``LIMITS``, as the run has it."""
        return limit_of(self.scores, name)

    def raw(self, measure: str, name: str) -> Floats:
        """Return (m,) a raw measure by the name of its column; (draws, m) of one with the null's target.

        Raw: cosine and dot are larger for nearer vectors, l1, l2 and ned are smaller. NaN where undefined.
        """
        if name in NULL_RAW:
            return self._columns(null_name(measure, name))
        return np.asarray(self._columns(measure)[RAW.index(name)])

    def near(self, measure: Measure, name: str) -> Floats:
        """Return the closeness by the name of its column, shaped as :meth:`raw`; larger is nearer."""
        return nearness(measure, self.raw(measure, name))

    def planar(self, name: str, null: bool = False) -> Floats:
        """Return (m,) a field of :class:`~embassay.stats.geometry.plane.Plane`; (draws, m) with the null's targets.

        Angles are in radians. ``position`` is 0 at A and 1 at B, ``share`` in [0, 1] is how much of the target lies in
        the plane of A and B. NaN where undefined.
        """
        if null:
            return self._columns(null_name("plane", name))
        return np.asarray(self._columns("plane")[PLANAR.index(name)])

    def margins(self, criterion: str, measure: Measure, null: bool = False) -> tuple[Floats, Floats]:
        """Return the two margins of a criterion, (m,) or (draws, m); those of ``c4`` are against B and against A.

        A margin is in the units of the similarity function, and a condition holds where it is 0 or more. With ``null``,
        the target is that of another sample. The formulas are in the module's documentation.
        """
        target = "T"
        if null:
            target = "N"
        if criterion == "c4":
            x_target = self.near(measure, f"X{target}")
            x_b = self.near(measure, "XB")
            x_a = self.near(measure, "XA")
            return x_target - x_b, x_target - x_a
        a_target = self.near(measure, f"A{target}")
        b_target = self.near(measure, f"B{target}")
        a_b = self.near(measure, "AB")
        if criterion == "c1":
            return a_target - a_b, b_target - a_b
        return a_target - b_target, a_b - b_target

    def _columns(self, value: str) -> Floats:
        """Return the (k, m) columns of a value of the scores; each is made contiguous once, as it is read often."""
        if value not in self._columns_by_value:
            self._columns_by_value[value] = np.ascontiguousarray(self.scores.values[value][self.items].T)
        return self._columns_by_value[value]

    @cached_property
    def _columns_by_value(self) -> dict[str, Floats]:
        return {}


def null_name(value: str, column: str) -> str:
    """Return the name of the scores' value that holds the (n, draws) of a measure, or of the plane, with N."""
    return f"null/{value}/{column}"


def over_draws(values: Floats) -> Floats:
    """Return (m,) the means of (draws, m) over the draws that are defined; (m,) values as they are."""
    if values.ndim == 1:
        return values
    # Few columns have undefined draws, and the plain mean is several times as fast as nanmean. So only the columns
    # where it is NaN are computed again.
    mean: Floats = values.mean(axis=0)
    partly_undefined = np.flatnonzero(np.isnan(mean))
    if partly_undefined.size:
        columns = values[:, partly_undefined]
        defined = ~np.isnan(columns)
        number_defined = defined.sum(axis=0)
        total = np.where(defined, columns, 0.0).sum(axis=0)
        nan_by_default = np.full(len(partly_undefined), np.nan)
        mean[partly_undefined] = np.divide(total, number_defined, out=nan_by_default, where=number_defined > 0)
    return mean


def margin_criteria(operator: str) -> tuple[str, ...]:
    """Return the criteria that are margins, for the samples of an operator."""
    return {"overlap": ("c1",), "difference": ("c3", "c4"), "union": ()}[operator]


def margin_names(criterion: str) -> tuple[str, str]:
    """Return the subsets of a criterion's two margins."""
    if criterion == "c4":
        return "c4:vsB", "c4:vsA"
    return f"{criterion}:1", f"{criterion}:2"


def axes_of(criterion: str, measure: Measure, views: Sequence[OperatorView]) -> tuple[Grid, ...]:
    """Return the grids of a criterion's margins, each from the smallest to the largest over all the encoders.

    Encoders share the grid, because the share of a criterion over all tolerances depends on the grid's ends.
    """
    axes = list[Grid]()
    for low, high in _ends(criterion, measure, views):
        # Without a defined margin there are no ends.
        low_end, high_end = np.nan_to_num([np.fmin.reduce(low), np.fmax.reduce(high)]).tolist()
        axes.append(Grid.spanning(low_end, high_end, PER_BIN.get(measure, 23)))
    return tuple(axes)


def stretches(criterion: str, measure: Measure, views: Sequence[OperatorView]) -> list[float]:
    """Return how many times as long each encoder makes the grid of a criterion's margins: 1 or more, of both axes.

    0 where there is no other encoder, or where the margins of the others are all equal.
    """
    longest = [0.0] * len(views)
    for low, high in _ends(criterion, measure, views):
        for place in range(len(views)):
            others_low, others_high = np.delete(low, place), np.delete(high, place)
            if not np.isfinite(others_low).any():
                continue
            of_others = np.nanmax(others_high) - np.nanmin(others_low)
            if of_others > 0:
                with_all = np.nanmax(high) - np.nanmin(low)
                longest[place] = max(longest[place], float(with_all / of_others))
    return longest


def _ends(criterion: str, measure: Measure, views: Sequence[OperatorView]) -> list[tuple[Floats, Floats]]:
    """Return the (encoders,) smallest and largest values of each of a criterion's two margins; NaN for none."""
    margins_of_encoders = [view.margins(criterion, measure) for view in views]
    ends = list[tuple[Floats, Floats]]()
    for axis in (0, 1):
        low = np.array([np.fmin.reduce(margins[axis]) for margins in margins_of_encoders])
        high = np.array([np.fmax.reduce(margins[axis]) for margins in margins_of_encoders])
        ends.append((low, high))
    return ends


def bounds(axes: Sequence[Grid]) -> str:
    """Return the grid's ends as text, for a signature."""
    return ";".join(f"{axis.values[0]:.10g},{axis.values[-1]:.10g},{axis.size}" for axis in axes)


def at_zero(criterion: str, margins: tuple[Floats, Floats]) -> dict[str, Floats]:
    """Return the shares of a criterion at the tolerance ε = 0, (m,) in [0, 1] by subset; NaN where undefined.

    Parameters
    ----------
    margins
        From :meth:`OperatorView.margins`, (m,) or (draws, m) each; draws are averaged.
    """
    first, second = margins
    return _in_cells(criterion, _at_least_zero(first), _at_least_zero(second))


def on_grid(criterion: str, margins: tuple[Floats, Floats], axes: tuple[Grid, ...]) -> dict[str, Floats]:
    """Return the shares of a criterion averaged over the tolerances of a grid, as in the paper: (m,) by subset.

    In [0, 1]; NaN where undefined.

    Parameters
    ----------
    margins
        From :meth:`OperatorView.margins`, (m,) or (draws, m) each; draws are averaged.
    axes
        The grid of each margin, from :func:`axes_of`.
    """
    first, second = margins
    return _in_cells(criterion, axes[0].fraction(first), axes[1].fraction(second))


def _in_cells(criterion: str, first: Floats, second: Floats) -> dict[str, Floats]:
    """Return how far (condition 1, condition 2) are in each of their four cells; the two of c4 one by one.

    Parameters
    ----------
    first, second
        How far each condition holds, in [0, 1]: (m,), or (draws, m), which is averaged over the draws.
    """
    if criterion == "c4":
        return {"c4:vsB": over_draws(first), "c4:vsA": over_draws(second)}
    in_cells = cells(first, second)
    shares = dict[str, Floats]()
    for place, name in enumerate(CELLS):
        shares[f"{criterion}:{name}"] = over_draws(in_cells[:, place])
    return shares


def satisfied(view: OperatorView) -> Floats:
    """Return (m,) 1 where a sample satisfies the criterion of its operator, 0 where not, NaN where it is undefined.

    Overlaps: C1, differences: C3, both conditions at ε = 0 by cosine. Unions: the claim of C6 for the sample's case.
    """
    if view.operator == "union":
        return union_satisfied(view)
    criterion = CRITERION[view.operator]
    return at_zero(criterion, view.margins(criterion, "cosine"))[f"{criterion}:TT"]


def smaller_margin(view: OperatorView) -> Floats:
    """Return (m,) the smaller of the two margins of C1 or C3 by cosine; NaN for unions."""
    if view.operator == "union":
        return np.full(len(view.items), np.nan)
    return np.minimum(*view.margins(CRITERION[view.operator], "cosine"))


def union_satisfied(view: OperatorView, null: bool = False, comparable: float | None = None) -> Floats:
    """Return (m,) how far a union satisfies the claim of c6 for its case, in [0, 1]; NaN where it is undefined."""
    claims = np.stack(list(_union_claims(view, null, comparable).values()))
    # Every sample is in one case only, or in none where its norms have no ratio; NaN in its case is kept.
    of_case = np.where(claims == ABSENT, -np.inf, claims).max(axis=0)
    return np.where(np.isneginf(of_case), np.nan, of_case)


def planar_claims(view: OperatorView, null: bool = False) -> dict[str, Floats]:
    """Return the shares of the criteria about the plane, (m,) by subset.

    c2: ``between`` where |θ(A, B) − (θ(A, P) + θ(B, P))| < 1° for the projection P of the overlap (the authors' test),
    ``inside`` where its position is in [0, 1] (ours). c5: the projection of the difference is within 15° of A. c6:
    where the norms of A and B are comparable, the position of the union is in [0, 1]; where one is longer, its
    projection is within 15° of that one. c6 is ABSENT for samples of other cases. The numbers are options: ``LIMITS``.
    """
    if view.operator == "union":
        return _union_claims(view, null)
    from_a, from_b = view.planar("from_a", null), view.planar("from_b", null)
    if view.operator == "difference":
        near = np.deg2rad(view.limit("near"))
        return {NEAR_A.format(NEAR=near_written(view.scores)): over_draws(_holds(from_a, from_a <= near))}
    missed = np.abs(view.planar("angle") - (from_a + from_b))
    return {
        "c2:between": over_draws(_holds(missed, missed < np.deg2rad(view.limit("between")))),
        "c2:inside": over_draws(_inside(view.planar("position", null))),
    }


def _union_claims(view: OperatorView, null: bool = False, comparable: float | None = None) -> dict[str, Floats]:
    """Return the shares of c6; ``comparable`` in place of the run's limit of that name."""
    from_a, from_b = view.planar("from_a", null), view.planar("from_b", null)
    near = np.deg2rad(view.limit("near"))
    claims = {
        "middle": _inside(view.planar("position", null)),
        "near_a": _holds(from_a, from_a <= near),
        "near_b": _holds(from_b, from_b <= near),
    }
    cases = union_cases(view, comparable)
    shares = dict[str, Floats]()
    for name, claim in claims.items():
        is_in_case = cases[CASE_OF_CLAIM[name]]
        shares[f"c6:{name}"] = np.where(is_in_case, over_draws(claim), ABSENT)
    return shares


def union_cases(view: OperatorView, comparable: float | None = None) -> dict[str, NDArray[np.bool_]]:
    """Return which samples are in each case of c6, by ‖e(A)‖/‖e(B)‖ against 1 ± ``comparable``, else the run's."""
    if comparable is None:
        comparable = view.limit("comparable")
    ratio = view.planar("norm_ratio")
    longer_a, longer_b = ratio > 1 + comparable + TIE, ratio < 1 - comparable - TIE
    return {"comparable": ~(longer_a | longer_b | np.isnan(ratio)), "longer_a": longer_a, "longer_b": longer_b}


def yes_no(view: OperatorView) -> Iterator[tuple[MetricKey, Floats]]:
    """Yield the items of each share: (m,) 1 where a claim holds for a sample, 0 where not, NaN where undefined.

    Under the null an item is the share of the draws for which the claim holds. Shares are apart from :func:`numbers`,
    because their intervals are computed differently.
    """
    for criterion in margin_criteria(view.operator):
        for measure in MEASURES:
            for condition, null in (("eps0", False), ("null:eps0", True)):
                for subset, values in at_zero(criterion, view.margins(criterion, measure, null)).items():
                    yield MetricKey("share", subset, measure, condition), values
    for condition, null in (("", False), ("null", True)):
        for subset, values in planar_claims(view, null).items():
            yield MetricKey("share", subset, "angle", condition), values
    if view.operator == "union":
        for name, is_in_case in union_cases(view).items():
            # The share of samples in each case of c6; NaN where the ratio of the norms is undefined.
            values = _holds(view.planar("norm_ratio"), is_in_case)
            yield MetricKey("share", f"c6:{name}", "norm", ""), values


def numbers(view: OperatorView, axes: Axes) -> Iterator[tuple[MetricKey, Floats]]:
    """Yield the items of each mean that is not a share: (m,) numbers, NaN where undefined.

    These are margins, closeness of pairs, positions, the shares over the grid of tolerances, and each share's excess,
    the observed value less that of the null.
    """
    for criterion in margin_criteria(view.operator):
        for measure in MEASURES:
            yield from _margin_figures(view, criterion, measure, axes[criterion, measure])

    columns = ["AT", "BT", "AB", "AN", "BN"]
    if view.operator == "difference":
        columns += ["XT", "XB", "XA"]
    for measure in MEASURES:
        for column in columns:
            letters = column.replace("T", TARGET[view.operator])
            key = MetricKey("raw", f"{CRITERION[view.operator]}:{letters}", measure, "")
            yield key, over_draws(view.raw(measure, column))

    subset = PLANE_CRITERION[view.operator]
    for condition, null in (("", False), ("null", True)):
        position, share = view.planar("position", null), view.planar("share", null)
        yield MetricKey("position", subset, "angle", condition), over_draws(position)
        yield MetricKey("in_plane", subset, "angle", condition), over_draws(share)

    by_chance = planar_claims(view, null=True)
    for subset, observed in planar_claims(view).items():
        # Both are ABSENT for the same samples; infinity less infinity would be undefined.
        gaps = np.full(len(observed), ABSENT)
        np.subtract(observed, by_chance[subset], where=observed != ABSENT, out=gaps)
        yield MetricKey("share", subset, "angle", "excess"), gaps


def _margin_figures(
    view: OperatorView, criterion: str, measure: Measure, axes: tuple[Grid, ...]
) -> Iterator[tuple[MetricKey, Floats]]:
    """Yield the shares of a criterion over the grid and its excesses over the null, and its margins."""
    margins = view.margins(criterion, measure)
    null_margins = view.margins(criterion, measure, null=True)
    # Shares at a tolerance of 0, and averaged over the grid of tolerances, by subset.
    at_0 = at_zero(criterion, margins)
    null_at_0 = at_zero(criterion, null_margins)
    averaged = on_grid(criterion, margins, axes)
    null_averaged = on_grid(criterion, null_margins, axes)
    for subset, share in averaged.items():
        null_share = null_averaged[subset]
        yield MetricKey("share", subset, measure, "grid"), share
        yield MetricKey("share", subset, measure, "null:grid"), null_share
        yield MetricKey("share", subset, measure, "excess:grid"), share - null_share
        yield MetricKey("share", subset, measure, "excess:eps0"), at_0[subset] - null_at_0[subset]
    for subset, margin, null_margin in zip(margin_names(criterion), margins, null_margins, strict=True):
        yield MetricKey("margin", subset, measure, ""), margin
        yield MetricKey("margin", subset, measure, "null"), over_draws(null_margin)


def excess(view: OperatorView, key: MetricKey) -> Floats:
    """Return (m,) one share less its null, sample by sample; NaN where a sample is not of the case.

    Parameters
    ----------
    key
        With the condition ``excess:eps0`` (a criterion about margins) or ``excess`` (one about the plane).
    """
    if key.condition == "excess":
        observed, null = planar_claims(view), planar_claims(view, null=True)
    else:
        measure = cast(Measure, key.similarity_function)
        criterion = criterion_of(key)
        observed = at_zero(criterion, view.margins(criterion, measure))
        null = at_zero(criterion, view.margins(criterion, measure, null=True))
    subset = key.subset.format(NEAR=near_written(view.scores))
    # ABSENT is infinite, and infinity less infinity is NaN.
    with np.errstate(invalid="ignore"):
        return observed[subset] - null[subset]


def main_claim(view: OperatorView, null: bool = False) -> Floats:
    """Return whether each operator's first claim holds: c1 or c3 (both conditions, cosine, ε = 0), or c6 in the middle.

    Returns
    -------
    (m,) of 1, 0 and NaN; (draws, m) under the null.
    """
    if view.operator == "union":
        in_the_middle = _inside(view.planar("position", null))
        comparable = union_cases(view)["comparable"]
        return np.where(comparable, in_the_middle, np.nan)
    first, second = view.margins(CRITERION[view.operator], "cosine", null)
    return _at_least_zero(first) * _at_least_zero(second)


def _at_least_zero(margin: Floats) -> Floats:
    """Return 1 where a margin is 0 or more up to rounding, 0 where not, NaN where it is undefined."""
    return _holds(margin, margin >= -TIE)


def _inside(position: Floats) -> Floats:
    """Return 1 where a position lies between A, at 0, and B, at 1; 0 where not, NaN where it is undefined."""
    return _holds(position, (position >= -ROUNDING) & (position <= 1 + ROUNDING))


def _holds(values: Floats, condition: NDArray[np.bool_]) -> Floats:
    """Return 1 where a condition holds, 0 where not, NaN where the value that it is about is undefined."""
    return np.where(np.isnan(values), np.nan, condition.astype(np.float64))
