"""Documents cut into the passages that are asked about and looked for: each is a document of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from embassay.reading.documents import SourceDocument
from embassay.reading.passages import collapsed, cutter

SHORTEST = 8
"""Words from which on a passage is asked about; shorter ones can only be found by mistake."""
_HEADING = re.compile(r" {0,3}#{1,6}\s+(\S.*?)\s*#*\s*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True)
class Passage:
    """A passage of a document.

    Attributes
    ----------
    id
        ``ID#n``, n from 1, where its document has several; else the document's.
    body
        Its text without a heading.
    heading
        The heading that it is the first passage under, or the document's title; else empty.
    alone
        Whether nothing else stands under that heading.
    unit
        The key of its article, else of its document; the passage itself where all are of one document.
    shared
        The words at its start and at its end that its neighbours have too, where passages overlap.
    """

    id: str
    body: str
    unit: str
    heading: str = ""
    alone: bool = False
    shared: int = 0

    @property
    def text(self) -> str:
        """What is looked for: the heading on a line of its own, and the body."""
        return f"{self.heading}\n{self.body}" if self.heading else self.body

    @property
    def long(self) -> bool:
        """Whether there is enough in it to ask about."""
        return len(self.body.split()) >= SHORTEST


def cut_all(sources: Sequence[SourceDocument], passages: str) -> tuple[Passage, ...]:
    """Cut documents into passages.

    Parameters
    ----------
    passages
        ``document``, ``paragraph``, ``sentence`` or a number of words; headings end paragraphs and sentences.

    Raises
    ------
    SpecError
        For anything else.
    """
    mark = "#"
    while any(mark in source.id for source in sources):
        mark += "#"
    single = len({source.unit or source.id for source in sources}) == 1
    found = []
    for source in sources:
        pieces = list(_pieces(source, passages))
        for number, (heading, body, alone) in enumerate(pieces, 1):
            name = f"{source.id}{mark}{number}" if len(pieces) > 1 else source.id
            own = single and not _words(passages)
            unit = name if own else source.unit or source.id
            found.append(Passage(name, body, unit, heading, alone, _overlap(passages)))
    return tuple(found)


def _pieces(source: SourceDocument, passages: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (heading or nothing, body, whether it is alone under that heading)."""
    cut = cutter(passages)
    # The title of an article stands for all its paragraphs, that of a document for itself.
    title = "" if source.unit else source.title
    whole = passages.strip() == "document" or _words(passages)
    for heading, text in [("", source.text)] if whole else _sections(source.text):
        bodies = cut(text)
        for place, body in enumerate(bodies):
            yield (title or heading if place == 0 else ""), body, len(bodies) == 1
            title = ""


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield (heading, text under it) of a Markdown text, without what is blank; fenced lines are no headings."""
    heading, lines, fence = "", list[str](), ""
    for line in text.splitlines():
        if found := _FENCE.match(line):
            fence = "" if fence == found.group(1) else fence or found.group(1)
        above = None if fence else _HEADING.match(line)
        if above is None:
            lines.append(line)
            continue
        if (body := "\n".join(lines)).strip():
            yield heading, body
        heading, lines = collapsed(above.group(1)), []
    if (body := "\n".join(lines)).strip():
        yield heading, body


def _words(passages: str) -> bool:
    return passages.strip().isdecimal()


def _overlap(passages: str) -> int:
    """Return how many words neighbours share, as the cutter has it."""
    return max(1, int(passages) // 10) if _words(passages) and int(passages) > 1 else 0
