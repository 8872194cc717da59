"""The tables and figures of a result as a paper needs them: each with a file name and a caption that names its source.

Nothing is computed here: these are the tables and charts of the HTML page, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from embassay._version import __version__
from embassay.formatting import visible
from embassay.layout import Examples, Layout, Matrix, Part
from embassay.reports import charts
from embassay.reports.charts import Spec
from embassay.reports.page import TABLES, pictures_of
from embassay.reports.tables import Scope, Table
from embassay.result import Result

LONGEST_NAME = 60
"""Characters of one part of a file name, at most."""
DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that no file can have on Windows, whatever its suffix."""


@dataclass(frozen=True)
class Caption:
    """What stands below a figure or above a table.

    Attributes
    ----------
    text
        Title, explanation, and the corpus with its source.
    method
        The publication that the method is from, in words.
    key
        Its key in ``references.bib``; empty if the diagnostic has no citation.
    made
        The settings that the numbers depend on.
    """

    text: str
    method: str
    key: str
    made: str


@dataclass(frozen=True)
class PrintedTable:
    """A table with the name of its file, without suffix, and its caption."""

    name: str
    caption: Caption
    table: Table


@dataclass(frozen=True)
class PrintedFigure:
    """A chart with the name of its file, without suffix, and its caption."""

    name: str
    caption: Caption
    spec: Spec


@dataclass
class FileNames:
    """Gives each file a name of its own, made of letters, digits and hyphens only."""

    taken: set[str] = field(default_factory=set)

    def name(self, *parts: str) -> str:
        """Return the parts joined by hyphens, with a number if another file has this name, whatever its case."""
        name = "-".join(map(file_name_part, parts))
        if DEVICES.fullmatch(name):
            name += "-file"
        unique = name
        number = 2
        while unique.casefold() in self.taken:
            unique = f"{name}-{number}"
            number += 1
        self.taken.add(unique.casefold())
        return unique


def file_name_part(text: str) -> str:
    """Return a text in letters, digits and hyphens, which are safe in a file name: ``Success-5`` for ``Success@5``."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
    if len(words) > LONGEST_NAME:
        # Cut between two words where there are several.
        words = words[: LONGEST_NAME + 1].rpartition("-")[0] or words[:LONGEST_NAME]
    return words or "unnamed"


def printed_tables(
    result: Result, layouts: Mapping[str, Layout], citations: Mapping[str, str]
) -> Iterator[PrintedTable]:
    """Yield every table of a result except those of examples.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    citations
        The BibTeX entry of each diagnostic that has one.
    """
    names = FileNames()
    for scope, layout in _scopes(result, layouts):
        for part in (layout.headline, *layout.parts, *layout.paper):
            if type(part) not in TABLES:
                continue
            table = TABLES[type(part)](scope, part)
            if table is not None:
                name = names.name(scope.diagnostic, scope.corpus, part_name(part))
                yield PrintedTable(name, _caption(scope, layout, part.title, table.note, citations), table)


def printed_figures(
    result: Result, layouts: Mapping[str, Layout], citations: Mapping[str, str]
) -> Iterator[PrintedFigure]:
    """Yield every chart of a result, and every matrix as a heat map; parameters as in :func:`printed_tables`.

    A part with a chart for each encoder yields one figure for each, named after the encoder.
    """
    names = FileNames()
    for scope, layout in _scopes(result, layouts):
        for part in (*layout.parts, *layout.paper):
            for encoder, spec in _charts(scope, part):
                parts = [scope.diagnostic, scope.corpus, part_name(part)]
                title = part.title
                if encoder:
                    parts.append(encoder)
                    title = f"{part.title}, {encoder}"
                caption = _caption(scope, layout, title, getattr(part, "note", ""), citations)
                yield PrintedFigure(names.name(*parts), caption, spec)


def plain_caption(caption: Caption) -> str:
    """Return a caption as one line of text."""
    return visible(f"{caption.text} Method: {caption.method}. {caption.made}.")


def part_name(part: Part) -> str:
    """Return the part of a file name that stands for a table or figure: its series, or its title in lower case."""
    series: str = getattr(part, "series", "")
    return series.replace("_", "-") or file_name_part(part.title.lower())


def citation_key(citation: str) -> str:
    """Return the key of a BibTeX entry; an empty text if it has none."""
    match = re.match(r"\s*@\w+\s*\{\s*([^,\s]+)\s*,", citation)
    if match is None:
        return ""
    return match[1]


def _charts(scope: Scope, part: Part) -> Iterator[tuple[str, Spec]]:
    """Yield the charts of a part, each with its encoder, or with an empty text if it is of all encoders."""
    if isinstance(part, Matrix):
        spec = charts.heat_map(scope, part)
        if spec is not None:
            yield "", spec
    elif type(part) not in TABLES and not isinstance(part, Examples):
        yield from pictures_of(scope, part)


def _scopes(result: Result, layouts: Mapping[str, Layout]) -> Iterator[tuple[Scope, Layout]]:
    for verdict in result.verdicts:
        layout = layouts[verdict.diagnostic]
        yield Scope(result, verdict.diagnostic, verdict.corpus, layout.headline.columns[0]), layout


def _caption(scope: Scope, layout: Layout, title: str, note: str, citations: Mapping[str, str]) -> Caption:
    corpus = next(record for record in scope.result.corpora if record.name == scope.corpus)
    data = f"Corpus: {scope.corpus}"
    if corpus.source:
        data += f", {corpus.source}"
    if corpus.licence not in ("", "unknown"):
        data += f", {corpus.licence}"
    return Caption(
        text=" ".join(filter(None, (f"{title}.", note, f"{data}."))),
        method=layout.source,
        key=citation_key(citations.get(scope.diagnostic, "")),
        made=f"Embassay {__version__}, seed {scope.result.seed}, {scope.result.resamples:,} resamples",
    )
