"""Dividing documents into the passages to ask about and to search; each passage becomes a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import Cut, collapsed, cutter, overlap_of

SHORTEST = 8
"""The minimum number of words of a passage to ask about; shorter ones are retrieved only by chance."""
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")


@dataclass(frozen=True)
class Passage:
    """A passage of a document.

    Attributes
    ----------
    id
        ``ID#n``, n from 1, if its document has several passages; else the document's id.
    body
        Its text without a heading.
    unit
        The key of its article, else of its document; the passage itself if all passages are from one document.
    shared
        The numbers of words at its start and end that it shares with its neighbours, if passages overlap.
    headings
        The document's title and headings, if it is the first passage under them; else empty.
    document
        The id of its document.
    """

    id: str
    body: str
    unit: str
    shared: int = 0
    headings: tuple[str, ...] = ()
    document: str = ""

    @cached_property
    def text(self) -> str:
        """The text to search: the headings, each on its own line, and the body."""
        return "\n".join((*self.headings, self.body))

    @property
    def long(self) -> bool:
        """Whether it is long enough to ask about."""
        return len(self.body.split()) >= SHORTEST


def cut_all(sources: Sequence[SourceDocument], passages: str) -> tuple[Passage, ...]:
    """Divide documents into passages.

    Parameters
    ----------
    passages
        ``document``, ``paragraph``, ``sentence`` or a number of words; headings end paragraphs and sentences.

    Raises
    ------
    SpecError
        For anything else.
    """
    # The mark between a document's id and a number must not occur in any id.
    mark = "#"
    while any(mark in source.id for source in sources):
        mark += "#"
    cut = cutter(passages)
    window = int(passages) if passages.strip().isdecimal() else 0
    shared = overlap_of(window)
    ignores_headings = window > 0 or passages.strip() == "document"
    one_unit = len({source.unit or source.id for source in sources}) == 1
    cut_passages = list[Passage]()
    for source in sources:
        sections = [Section((), source.text)] if ignores_headings else sections_of(source.text)
        pieces = _pieces(source, sections, cut)
        for number, piece in enumerate(pieces, 1):
            name = f"{source.id}{mark}{number}" if len(pieces) > 1 else source.id
            # Windows overlap, so that they are not independent of each other.
            unit = name if one_unit and not window else source.unit or source.id
            cut_passages.append(Passage(name, piece.text, unit, shared, piece.headings, source.id))
    return tuple(cut_passages)


@dataclass(frozen=True)
class Section:
    """A part of a document, and the headings above it."""

    headings: tuple[str, ...]
    text: str


def _pieces(source: SourceDocument, sections: Sequence[Section], cut: Cut) -> list[Section]:
    """Divide the sections of a document; headings go to the first piece under them, the title to the first piece."""
    pieces = list[Section]()
    for section in sections:
        headings = section.headings
        for body in cut(section.text):
            pieces.append(Section(headings, body))
            headings = ()
    # The title of an article stands for all its paragraphs, that of a document for itself. A text may begin with it.
    title = (source.title,)
    if source.title and not source.unit and sections and sections[0].headings[:1] != title:
        pieces[0] = Section(title + pieces[0].headings, pieces[0].text)
    return pieces


def sections_of(text: str) -> list[Section]:
    """Divide a Markdown text at its headings, without blank sections; lines between fences are no headings.

    A heading without text is added to the lower-level heading that follows it.
    """
    sections = list[Section]()
    above, lines, fence = list[tuple[int, str]](), list[str](), ""
    for line in text.splitlines():
        fence_mark = _FENCE.match(line)
        if fence_mark and fence == fence_mark.group(1):
            fence = ""
        elif fence_mark and not fence:
            fence = fence_mark.group(1)
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        if any(map(str.strip, lines)):
            sections.append(_section(above, lines))
            above = []
        depth = len(heading.group(1))
        above = [upper for upper in above if upper[0] < depth]
        above.append((depth, collapsed(heading.group(2))))
        lines = []
    if any(map(str.strip, lines)):
        sections.append(_section(above, lines))
    return sections


def _section(above: Sequence[tuple[int, str]], lines: Sequence[str]) -> Section:
    return Section(tuple(name for _, name in above), "\n".join(lines))


# --- Words ---

_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Return the words of a text of any language, lower-cased."""
    return _WORD.findall(text.casefold())


def spaced(words: Sequence[str]) -> str:
    """Return words with spaces between and around them, so that a run of words is a substring."""
    return f" {' '.join(words)} "


def stem(word: str) -> str:
    """Return a word of :func:`tokens` without the ending of an English plural."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


@lru_cache(maxsize=64)
def stems(text: str) -> frozenset[str]:
    """Return the words of a text, plurals as singulars."""
    return frozenset(map(stem, tokens(text)))
