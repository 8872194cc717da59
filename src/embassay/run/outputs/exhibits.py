"""The tables of a result, one by one: each with a file name and a caption that names its source.

Nothing is computed here: these are the tables of the HTML page. A format writes one of them at a time, and escapes its
texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from embassay._version import __version__
from embassay.core.formatting import visible
from embassay.core.layout import Part
from embassay.core.result import Result, record_of
from embassay.reports.layouts import layouts
from embassay.reports.page import TABLES
from embassay.reports.tables import BASELINE, Cell, Table, scope_of

LONGEST_NAME = 120
"""Characters of a file name without its suffix, at most; file systems take 143 or more bytes."""


class Exhibit(NamedTuple):
    """A table.

    Attributes
    ----------
    name
        The name of its file, without suffix.
    title
        With the diagnostic and the corpus.
    caption
        Title, explanation, corpus with its source, method and settings, as plain text.
    signatures
        What the figures of the diagnostic on the corpus depend on.
    """

    name: str
    title: str
    caption: str
    table: Table
    signatures: tuple[str, ...]


def exhibits(result: Result) -> Iterator[Exhibit]:
    """Yield every table of a result in the order of its page."""
    pages = layouts(result)
    taken = set[str]()
    for verdict in result.verdicts:
        layout = pages[verdict.diagnostic]
        scope = scope_of(result, verdict, pages)
        corpus = record_of(result.corpora, verdict.corpus)
        described = ", ".join(filter(None, (corpus.name, corpus.source)))
        source = f"Corpus: {described}. Method: {layout.source}. {made_by(result)}"
        for part in (layout.headline, *layout.parts, *layout.paper):
            table = TABLES[type(part)](scope, part) if type(part) in TABLES else None
            if table is not None:
                name = file_name(f"{verdict.diagnostic} {verdict.corpus} {part_name(part)}", taken)
                title = f"{layout.title} on {verdict.corpus}: {part.title}"
                caption = visible(" ".join(filter(None, (f"{title}.", table.note, source))))
                yield Exhibit(name, title, caption, table, scope.signatures)


def made_by(result: Result) -> str:
    """Say what a result was made with."""
    return f"Embassay {__version__}, seed {result.seed}, {result.resamples:,} resamples."


def part_name(part: Part) -> str:
    """Return what a table is called in a file name: its series, or its title in lower case."""
    return getattr(part, "series", "") or part.title.lower()


def file_name(label: str, taken: set[str]) -> str:
    """Return a label in letters, digits and hyphens, which are safe in a file name: ``Success-5`` for ``Success@5``.

    Parameters
    ----------
    taken
        The names that exist, whatever their case, to which this one is added; it gets a number if it is one of them.
    """
    name = re.sub(r"[^A-Za-z0-9]+", "-", label)[:LONGEST_NAME].strip("-") or "unnamed"
    while name.casefold() in taken:
        name += "-2"
    taken.add(name.casefold())
    return name


def cell_text(cell: Cell, table: Table) -> str:
    """Return a cell of a table as plain text: its value, its interval, and the number of its remark."""
    text = f"{cell.text} {cell.interval}".strip()
    if cell.remark == BASELINE:
        return f"{text} ({BASELINE})"
    if cell.remark:
        return f"{text} ({table.remarks.index(cell.remark) + 1})"
    return text


def remark_lines(table: Table) -> list[str]:
    """Return the remarks of a table with their numbers, as plain text."""
    return [f"({number}) {remark}." for number, remark in enumerate(table.remarks, 1)]
