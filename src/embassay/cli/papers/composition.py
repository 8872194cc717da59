"""Bansal, Mahajan, Sinha & Karmaker (2025), set-theoretic compositionality: tables 1 to 3, 12 to 17, and the figures.

The copy of the paper that this is written from has lost all numbers of its tables, so nothing can be compared: the
figures are those of the same models on other data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from embassay.cli.papers.bench import Bench
from embassay.cli.papers.exhibit import ColumnMetric, PaperExhibit, PaperFigure, drawing, elsewhere

TITLE = "Bansal, Mahajan, Sinha & Karmaker (2025), set composition"
LOST = "our copy of the paper has lost the number; measured on tuples that people wrote (WebNLG)"
ONE_GRID = f"{LOST}, on the grid of this model alone"
MODELS = ("all-MiniLM-L6-v2", "all-mpnet-base-v2")
"""The two of its sixteen encoders whose names are those of weights that can be laid in a folder."""
PARTS = ("TT", "TF", "FT", "FF")
RATINGS = "the ratings of its generated samples are not public; 'embassay rate' makes and draws your own"


def criteria(columns: Mapping[str, ColumnMetric], why: str, bench: Bench) -> Iterator[PaperFigure]:
    """Yield the figures of one table for the models that can be had."""
    for model in MODELS:
        yield from elsewhere(bench, model, "WebNLG sets", "composition", columns, [""] * len(columns), why)


def _grid(criterion: str, functions: tuple[str, ...]) -> dict[str, ColumnMetric]:
    """Return the columns of a criterion on the grid of tolerances, by similarity function."""
    columns = {}
    for function in functions:
        for part in PARTS:
            columns[f"{function}: {part}"] = ColumnMetric(f"share[{criterion}:{part}]{{{function},grid}}", 100, 1)
    return columns


def _exhibit(name: str, title: str, columns: Mapping[str, ColumnMetric], why: str = ONE_GRID) -> PaperExhibit:
    return PaperExhibit(name, title, partial(criteria, columns, why), ("WebNLG sets",), MODELS, 1)


ALL = ("cosine", "dot", "l1", "l2", "ned")
C4 = {
    f"{name}: nearer to D than to B": ColumnMetric(f"share[c4:vsB]{{{name},grid}}", 100, 1)
    for name in ("cosine", "ned")
}
ANGLES = {
    "C2: projection between A and B": ColumnMetric("share[c2:between]{angle,}", 100, 1),
    "C5: within 15° of A": ColumnMetric("share[c5:within15]{angle,}", 100, 1),
}
EXHIBITS = (
    _exhibit("tables 1 and 13", "C1 on the grid of tolerances", _grid("c1", ("cosine", "ned"))),
    _exhibit("tables 2 and 15 to 17", "C3 on the grid of tolerances", _grid("c3", ALL)),
    _exhibit("table 3", "C4 on the grid of tolerances", C4),
    PaperExhibit("tables 4 to 11", "Examples and prompts", drawing("nothing to compute")),
    _exhibit("tables 12 and 14", "C1, other similarity functions", _grid("c1", ("dot", "l1", "l2"))),
    PaperExhibit("figures 1 and 2", "The criteria as drawings", drawing("nothing to compute")),
    PaperExhibit("figure 3", "Ratings of the samples", drawing(RATINGS)),
    _exhibit("figures 4 and 6", "Projections: C2 and C5", ANGLES, LOST),
    PaperExhibit("figure 10", "Ratios of norms", drawing("drawn by 'embassay run -d composition' for each encoder")),
)
