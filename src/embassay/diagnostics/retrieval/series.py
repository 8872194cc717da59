"""The series of retrieval: densities, a table of similarities, curves over ψ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from embassay.core.formatting import number
from embassay.core.result import MIN_UNITS, Row, Series
from embassay.core.types import Draws
from embassay.diagnostics.metrics.scoreboard import without_baselines
from embassay.diagnostics.published import table
from embassay.diagnostics.retrieval.view import NAME, RetrievalView
from embassay.stats.density import FINE, bandwidth, density
from embassay.stats.exams import GRID, range_width
from embassay.stats.resample import bootstrap_means, percentiles, tail
from embassay.stats.units import Floats

POINTS = 160
"""Points of each density curve."""
STEP = 0.05
STEPS = 20
"""The rows of the table of similarities: every 0.05 of a cosine, twentieths of the range of a dot product."""
CARD = {
    "encoder": "text",
    "similarity": "number",
    "random pairs below it": "percent",
    "retrieved pairs below it": "percent",
    "right pairs below it": "percent",
}
WIDTHS = {
    "pair": "text",
    "width of the first": "percent",
    "of the second": "percent",
    "difference": "percent",
    "from": "percent",
    "to": "percent",
}
"""The columns of the table of the widths of the ranges of exams, with their formats."""
CURVES = {"coe": "COE", "roe": "ROE"}
"""The title of each metric that is drawn over ψ."""


class CardRow(NamedTuple):
    """A row of the table of similarities, in the order of ``CARD``.

    Attributes
    ----------
    random_below, retrieved_below, right_below
        The share of the questions' random, retrieved and right documents that are less similar than ``similarity``.
    """

    encoder: str
    similarity: float
    random_below: float
    retrieved_below: float
    right_below: float


def series_of(
    views: Sequence[RetrievalView], rows: Sequence[Row], success: Mapping[str, Row], draws: Draws
) -> Iterator[Series]:
    """Yield the figures of one corpus; ``success`` has the rows of the headline by encoder."""
    corpus = views[0].corpus
    drawable = [view for view in views if len(view.answers.top)]
    # Lists of a few documents have no similarities to random ones.
    compared = [view for view in drawable if view.listed is None]
    if compared:
        yield from _of_similarities(compared, success)
    candidates = without_baselines(drawable)
    if len(candidates) > 1 and len(np.unique(views[0].unit)) >= MIN_UNITS:
        yield table(NAME, corpus, "widths", WIDTHS, _widths(candidates, draws))
    lines = list[dict[str, object]]()
    for view in views:
        curve_of_settings = view.curve
        if curve_of_settings:
            at, means = list(curve_of_settings), list(curve_of_settings.values())
            lines.append({"encoder": view.encoder, "line": "RR", "at": at, "y": means})
    if lines:
        yield Series(NAME, corpus, "weights", "curve", {"x": "weight", "y": "RR", "at": (), "lines": lines})
    value_of = {(r.encoder, r.metric, r.subset): r.value for r in rows}
    for metric, title in CURVES.items():
        lines = []
        some_value_is_defined = False
        for view in drawable:
            values = [value_of.get((view.encoder, metric, f"psi{psi}")) for psi in GRID]
            lines.append({"encoder": view.encoder, "line": title, "y": values})
            some_value_is_defined |= any(value is not None for value in values)
        if some_value_is_defined:
            curve = {
                "x": "ψ, percentile of the retrieved similarities",
                "y": title,
                "at": GRID,
                "lines": lines,
                "options": views[0].shown,
            }
            yield Series(NAME, corpus, metric, "curve", curve)


def _of_similarities(views: Sequence[RetrievalView], success: Mapping[str, Row]) -> Iterator[Series]:
    """Yield the densities of those that can be drawn, and the table of similarities of all."""
    corpus = views[0].corpus
    curves = list[dict[str, object]]()
    card = list[CardRow]()
    for view in views:
        curves += _densities(view)
        card += _card(view)
    if curves:
        # Each line has its own points: the similarities of two encoders may have different ranges.
        data = {"x": "similarity", "y": "density", "at": (), "lines": curves}
        yield Series(NAME, corpus, "densities", "curve", data)
    yield table(NAME, corpus, "card", CARD, card, note=_note_on_card(views, success, card))


def _widths(views: Sequence[RetrievalView], draws: Draws) -> list[list[object]]:
    """Return how much the widths of the ranges of exams differ, for each pair of encoders.

    The intervals are paired: each resample of units gives the widths of all encoders.
    """
    success = np.stack([view.scores.values[view.headline][view.answered] for view in views], axis=1)
    moments = np.hstack([success, success**2])
    replicates = bootstrap_means(moments, views[0].unit, draws, *views[0].stream)
    mean, mean_of_squares = np.hsplit(np.vstack([np.nanmean(moments, axis=0), replicates]), 2)
    # (1 + resamples, encoders): the first row has the observed widths.
    width = range_width(mean, mean_of_squares, views[0].length)
    share = np.array([tail(np.bincount(views[0].unit).astype(np.float64))])
    lines = list[list[object]]()
    for a, b in combinations(range(len(views)), 2):
        differences = width[:, [a]] - width[:, [b]]
        low, high = percentiles(differences[1:], share)
        figures = np.concatenate([width[0, [a, b]], differences[0], low, high])
        lines.append([f"{views[a].encoder} − {views[b].encoder}", *figures.tolist()])
    return lines


def _densities(view: RetrievalView) -> Iterator[dict[str, object]]:
    """Yield the density of each kind of similarity, at 160 points of a common axis; nothing that cannot be drawn.

    The scores of a search engine may be of any size: near 5 · 10¹⁷ neighbouring floats are 64 apart, and the squares of
    the largest ones are infinite.
    """
    sets = _similarities(view)
    with np.errstate(all="ignore"):
        low, high = _plotted_range(view, sets)
        if not np.spacing(max(-low, high)) < (high - low) / FINE < np.inf:
            return
    grid = np.linspace(low, high, POINTS)
    # The density is reflected at the ends of what is possible. A dot product has no such ends.
    if view.compares_by_dot:
        smallest, largest = low, high
    else:
        smallest, largest = -1.0, 1.0
    for name, values in sets.items():
        curve = density(values, grid, smallest, largest)
        yield {"encoder": view.encoder, "line": name, "at": grid.tolist(), "y": curve.tolist()}


def _similarities(view: RetrievalView) -> dict[str, Floats]:
    """Return the defined similarities of questions to random, retrieved and right documents."""
    sets = {"random": view.random.ravel(), "retrieved": view.answers.top.ravel(), "right": view.answers.own}
    return {name: values[np.isfinite(values)] for name, values in sets.items()}


def _plotted_range(view: RetrievalView, sets: Mapping[str, Floats]) -> tuple[float, float]:
    """Return the ends of the x axis: three bandwidths beyond the values, within [−1, 1] for cosines."""
    values = np.concatenate(list(sets.values()))
    widest = max(bandwidth(of_set) for of_set in sets.values())
    margin = max(3 * widest, 1e-6)
    low = float(values.min() - margin)
    high = float(values.max() + margin)
    if view.compares_by_dot:
        return low, high
    return max(low, -1.0), min(high, 1.0)


def _card(view: RetrievalView) -> Iterator[CardRow]:
    """Yield, for each similarity, the share of random, retrieved and right pairs that are less similar."""
    sets = _similarities(view)
    random = np.sort(sets["random"])
    retrieved = np.sort(sets["retrieved"])
    right = np.sort(sets["right"])
    for similarity in _card_similarities(view, [random, retrieved, right]).tolist():
        yield CardRow(
            view.encoder,
            similarity,
            random_below=_share_below(similarity, random),
            retrieved_below=_share_below(similarity, retrieved),
            right_below=_share_below(similarity, right),
        )


def _share_below(value: float, ascending: Floats) -> float:
    """Return the share of (n,) ascending numbers that are below a value; 0 if there are none."""
    if not len(ascending):
        return 0.0
    count_below = int(np.searchsorted(ascending, value))
    return count_below / len(ascending)


def _note_on_card(views: Sequence[RetrievalView], success: Mapping[str, Row], card: Sequence[CardRow]) -> str:
    """Say what the most typical similarity of a right document means for the encoder with the highest success.

    Empty if no encoder has a success.
    """
    ranked = [
        (row.value, view) for view in without_baselines(views) if (row := success[view.encoder]).value is not None
    ]
    if not ranked:
        return ""
    _, best = max(ranked, key=itemgetter(0))
    rows_of_best = [row for row in card if row.encoder == best.encoder]
    # Of the rows, the one that divides the right documents most evenly.
    middle = min(rows_of_best, key=lambda row: abs(row.right_below - 0.5))
    random = number(1 - middle.random_below)
    retrieved = number(1 - middle.retrieved_below)
    right = number(1 - middle.right_below)
    return (
        f"With {best.encoder}, which has the highest {best.headline} of these, a similarity of {middle.similarity:.2f} "
        f"or more is reached by {right} of the right documents, {retrieved} of the retrieved ones and {random} of "
        "random ones."
    )


def _card_similarities(view: RetrievalView, sets: Sequence[Floats]) -> Floats:
    """Return the (rows,) similarities of the card's rows, from the smallest value to the largest."""
    values = np.concatenate(sets)
    low, high = values.min(), values.max()
    if view.compares_by_dot:
        return np.linspace(low, high, STEPS + 1)
    # Cosines have a common scale, so the rows of all encoders are multiples of the step.
    first_multiple, last_multiple = np.floor(low / STEP), np.ceil(high / STEP)
    return np.arange(first_multiple, last_multiple + 1) * STEP
