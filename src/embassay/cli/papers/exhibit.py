"""A table or figure of a paper, and its cells: what is printed there, what is measured here, and how they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from embassay.cli.papers.bench import Bench, MissingError

Standing = Literal["reproduced", "differs", "not available"]
REPRODUCED: Standing = "reproduced"
DIFFERS: Standing = "differs"
NOT_AVAILABLE: Standing = "not available"
UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class PaperFigure:
    """One figure of a table.

    Attributes
    ----------
    row, column
        Where it stands, in the paper's words.
    published
        As the paper prints it; empty where it is drawn only, or where our copy of the paper lacks it.
    measured
        In the digits of the paper; empty where it cannot be measured here.
    standing
        ``not available`` also where something is measured that cannot be compared: on other data, with other vectors.
    note
        The tolerance of what was compared, the reason of a difference, or what is missing.
    signature
        Of the row of the result that it is taken from.
    """

    row: str
    column: str
    published: str
    measured: str
    standing: Standing
    note: str = ""
    signature: str = ""


@dataclass(frozen=True)
class PaperExhibit:
    """A table or a figure of a paper.

    Attributes
    ----------
    name
        As the paper counts it: ``table 1``.
    title
        What it shows.
    cells
        Computes its cells.
    data
        The names of the data that it is computed from (:data:`embassay.cli.papers.bench.DATA`).
    models
        The papers' names of the models that it needs.
    minutes
        How long it takes on two cores with the small models, about; 0 for less than half a minute.
    """

    name: str
    title: str
    cells: Callable[[Bench], Iterable[PaperFigure]]
    data: Sequence[str] = ()
    models: Sequence[str] = ()
    minutes: int = 0


def compared(
    row: str,
    column: str,
    published: str,
    measured: float,
    *,
    within: float = 0,
    why: str = UNEXPLAINED,
    signature: str = "",
) -> PaperFigure:
    """Return a measured figure beside the published one.

    Parameters
    ----------
    measured
        In the unit in which the paper prints it.
    within
        The largest difference, after rounding to the paper's digits, that counts as the same figure.
    why
        What is known about a larger difference.
    """
    digits = len(published.partition(".")[2])
    rounded = round(measured, digits)
    # Sums of decimals are not exact: 98.37 + .25 is not below 98.62.
    same = abs(rounded - float(published)) <= within + 1e-9
    tolerance = f"within {within:g}" if within else "equal digits"
    return PaperFigure(
        row,
        column,
        published,
        f"{rounded:.{digits}f}",
        REPRODUCED if same else DIFFERS,
        tolerance if same else why,
        signature,
    )


def missing(row: str, column: str, published: str, why: str, measured: str = "", signature: str = "") -> PaperFigure:
    """Return a figure that cannot be compared here, with the reason, and with what is measured in its place."""
    return PaperFigure(row, column, published, measured, NOT_AVAILABLE, why, signature)


def drawing(what: str) -> Callable[[Bench], Iterable[PaperFigure]]:
    """Return the cells of an exhibit that holds no figure of a measurement."""
    return lambda bench: [missing("", "", "", what)]


@dataclass(frozen=True)
class ColumnMetric:
    """How a column of a paper is measured: the metric, its factor to the paper's unit, and the paper's digits.

    Attributes
    ----------
    part
        What of the row it is: its value, or an end of its range.
    """

    metric: str
    factor: float = 100
    digits: int = 2
    part: Literal["value", "low", "high"] = "value"


def elsewhere(
    bench: Bench,
    model: str,
    data: str,
    diagnostic: str,
    columns: Mapping[str, ColumnMetric],
    printed: Sequence[str],
    why: str,
) -> Iterator[PaperFigure]:
    """Yield the figures of a model on other data than the paper's, in the same units: they are not compared.

    Parameters
    ----------
    model
        The name of its weights; empty where they cannot be had.
    columns
        How each column is measured, by its heading.
    printed
        What the paper prints in each column.
    why
        Why the paper's data cannot be had, and what these are.
    """
    for (column, figure), published in zip(columns.items(), printed, strict=True):
        try:
            if not model:
                raise MissingError("the weights cannot be had")
            row = bench.row("model", bench.encoder(model), bench.corpus(data), diagnostic, figure.metric)
        except MissingError as error:
            yield missing(model, column, published, f"{why}; {error}")
            continue
        value: float | None = getattr(row, figure.part)
        measured = "" if value is None else f"{figure.factor * value:.{figure.digits}f}"
        yield missing(model, column, published, why, measured, row.signature)
