"""The layout of the page of a diagnostic: declarations only, which ``reports`` turns into tables and charts.

A layout selects rows, series and examples of a :class:`~embassay.core.types.Result` by name and holds no numbers. A new
diagnostic therefore declares its page in its own file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from embassay.core.metric_key import MetricKey

Format = Literal["percent", "points", "number", "count", "threshold", "declared"]
"""A share, a difference of shares, any other number, a whole number, a threshold (a number that is rounded down), or
what the diagnostic declares in its ``METRICS``: a number where it declares nothing."""


@dataclass(frozen=True)
class Column:
    """One metric of each encoder: its heading, and the rows that hold it.

    Attributes
    ----------
    format
        How it is written; by default as the diagnostic declares the metric.
    similarity_function
        The similarity function of the rows; empty for the first similarity function of the result.
    interval
        Whether the interval is shown too.
    level
        What the ``chance`` of the verdict is called, where that is not the value of a guess: ``0``.
    says
        What its value means, as a clause with the field ``{value}``; empty for its heading.
    margin
        Of a headline: the smallest loss that matters.
    """

    heading: str
    metric: str
    subset: str = "all"
    condition: str = ""
    similarity_function: str = ""
    format: Format = "declared"
    interval: bool = True
    level: str = "chance"
    says: str = ""
    margin: float = 0.0

    @property
    def key(self) -> MetricKey:
        """The metric, in any diagnostic and corpus."""
        return MetricKey(self.metric, self.subset, self.similarity_function, self.condition)


@dataclass(frozen=True)
class MetricTable:
    """A table whose columns are metrics."""

    title: str
    columns: tuple[Column, ...]
    note: str = ""


@dataclass(frozen=True)
class EncoderTable(MetricTable):
    """Rows are encoders, columns are metrics with their intervals.

    Attributes
    ----------
    similarity_functions
        One row for each encoder and each of these; then the columns name no similarity function.
    """

    similarity_functions: tuple[str, ...] = ()


class CorpusTable(MetricTable):
    """Rows are subsets, columns are metrics of the corpus, independent of encoders."""


@dataclass(frozen=True)
class SubsetTable:
    """Rows are subsets, columns are encoders.

    Attributes
    ----------
    without
        Subsets that it leaves out.
    """

    title: str
    metric: str
    without: tuple[str, ...] = ()
    note: str = ""
    format: Format = "declared"


@dataclass(frozen=True)
class ComparisonTable:
    """The paired differences of one metric."""

    title: str
    column: Column
    note: str = ""


@dataclass(frozen=True)
class SeriesPart:
    """A part that draws a series of the result."""

    title: str
    series: str
    note: str = ""


class SeriesTable(SeriesPart):
    """A series of kind ``table``: columns, rows, and the format of each column."""


class Histograms(SeriesPart):
    """A series of kind ``histogram``: one picture for each encoder."""


class Matrix(SeriesPart):
    """A series of kind ``matrix``: a share for each pair of names, written as a fraction, the larger the darker."""


@dataclass(frozen=True)
class IntervalChart:
    """One dot with its interval for each encoder; ``chance`` is a line."""

    title: str
    column: Column
    chance: float | None = None


@dataclass(frozen=True)
class GroupedBars:
    """For each subset one bar for each encoder, with its interval."""

    title: str
    metric: str
    parts: tuple[tuple[str, str], ...]
    """(subset, what it is called), from top to bottom."""
    format: Format = "declared"
    note: str = ""


@dataclass(frozen=True)
class Curves(SeriesPart):
    """A series of kind ``curve``: lines over a common axis.

    Attributes
    ----------
    split
        One picture for each encoder, its lines by name; else one picture, encoders by colour.
    """

    split: bool = False


@dataclass(frozen=True)
class ExampleColumn:
    """What is shown of each encoder beside an item: a number, a name, or found passages.

    Attributes
    ----------
    names
        The names of values and labels of the example, of which it shows those that there are.
    passages
        Whether the labels are references to passages, whose texts are shown too.
    """

    heading: str
    names: tuple[str, ...]
    format: Format = "number"
    passages: bool = False


@dataclass(frozen=True)
class Examples:
    """A browser of items: their texts, what each encoder made of them, and whether that is right.

    Attributes
    ----------
    heading
        The name of the text that heads an item.
    prefix
        What that text is called; empty where it needs no name.
    texts
        (name, what it is called) of the other texts of an item, from top to bottom.
    columns
        What is shown of each encoder.
    margin
        What the margin is, in words; empty where there is none.
    threshold
        The similarity below which found passages would be dropped, if any.
    """

    title: str
    heading: str
    texts: tuple[tuple[str, str], ...]
    columns: tuple[ExampleColumn, ...]
    prefix: str = ""
    margin: str = ""
    threshold: Column | None = None
    note: str = ""


Part = MetricTable | SubsetTable | ComparisonTable | SeriesPart | IntervalChart | GroupedBars | Examples


@dataclass(frozen=True)
class Layout:
    """A diagnostic's page.

    Attributes
    ----------
    title, question
        What it is called, and what it answers, in one sentence.
    headline
        The table that ``embassay show`` prints too. Its first column is that of the scorecard if the verdict ranks the
        encoders.
    parts
        Everything else, from top to bottom. The first picture is shown with the headline; the other parts are folded.
    paper
        Figures and tables as the paper has them, folded below the others.
    """

    title: str
    question: str
    headline: EncoderTable
    parts: tuple[Part, ...]
    source: str
    paper: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Drawings:
    """What a page has beside the tables and charts of the metrics, which follow from ``METRICS``.

    Attributes
    ----------
    parts, paper
        As in a :class:`Layout`.
    note
        What a reader of the first table has to know beside what its metrics mean.
    """

    source: str = "the diagnostic's own"
    parts: tuple[Part, ...] = ()
    paper: tuple[Part, ...] = ()
    note: str = ""
