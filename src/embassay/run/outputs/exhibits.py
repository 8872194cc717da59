"""The tables and charts of a result, one by one: each with a file name and a caption that names its source.

Nothing is computed here: these are the tables and charts of the HTML page. A format writes one of them at a time, and
says in its :class:`Markup` how it marks text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from embassay._version import __version__
from embassay.core.formatting import visible
from embassay.core.layout import Examples, Part
from embassay.core.result import Result, record_of
from embassay.reports.charts import Spec
from embassay.reports.layouts import layouts
from embassay.reports.page import TABLES, pictures_of
from embassay.reports.tables import BASELINE, Cell, Scope, Table, scope_of

LONGEST_NAME = 60
"""Characters of one part of a file name, at most."""


class Exhibit(NamedTuple):
    """A table or a chart.

    Attributes
    ----------
    name
        The name of its file, without suffix.
    diagnostic
        The diagnostic that it is of.
    title
        With the diagnostic and the corpus, and the encoder where it is of one.
    caption
        Title, explanation, corpus with its source, method and settings, as plain text.
    content
        The table, or the specification of the chart.
    """

    name: str
    diagnostic: str
    title: str
    caption: str
    content: Table | Spec


def exhibits(result: Result) -> Iterator[Exhibit]:
    """Yield every table and every chart of a result in the order of its page, but for those of examples."""
    pages = layouts(result)
    made = f"Embassay {__version__}, seed {result.seed}, {result.resamples:,} resamples."
    taken = set[str]()
    for verdict in result.verdicts:
        layout = pages[verdict.diagnostic]
        scope = scope_of(result, verdict, pages)
        corpus = record_of(result.corpora, verdict.corpus)
        described = ", ".join(filter(None, (corpus.name, corpus.source, corpus.licence)))
        for part in (layout.headline, *layout.parts, *layout.paper):
            for encoder, content in contents_of(scope, part):
                label = (verdict.diagnostic, verdict.corpus, part_name(part), encoder)
                name = file_name(taken, *filter(None, label))
                title = f"{layout.title} on {verdict.corpus}: {', '.join(filter(None, (part.title, encoder)))}"
                note = content.note if isinstance(content, Table) else getattr(part, "note", "")
                caption = f"{title}. {note} Corpus: {described}. Method: {layout.source}. {made}"
                yield Exhibit(name, verdict.diagnostic, title, visible(caption), content)


def contents_of(scope: Scope, part: Part) -> Iterator[tuple[str, Table | Spec]]:
    """Yield the table or the charts of a part, each with its encoder; an empty text for all encoders."""
    if type(part) in TABLES:
        table = TABLES[type(part)](scope, part)
        if table is not None:
            yield "", table
    elif not isinstance(part, Examples):
        yield from pictures_of(scope, part)


def part_name(part: Part) -> str:
    """Return the part of a file name that stands for a table or figure: its series, or its title in lower case."""
    return file_name_part(getattr(part, "series", "") or part.title.lower())


def file_name(taken: set[str], *label: str) -> str:
    """Return the file name of a label, made of letters, digits and hyphens only.

    Parameters
    ----------
    taken
        The names that exist, whatever their case, to which this one is added; it gets a number if it is one of them.
    label
        Its parts, which are joined by hyphens.
    """
    name = "-".join(map(file_name_part, label))
    while name.casefold() in taken:
        name += "-2"
    taken.add(name.casefold())
    return name


def file_name_part(text: str) -> str:
    """Return a text in letters, digits and hyphens, which are safe in a file name: ``Success-5`` for ``Success@5``."""
    return re.sub(r"[^A-Za-z0-9]+", "-", text)[:LONGEST_NAME].strip("-") or "unnamed"


class Markup(NamedTuple):
    """How a format marks text.

    Attributes
    ----------
    escape
        Returns any text so that the format shows it as it is.
    strong, interval, mark
        Patterns with a field in braces: of a strong value, of an interval after it, and of the number of a remark.
    """

    escape: Callable[[str], str]
    strong: str
    interval: str
    mark: str

    def cell(self, cell: Cell, table: Table) -> str:
        """Return a cell of a table: its value, its interval, and the number of its remark."""
        text = self.escape(cell.text)
        if cell.strong and text:
            text = self.strong.format(text)
        if cell.interval:
            text += self.interval.format(self.escape(cell.interval))
        if cell.remark == BASELINE:
            text += f" ({BASELINE})"
        elif cell.remark:
            text += self.mark.format(table.remarks.index(cell.remark) + 1)
        return text

    def remarks(self, table: Table) -> list[str]:
        """Return the remarks of a table with their numbers."""
        return [f"{self.mark.format(number)} {self.escape(text)}" for number, text in enumerate(table.remarks, 1)]
