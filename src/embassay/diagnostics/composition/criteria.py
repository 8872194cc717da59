"""The criteria of Bansal et al. (2025, section 4) as arithmetic on one encoder's item scores.

A condition of C1, C3 or C4 holds where its margin m is 0 or more; the margin says how clearly. s is a closeness, for
which larger is nearer (a distance is negated), and O, D, U are the targets:

| | sample | m₁ | m₂ |
|---|---|---|---|
| c1 | overlap (A, B, O) | s(A,O) − s(A,B) | s(B,O) − s(A,B) |
| c3 | difference (A, B, D) | s(A,D) − s(B,D) | s(A,B) − s(B,D) |
| c4 | difference (A, B, D) | s(e(A)−e(B), e(D)) − s(e(A)−e(B), e(B)); ours, harder: … − s(e(A)−e(B), e(A)) | — |

The other three are about the projection of the target on the plane of A and B (:meth:`OperatorView.planar_claims`): c2
the overlap lies between A and B, c5 the difference lies near A, c6 the union lies in the middle, or near the longer.

Arrays are (m,) over the samples of one operator, or (draws, m) with the targets of the null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from embassay.core.metric_key import MetricKey
from embassay.diagnostics.metrics.scoreboard import View
from embassay.stats.geometry.closeness import MEASURES, Measure, nearness
from embassay.stats.grid import CELLS, Grid, cells
from embassay.stats.resample import ABSENT
from embassay.stats.units import Bools, Floats, Ints

BETWEEN, NEAR, COMPARABLE = np.deg2rad(1), np.deg2rad(15), 0.1
"""The paper's limits. c2: by how much the angles to A and to B may miss the angle between them. c5, c6: the largest
angle at which a projection is near a vector. c6: norms are comparable where their ratio is within 1 ± this.
"""
TIE = 1e-12
"""What misses a limit by this counts as reaching it, so that the rounding of float64 decides nothing."""
ROUNDING = 1e-9
"""How far rounding may put a target that equals A or B beyond it."""
PER_BIN = {"ned": 11}
"""Grid values in each of ten bins, where they are not 23."""
TARGET = {"overlap": "O", "difference": "D", "union": "U"}
CRITERION = {"overlap": "c1", "difference": "c3", "union": "c6"}
PLANE_CRITERION = {"overlap": "c2", "difference": "c5", "union": "c6"}
MARGIN_CRITERIA = {"overlap": ("c1",), "difference": ("c3", "c4"), "union": ()}
"""The criteria that are margins, for the samples of an operator."""
MARGINS = {"c1": ("c1:1", "c1:2"), "c3": ("c3:1", "c3:2"), "c4": ("c4:vsB", "c4:vsA")}
"""The subsets of a criterion's two margins."""
CASE_OF_CLAIM = {"middle": "comparable", "near_a": "longer_a", "near_b": "longer_b"}
"""c6: the case by the norms of A and B in which each claim is made."""
NULLS = {"": False, "null": True}
"""Whether the targets are those of other units, by condition."""
Axes = Mapping[tuple[str, str], Sequence[Grid]]
"""The grids of a criterion's two margins by (criterion, measure), over all encoders that were asked for."""


@dataclass(frozen=True)
class OperatorView(View):
    """One encoder's samples of one operator.

    Attributes
    ----------
    items
        (m,) which of the scores' items they are.
    """

    operator: str
    items: Ints

    def raw(self, measure: str, pair: str) -> Floats:
        """Return (m,) a raw measure of a pair; (draws, m) of one with the null's target.

        Raw: cosine and dot are larger for nearer vectors, l1, l2 and ned are smaller. NaN where undefined.
        """
        return self._stored(f"{measure}/{pair}")

    def planar(self, name: str, null: bool = False) -> Floats:
        """Return (m,) a field of :class:`~embassay.stats.geometry.plane.Plane`; (draws, m) with the null's targets.

        Angles are in radians. ``position`` is 0 at A and 1 at B, ``share`` in [0, 1] is how much of the target lies in
        the plane of A and B. NaN where undefined.
        """
        return self._stored(f"null plane/{name}" if null else f"plane/{name}")

    def _stored(self, name: str) -> Floats:
        """Return the (m,) or (draws, m) values of this name; each is made contiguous once, as it is read often."""
        if name not in self._stored_by_name:
            self._stored_by_name[name] = np.ascontiguousarray(self.scores.values[name][self.items].T)
        return self._stored_by_name[name]

    @cached_property
    def _stored_by_name(self) -> dict[str, Floats]:
        return {}

    def margins(self, criterion: str, measure: Measure, null: bool = False) -> tuple[Floats, Floats]:
        """Return the two margins of a criterion, (m,) or (draws, m); those of ``c4`` are against B and against A.

        A margin is in the units of the similarity function, and a condition holds where it is 0 or more. With ``null``,
        the target is that of another sample. The formulas are in the module's documentation.
        """
        target = "N" if null else "T"

        def near(pair: str) -> Floats:
            return nearness(measure, self.raw(measure, pair))

        if criterion == "c4":
            return near(f"X{target}") - near("XB"), near(f"X{target}") - near("XA")
        a_target, b_target, a_b = near(f"A{target}"), near(f"B{target}"), near("AB")
        if criterion == "c1":
            return a_target - a_b, b_target - a_b
        return a_target - b_target, a_b - b_target

    def claims(
        self, criterion: str, measure: Measure, null: bool = False, axes: Axes | None = None
    ) -> dict[str, Floats]:
        """Return how far a sample satisfies a criterion of margins: (m,) in [0, 1] by subset, NaN where undefined.

        Subsets are the four cells of (condition 1, condition 2), or the two conditions of c4 one by one.

        Parameters
        ----------
        axes
            Grids of tolerances that the share is averaged over, as in the paper; by default the tolerance is ε = 0.
        """
        first, second = self.margins(criterion, measure, null)
        if axes is None:
            first, second = _at_least_zero(first), _at_least_zero(second)
        else:
            grids = axes[criterion, measure]
            first, second = grids[0].fraction(first), grids[1].fraction(second)
        if criterion == "c4":
            return dict(zip(MARGINS["c4"], (over_draws(first), over_draws(second)), strict=True))
        in_cells = cells(first, second)
        return {f"{criterion}:{cell}": over_draws(in_cells[:, place]) for place, cell in enumerate(CELLS)}

    def planar_claims(self, null: bool = False) -> dict[str, Floats]:
        """Return the shares of the criteria about the plane, (m,) by subset.

        c2: ``between`` where |θ(A, B) − (θ(A, P) + θ(B, P))| < 1° for the projection P of the overlap (the authors'
        test), ``inside`` where its position is in [0, 1] (ours). c5: the projection of the difference is within 15° of
        A. c6: where the norms of A and B are comparable, the position of the union is in [0, 1]; where one is longer,
        its projection is within 15° of that one. c6 is ABSENT for samples of other cases.
        """
        from_a, from_b = self.planar("from_a", null), self.planar("from_b", null)
        position = self.planar("position", null)
        inside = _holds(position, (position >= -ROUNDING) & (position <= 1 + ROUNDING))
        near_a, near_b = _holds(from_a, from_a <= NEAR), _holds(from_b, from_b <= NEAR)
        if self.operator == "difference":
            return {"c5:within15": over_draws(near_a)}
        if self.operator == "overlap":
            missed = np.abs(self.planar("angle") - (from_a + from_b))
            between = _holds(missed, missed < BETWEEN)
            return {"c2:between": over_draws(between), "c2:inside": over_draws(inside)}
        cases = self.cases()
        claims = zip(CASE_OF_CLAIM.items(), (inside, near_a, near_b), strict=True)
        return {f"c6:{name}": np.where(cases[case], over_draws(claim), ABSENT) for (name, case), claim in claims}

    def cases(self) -> dict[str, Bools]:
        """Return which unions are in each case of c6, by ‖e(A)‖/‖e(B)‖ against 1 ± 0.1."""
        ratio = self.planar("norm_ratio")
        longer_a, longer_b = ratio > 1 + COMPARABLE + TIE, ratio < 1 - COMPARABLE - TIE
        return {"comparable": ~(longer_a | longer_b | np.isnan(ratio)), "longer_a": longer_a, "longer_b": longer_b}

    def satisfied(self) -> Floats:
        """Return (m,) how far a sample satisfies the criterion of its operator, in [0, 1]; NaN where it is undefined.

        Overlaps: C1, differences: C3, both conditions at ε = 0 by cosine. Unions: the claim of C6 for the sample's
        case.
        """
        if self.operator != "union":
            criterion = CRITERION[self.operator]
            return self.claims(criterion, "cosine")[f"{criterion}:TT"]
        # Every sample is in one case only, or in none where its norms have no ratio; NaN in its case is kept.
        claims = np.stack(list(self.planar_claims().values()))
        of_case = np.where(claims == ABSENT, -np.inf, claims).max(axis=0)
        return np.where(np.isneginf(of_case), np.nan, of_case)

    @cached_property
    def figures(self) -> dict[MetricKey, Floats]:
        """The (m,) values of each figure that does not depend on other encoders: shares, margins, closeness, positions.

        Under the null a value is the mean over the draws. ABSENT is a sample that the figure is not about.
        """
        figures = dict(_beside_null("angle", "", self.planar_claims))
        pairs = ("AT", "BT", "AB", "AN", "BN", *(("XT", "XB", "XA") if self.operator == "difference" else ()))
        for measure in MEASURES:
            for criterion in MARGIN_CRITERIA[self.operator]:
                figures |= _beside_null(measure, "eps0", partial(self.claims, criterion, measure))
                for condition, null in NULLS.items():
                    for subset, margin in zip(MARGINS[criterion], self.margins(criterion, measure, null), strict=True):
                        figures[MetricKey("margin", subset, measure, condition)] = over_draws(margin)
            for pair in pairs:
                subset = f"{CRITERION[self.operator]}:{pair.replace('T', TARGET[self.operator])}"
                figures[MetricKey("raw", subset, measure)] = over_draws(self.raw(measure, pair))
        for condition, null in NULLS.items():
            for metric, field in (("position", "position"), ("in_plane", "share")):
                key = MetricKey(metric, PLANE_CRITERION[self.operator], "angle", condition)
                figures[key] = over_draws(self.planar(field, null))
        for case, is_in_case in self.cases().items() if self.operator == "union" else ():
            figures[MetricKey("share", f"c6:{case}", "norm")] = _holds(self.planar("norm_ratio"), is_in_case)
        return figures

    def on_grid(self, axes: Axes) -> dict[MetricKey, Floats]:
        """Return the (m,) shares averaged over the grids of tolerances, their nulls, and the excess."""
        figures = dict[MetricKey, Floats]()
        for measure in MEASURES:
            for criterion in MARGIN_CRITERIA[self.operator]:
                figures |= _beside_null(measure, "grid", partial(self.claims, criterion, measure, axes=axes))
        return figures


def _beside_null(
    measure: str, condition: str, claims: Callable[..., Mapping[str, Floats]]
) -> Iterator[tuple[MetricKey, Floats]]:
    """Yield the shares, those of the null, and the excess: the one less the other, sample by sample."""
    by_chance = claims(null=True)
    for subset, share in claims().items():
        null = by_chance[subset]
        # Both are ABSENT for the same samples, and infinity less infinity would be NaN.
        excess = share - np.where(null == ABSENT, 0.0, null)
        for name, values in (("", share), ("null", null), ("excess", excess)):
            yield MetricKey("share", subset, measure, ":".join(filter(None, (name, condition)))), values


def axes_of(views: Sequence[OperatorView]) -> Axes:
    """Return the grids of the margins of an operator, each from the smallest to the largest over all these encoders.

    Encoders share the grid, because the share of a criterion over all tolerances depends on the grid's ends.
    """
    axes = dict[tuple[str, str], Sequence[Grid]]()
    for criterion in MARGIN_CRITERIA[views[0].operator]:
        for measure in MEASURES:
            margins = np.concatenate([view.margins(criterion, measure) for view in views], axis=1)
            # Without a defined margin there are no ends.
            ends = np.nan_to_num([np.fmin.reduce(margins, axis=1), np.fmax.reduce(margins, axis=1)])
            per_bin = PER_BIN.get(measure, 23)
            axes[criterion, measure] = [Grid.spanning(low, high, per_bin) for low, high in ends.T.tolist()]
    return axes


def over_draws(values: Floats) -> Floats:
    """Return (m,) the means of (draws, m) over the draws that are defined; (m,) values as they are."""
    if values.ndim == 1:
        return values
    number = np.count_nonzero(~np.isnan(values), axis=0)
    return np.asarray(np.divide(np.nansum(values, axis=0), number, out=np.full(len(number), np.nan), where=number > 0))


def _at_least_zero(margin: Floats) -> Floats:
    """Return 1 where a margin is 0 or more up to rounding, 0 where not, NaN where it is undefined."""
    return _holds(margin, margin >= -TIE)


def _holds(values: Floats, condition: Bools) -> Floats:
    """Return 1 where a condition holds, 0 where not, NaN where the value that it is about is undefined."""
    return np.where(np.isnan(values), np.nan, condition.astype(np.float64))
