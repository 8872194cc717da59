"""How a diagnostic wants its result shown: declarations only, drawn by ``reports``.

A layout picks rows, series and examples of a :class:`~embassay.types.Result` by name; it holds no numbers.
So a new diagnostic brings its page with it, in its own file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Format = Literal["percent", "number"]


@dataclass(frozen=True)
class Column:
    """One figure of each encoder: how it is headed, which rows it is, how it is written."""

    heading: str
    quantity: str
    subset: str = "all"
    format: Format = "percent"
    condition: str = ""


@dataclass(frozen=True)
class EncoderTable:
    """Rows are encoders, columns are quantities with their intervals."""

    title: str
    columns: tuple[Column, ...]
    note: str = ""


@dataclass(frozen=True)
class SubsetTable:
    """Rows are subsets, columns are encoders.

    Attributes
    ----------
    prefixes
        What the subsets' names start with; a prefix without a colon is a whole name.
    others
        Take all subsets but these.
    """

    title: str
    quantity: str
    prefixes: tuple[str, ...]
    others: bool = False
    note: str = ""
    folded: bool = False
    format: Format = "percent"


@dataclass(frozen=True)
class ComparisonTable:
    """The paired differences of one quantity."""

    title: str
    column: Column
    note: str = ""


@dataclass(frozen=True)
class SeriesTable:
    """A series of kind ``table``: columns, rows, and the format of each column."""

    title: str
    series: str
    note: str = ""
    folded: bool = False


@dataclass(frozen=True)
class IntervalChart:
    """One dot with its interval for each encoder; ``chance`` is a line."""

    title: str
    column: Column
    chance: float | None = None


@dataclass(frozen=True)
class ShareBars:
    """One bar for each encoder, divided among subsets whose values add up to 1."""

    title: str
    quantity: str
    parts: tuple[tuple[str, str], ...]
    """(subset, what it is called), from left to right."""
    note: str = ""


@dataclass(frozen=True)
class PointsChart:
    """A series of kind ``points``: groups side by side, the reader's own points drawn in."""

    title: str
    series: str
    note: str = ""


@dataclass(frozen=True)
class Examples:
    """Items with their texts and each encoder's values.

    Attributes
    ----------
    heading
        The field that heads an item.
    fields
        (field, what it is called), from top to bottom; each has a text and a value of each encoder.
    """

    title: str
    kind: str
    heading: str
    fields: tuple[tuple[str, str], ...]
    note: str = ""


Part = EncoderTable | SubsetTable | ComparisonTable | SeriesTable | IntervalChart | ShareBars | PointsChart | Examples


@dataclass(frozen=True)
class Layout:
    """A diagnostic's page.

    Attributes
    ----------
    title, question
        What it is called, and what it answers, in one sentence.
    headline
        The table that also goes to the terminal.
    parts
        Everything else, from top to bottom.
    """

    title: str
    question: str
    headline: EncoderTable
    parts: tuple[Part, ...]
    source: str
