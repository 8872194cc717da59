"""The tables and figures of a result, one by one: each with a file name and a caption that names its source.

Nothing is computed here: these are the tables and charts of the HTML page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

from embassay._version import __version__
from embassay.core.formatting import visible
from embassay.core.layout import Examples, Layout, Part
from embassay.core.result import Result
from embassay.reports.charts import Spec
from embassay.reports.page import TABLES, pictures_of
from embassay.reports.tables import Scope, Table, scope_of

LONGEST_NAME = 60
"""Characters of one part of a file name, at most."""
Content = TypeVar("Content", bound=Table | Spec)


@dataclass(frozen=True)
class Exhibit(Generic[Content]):
    """A table or a chart.

    Attributes
    ----------
    name
        The name of its file, without suffix.
    caption
        Title, explanation, corpus with its source, method and settings, as plain text.
    key
        The key of the method in ``references.bib``; empty if the diagnostic has no citation.
    """

    name: str
    caption: str
    key: str
    content: Content


def exhibits(
    result: Result,
    layouts: Mapping[str, Layout],
    citations: Mapping[str, str],
    contents_of: Callable[[Scope, Part], Iterator[tuple[str, str, Content]]],
) -> list[Exhibit[Content]]:
    """Return every table or every chart of a result, but for those of examples.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    citations
        The BibTeX entry of each diagnostic that has one.
    contents_of
        :func:`tables_of` or :func:`figures_of`.
    """
    corpora = {corpus.name: corpus for corpus in result.corpora}
    made = f"Embassay {__version__}, seed {result.seed}, {result.resamples:,} resamples."
    taken = set[str]()
    found = list[Exhibit[Content]]()
    for verdict in result.verdicts:
        layout: Layout = layouts[verdict.diagnostic]
        scope = scope_of(result, verdict, layouts)
        key = citation_key(citations.get(verdict.diagnostic, ""))
        corpus = corpora[verdict.corpus]
        facts = [text for text in (corpus.source, corpus.licence) if text not in ("", "unknown")]
        described = ", ".join([corpus.name, *facts])
        source = f"Corpus: {described}. Method: {layout.source}. {made}"
        for part in (layout.headline, *layout.parts, *layout.paper):
            for encoder, note, content in contents_of(scope, part):
                title = ", ".join(filter(None, (part.title, encoder)))
                caption = visible(" ".join(filter(None, (f"{title}.", note, source))))
                label = filter(None, (verdict.diagnostic, verdict.corpus, part_name(part), encoder))
                found.append(Exhibit(file_name(label, taken), caption, key, content))
    return found


def tables_of(scope: Scope, part: Part) -> Iterator[tuple[str, str, Table]]:
    """Yield a part that is a table, with an empty label and its note."""
    if type(part) in TABLES:
        table = TABLES[type(part)](scope, part)
        if table is not None:
            yield "", table.note, table


def figures_of(scope: Scope, part: Part) -> Iterator[tuple[str, str, Spec]]:
    """Yield the charts of a part, each with its encoder, or an empty label if it is of all encoders, and the note."""
    if type(part) not in TABLES and not isinstance(part, Examples):
        for encoder, spec in pictures_of(scope, part):
            yield encoder, getattr(part, "note", ""), spec


def part_name(part: Part) -> str:
    """Return the part of a file name that stands for a table or figure: its series, or its title in lower case."""
    series: str = getattr(part, "series", "")
    return series.replace("_", "-") or file_name_part(part.title.lower())


def file_name(label: Iterable[str], taken: set[str]) -> str:
    """Return the file name of a label, made of letters, digits and hyphens only.

    Parameters
    ----------
    label
        Its parts, which are joined by hyphens.
    taken
        The names that exist, whatever their case, to which this one is added; it gets a number if it is one of them.
    """
    name = "-".join(map(file_name_part, label))
    unique = name
    for number in count(2):
        if unique.casefold() not in taken:
            break
        unique = f"{name}-{number}"
    taken.add(unique.casefold())
    return unique


def file_name_part(text: str) -> str:
    """Return a text in letters, digits and hyphens, which are safe in a file name: ``Success-5`` for ``Success@5``."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
    if len(words) > LONGEST_NAME:
        # Cut between two words where there are several.
        words = words[: LONGEST_NAME + 1].rpartition("-")[0] or words[:LONGEST_NAME]
    return words or "unnamed"


def citation_key(citation: str) -> str:
    """Return the key of a BibTeX entry; an empty text if it has none."""
    match = re.match(r"\s*@\w+\s*\{\s*([^,\s]+)\s*,", citation)
    return match[1] if match else ""
