"""The figures and the page of the composition diagnostic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    CountBars,
    Curves,
    EncoderTable,
    ExampleColumn,
    Examples,
    Histograms,
    IntervalChart,
    Layout,
    SeriesTable,
)
from embassay.core.result import Series
from embassay.core.samples.composition import OPERATORS
from embassay.core.types import ItemScores
from embassay.diagnostics.composition.criteria import (
    NEAR_A,
    OperatorView,
    over_draws,
    union_cases,
    union_satisfied,
)
from embassay.diagnostics.composition.metrics import METRICS
from embassay.stats.density import histogram
from embassay.stats.geometry.closeness import MEASURES
from embassay.stats.grid import CELLS
from embassay.stats.units import Floats

RATIOS = (0.0, 2.0)
"""The ends of the histograms of ratios."""
DEGREES = np.arange(0, 181, 3)
"""The angles at which the curves of differences near A, and of unions near the longer vector, are drawn."""
MARGINS = np.linspace(0.025, 1.0, 40)
"""The margins of comparable norms at which the curve of C6 is drawn; at 0, rounding would decide."""


def series(diagnostic: str, scores: Sequence[ItemScores], blocks: Mapping[str, NDArray[np.int64]]) -> Iterator[Series]:
    """Yield the histograms of angles (the paper's figures 4 and 6) and of norm ratios (10), and the share near A."""
    corpus = scores[0].origin.corpus
    views: dict[str, list[OperatorView]] = {}
    for operator in OPERATORS:
        if operator not in blocks:
            continue
        views[operator] = [OperatorView(s, operator, blocks[operator]) for s in scores]
        angles = _Histogram("angle / angle between A and B")
        for view in views[operator]:
            # Where A and B have the same direction the ratio is undefined.
            with np.errstate(invalid="ignore"):
                angles.add(view, "A to projection", view.planar("from_a") / view.planar("angle"))
                angles.add(view, "B to projection", view.planar("from_b") / view.planar("angle"))
        yield angles.series(diagnostic, corpus, f"angles_{operator}")
    if "difference" in views:
        data = _curve("angle to A, degrees", DEGREES, _near_a, views["difference"])
        yield Series(diagnostic, corpus, "within", "curve", data)
    if "union" in views:
        ratios = _Histogram("‖A‖ / ‖B‖")
        for view in views["union"]:
            ratios.add(view, "samples", view.planar("norm_ratio"))
        with_longer = [view for view in views["union"] if not np.isnan(_near_longer(view, False, 180)).all()]
        if with_longer:
            data = _curve("angle to the longer of A and B, degrees", DEGREES, _near_longer, with_longer)
            yield Series(diagnostic, corpus, "within_union", "curve", data)
        data = _curve("norms are comparable within 1 ±", MARGINS, union_satisfied, views["union"])
        yield Series(diagnostic, corpus, "comparable_union", "curve", data)
        yield ratios.series(diagnostic, corpus, "norm_ratio")


@dataclass
class _Histogram:
    """Histogram panels of ratios that share the same bins."""

    title: str
    panels: list[dict[str, object]] = field(default_factory=list)

    def add(self, view: OperatorView, line: str, values: Floats) -> None:
        """Add a panel with the histogram of one encoder's ``values``."""
        shares = histogram(values, *RATIOS)[1]
        self.panels.append({"encoder": view.encoder, "line": line, "shares": shares.tolist()})

    def series(self, diagnostic: str, corpus: str, name: str) -> Series:
        """Return the panels as a histogram series."""
        edges = histogram(np.zeros(0), *RATIOS)[0]
        data = {"x": self.title, "edges": edges.tolist(), "panels": self.panels}
        return Series(diagnostic, corpus, name, "histogram", data)


def _curve(
    x: str, at: NDArray[Any], holds: Callable[[OperatorView, bool, float], Floats], views: Sequence[OperatorView]
) -> dict[str, object]:
    """Return, for each encoder and its null, the share of samples for which something holds at each value.

    Parameters
    ----------
    x
        What the values ``at`` are.
    holds
        Returns (m,) or (draws, m) of 1, 0 and NaN, given a view, whether the targets are the null's, and the value.
    """
    operator = views[0].operator
    lines = list[dict[str, object]]()
    for view in views:
        for name, null in ((operator, False), ("null", True)):
            shares = list[float]()
            for value in at.tolist():
                of_samples = over_draws(holds(view, null, value))
                defined = of_samples[~np.isnan(of_samples)]
                shares.append(float(defined.mean()) if len(defined) else 0.0)
            lines.append({"encoder": view.encoder, "line": name, "y": shares})
    return {"x": x, "y": f"share of {operator}s", "at": at.tolist(), "lines": lines}


def _near_a(view: OperatorView, null: bool, largest: float) -> Floats:
    """Return whether the projections are within ``largest`` degrees of A."""
    return _at_most(view.planar("from_a", null), largest)


def _near_longer(view: OperatorView, null: bool, largest: float) -> Floats:
    """Return whether they are as near to the longer of A and B; NaN where the norms are comparable."""
    cases = union_cases(view)
    angles = [view.planar("from_a", null), view.planar("from_b", null)]
    return _at_most(np.select([cases["longer_a"], cases["longer_b"]], angles, np.nan), largest)


def _at_most(angle: Floats, largest: float) -> Floats:
    """Return 1 where an angle in radians is at most so many degrees, 0 where not, NaN where it is undefined."""
    return np.where(np.isnan(angle), np.nan, np.rad2deg(angle) <= largest)


def _share(heading: str, subset: str, condition: str = "eps0", measure: str = "cosine") -> Column:
    """Return the column of a share, at ε = 0 and by cosine unless stated otherwise."""
    return Column(heading, "share", subset, condition=condition, similarity_function=measure)


def _cells(criterion: str, condition: str) -> tuple[Column, ...]:
    """Return a column for each cell of (condition 1, condition 2), and one for both conditions under the null."""
    columns = list[Column]()
    for cell in CELLS:
        columns.append(Column(cell, "share", f"{criterion}:{cell}", condition=condition))
    columns.append(Column("TT, null", "share", f"{criterion}:TT", condition=f"null:{condition}"))
    return tuple(columns)


def _at_zero(criterion: str) -> EncoderTable:
    """Return the table of a criterion without tolerance."""
    return EncoderTable(
        f"{criterion.upper()} at ε = 0, by similarity function",
        _cells(criterion, "eps0"),
        note=f"{_CONDITIONS[criterion]} T holds, F does not. {_NULL}Values can be compared between runs.",
        similarity_functions=MEASURES,
    )


def _on_grid(criterion: str) -> EncoderTable:
    """Return the table of a criterion over all tolerances."""
    return EncoderTable(
        f"{criterion.upper()} averaged over the grid of tolerances",
        _cells(criterion, "grid"),
        note="Each axis runs from the smallest to the largest margin of all candidates, so a value depends on"
        " which encoders are compared; the signature names the ends of the grid.",
        similarity_functions=MEASURES,
    )


def _raw_columns() -> tuple[Column, ...]:
    """Return the columns of closeness: A and B with each operator's target, with each other, A with the null."""
    columns = list[Column]()
    for criterion, target in (("c1", "O"), ("c3", "D"), ("c6", "U")):
        for pair in (f"A{target}", f"B{target}", "AB", "AN"):
            heading = " ".join(pair)
            columns.append(Column(heading, "raw", f"{criterion}:{pair}"))
    return tuple(columns)


_HEADLINE = METRICS[0].column
_CONDITIONS = {
    "c1": "Overlap O of A and B. First: O is nearer to A than B is; second: O is nearer to B than A is.",
    "c3": "Difference D = A − B. First: D is nearer to A than to B; second: A is nearer to B than D is.",
}
_NULL = "Null: the mean over 20 draws of targets from other units. "


def page(near: str) -> Layout:
    """Return the page for ``near``, the angle of C5 and C6 in degrees."""
    near_a = NEAR_A.format(NEAR=near)
    return Layout(
        title="Set composition",
        question="Do overlap, difference and union of sentences behave like sets?",
        headline=EncoderTable(
            "Share of samples that satisfy each criterion",
            (
                _HEADLINE,
                _share("C1", "c1:TT"),
                _share("C2", "c2:between", "", "angle"),
                _share("C3", "c3:TT"),
                _share("C4", "c4:vsB"),
                _share("C5", near_a, "", "angle"),
                _share("C6", "c6:middle", "", "angle"),
            ),
            note="C1: the overlap is nearer to A and to B than they are to each other (cosine, both, ε = 0); C1 − "
            "null: minus the mean share with overlaps taken from other units. C2: its projection on the plane of A and "
            "B lies between them (within the option between, by default 1°). C3: the difference A − B is nearer to A "
            "than to B, and A is nearer to B than the difference is. C4: e(A) − e(B) is nearer to the difference than "
            f"to B. C5: the difference's projection is within {near}° of A. C6: the union's projection lies between A "
            "and B where their norms are comparable.",
        ),
        parts=(
            IntervalChart("C1 at ε = 0, less its null", _HEADLINE),
            ComparisonTable(
                "Which differences are shown",
                _HEADLINE,
                note="Paired on the same samples, each minus its null; p by exchanging items that share labels, "
                "corrected within each family.",
            ),
            EncoderTable(
                "Beyond a wrong target: each criterion less its null",
                (
                    _HEADLINE,
                    Column("C2", "share", "c2:between", "excess", "angle"),
                    Column("C3", "share", "c3:TT", "excess:eps0", "cosine"),
                    Column("C4 vs B", "share", "c4:vsB", "excess:eps0", "cosine"),
                    Column("C4 vs A", "share", "c4:vsA", "excess:eps0", "cosine"),
                    Column("C5", "share", near_a, "excess", "angle"),
                    Column("C6", "share", "c6:middle", "excess", "angle"),
                ),
                note="In points. If the interval contains 0, no difference from a wrong target is shown. C4 vs "
                "A is the harder variant: nearer to the difference than to A (not in the paper).",
            ),
            _at_zero("c1"),
            _at_zero("c3"),
            EncoderTable(
                "C4: is e(A) − e(B) nearer to the difference?",
                (
                    Column("than to B", "share", "c4:vsB", condition="eps0"),
                    Column("null", "share", "c4:vsB", condition="null:eps0"),
                    Column("than to A", "share", "c4:vsA", condition="eps0"),
                    Column("null", "share", "c4:vsA", condition="null:eps0"),
                    Column("vs B, grid", "share", "c4:vsB", condition="grid"),
                    Column("vs A, grid", "share", "c4:vsA", condition="grid"),
                ),
                similarity_functions=MEASURES,
            ),
            EncoderTable(
                "Where the projections fall",
                (
                    _share("C2: 0 ≤ τ ≤ 1", "c2:inside", "", "angle"),
                    Column("τ, overlap", "position", "c2"),
                    Column("τ, difference", "position", "c5"),
                    Column("τ, union", "position", "c6"),
                    Column("in plane, overlap", "in_plane", "c2"),
                    Column("in plane, difference", "in_plane", "c5"),
                    Column("in plane, union", "in_plane", "c6"),
                ),
                note="τ: mean position of the projection, 0 is A, 1 is B (not in the paper). In plane: mean share of "
                "the target's length that lies in the plane (not in the paper); it means little for a vector that is "
                "nearly orthogonal to the plane.",
            ),
            Curves(
                "How near to A the difference falls",
                "within",
                note="The share of differences whose projection lies within an angle of A; C5 reads it "
                f"off at {near}°.",
            ),
            EncoderTable(
                "C6: the union, by the norms of A and B",
                (
                    Column("comparable", "share", "c6:comparable"),
                    Column("in the middle", "share", "c6:middle", condition=""),
                    Column("A longer", "share", "c6:longer_a"),
                    Column("near A", "share", "c6:near_a", condition=""),
                    Column("B longer", "share", "c6:longer_b"),
                    Column("near B", "share", "c6:near_b", condition=""),
                ),
                note="Comparable: ‖A‖/‖B‖ within 1 ± the option comparable, by default 0.1. Where one is longer, the "
                f"union should lie within {near}° of it.",
            ),
            Curves(
                "How near to the longer of A and B the union falls",
                "within_union",
                note="The share of unions whose projection lies within an angle of the longer one, where the norms are "
                f"not comparable; C6 reads it off at {near}°.",
            ),
            Curves(
                "C6, by which norms count as comparable",
                "comparable_union",
                note="The share of unions that satisfy the claim for their case, where norms are comparable within 1 ± "
                "a margin; the paper's margin is 0.1.",
            ),
            EncoderTable(
                "Mean margins",
                (
                    Column("C1 m1", "margin", "c1:1"),
                    Column("C1 m2", "margin", "c1:2"),
                    Column("C3 m1", "margin", "c3:1"),
                    Column("C3 m2", "margin", "c3:2"),
                    Column("C4 vs B", "margin", "c4:vsB"),
                    Column("C4 vs A", "margin", "c4:vsA"),
                ),
                note="Positive where the condition holds.",
                similarity_functions=MEASURES,
            ),
            EncoderTable(
                "Raw similarities, on average",
                _raw_columns(),
                note="Between A and the target (O, D or U), B and the target, A and B, and A and another unit's target "
                "(N). A distance is larger when farther.",
                similarity_functions=MEASURES,
            ),
            CorpusTable(
                "What people thought of the targets",
                (
                    Column("mean rating (0-4)", "rating"),
                    Column("median", "rating_median"),
                    Column("agreement (α)", "agreement"),
                ),
                note="Krippendorff's alpha for interval data: 1 full agreement, 0 none beyond chance.",
            ),
            Examples(
                "Sample by sample",
                "a",
                prefix="A",
                texts=(("b", "B"), ("overlap", "overlap"), ("difference", "difference A − B"), ("union", "union")),
                columns=(
                    ExampleColumn("A with the result", ("a",)),
                    ExampleColumn("B with the result", ("b",)),
                    ExampleColumn("A with B", ("ab",)),
                ),
                margin="the smaller margin of C1 or C3; unions have none",
                note="Cosines. Right: the overlap is nearer to A and to B than they are to each other (C1); the "
                "difference A − B is nearer to A than to B, and B is nearer to A than to the difference (C3); the "
                "union lies between A and B, or near the longer of them (C6). In mirrored differences A and B are "
                "exchanged.",
            ),
        ),
        source="Bansal, Mahajan, Sinha & Karmaker (2025), Set-Theoretic Compositionality of Sentence Embeddings",
        paper=(
            SeriesTable("Classical encoders and language models", "classes"),
            _on_grid("c1"),
            _on_grid("c3"),
            Histograms(
                "Angles of the overlap's projection",
                "angles_overlap",
                note="The paper's figures 4 and 6: between A and B, both angles are below 1 and their sum is 1.",
            ),
            Histograms(
                "Angles of the difference's projection", "angles_difference", note="The paper's figures 4 and 6."
            ),
            Histograms("Angles of the union's projection", "angles_union", note="The paper's figures 4 and 6."),
            Histograms("Norm of A over norm of B", "norm_ratio", note="The paper's figure 10."),
            CountBars(
                "How often each rating was given",
                "ratings",
                "rating",
                "share of ratings",
                "operator",
                note="The paper's figure 3: 0 strongly disagree, 4 strongly agree; every annotator's rating counts.",
            ),
            SeriesTable("Ratings given", "ratings"),
        ),
    )
