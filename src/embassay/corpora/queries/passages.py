"""Dividing documents into the passages to ask about and to search; each passage becomes a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import HEADING, Cutter, code_indented, collapsed, word_count
from embassay.stats.lexical.words import words as words_of

SHORTEST = 8
"""The minimum number of words of a passage to ask about; shorter ones are retrieved only by chance."""


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
    section
        The number of its section in the document, from 0; always 0 where headings do not end passages.
    path
        The document's title and all headings above it, its own last.
    """

    id: str
    body: str
    unit: str
    shared: int = 0
    headings: tuple[str, ...] = ()
    document: str = ""
    section: int = 0
    path: tuple[str, ...] = ()

    @cached_property
    def text(self) -> str:
        """The text to search: the headings, each on its own line, and the body."""
        return "\n".join((*self.headings, self.body))

    @property
    def long(self) -> bool:
        """Whether it is long enough to ask about."""
        return word_count(self.body) >= SHORTEST


def cut_all(sources: Sequence[SourceDocument], passages: str, *, by_section: bool = False) -> tuple[Passage, ...]:
    """Divide documents into passages.

    Parameters
    ----------
    passages
        ``document``, ``paragraph``, ``sentence`` or a number of words; headings end paragraphs and sentences.
    by_section
        Whether headings end the other passages too; with ``document`` a section is then a passage.

    Raises
    ------
    SpecError
        For anything else.
    """
    # The mark between a document's id and a number must not occur in any id.
    mark = "#"
    while any(mark in source.id for source in sources):
        mark += "#"
    cut = Cutter(passages)
    has_sections = by_section or not (cut.size or cut.way == "document")
    one_unit = len({source.unit or source.id for source in sources}) == 1
    cut_passages = list[Passage]()
    for source in sources:
        sections = sections_of(source.text) if has_sections else [DocumentSection((), source.text, ())]
        pieces = [(place, body) for place, section in enumerate(sections) for body in cut(section.text)]
        # The title of an article stands for all its paragraphs, that of a document for itself.
        title = (source.title,) if source.title and not source.unit else ()
        if sections and sections[0].headings[:1] == title:
            title = ()
        last = -1
        for number, (place, body) in enumerate(pieces, 1):
            section = sections[place]
            name = f"{source.id}{mark}{number}" if len(pieces) > 1 else source.id
            # If there is one document only, each passage is a unit: otherwise nothing could be resampled. Windows of
            # words overlap, so that they are not independent of each other.
            unit = name if one_unit and not cut.size else source.unit or source.id
            # Headings go to the first piece under them, the title to the first of all.
            headings = section.headings if place != last else ()
            if number == 1:
                headings = title + headings
            path = title + section.path
            cut_passages.append(Passage(name, body, unit, cut.overlap, headings, source.id, place, path))
            last = place
    return tuple(cut_passages)


class DocumentSection(NamedTuple):
    """A part of a document: the headings between it and the section before, its text, and all headings above it."""

    headings: tuple[str, ...]
    text: str
    path: tuple[str, ...]


def sections_of(text: str) -> list[DocumentSection]:
    """Divide a Markdown text at its headings, without blank sections; lines between fences are no headings.

    A heading without text is added to the lower-level heading that follows it.
    """
    sections = list[DocumentSection]()
    path, lines = list[tuple[int, str]](), list[str]()
    # The number of headings of the path that stand before an earlier section; they are its first ones.
    earlier = 0
    for line in [*code_indented(text).splitlines(), "# The end"]:
        heading = HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        if any(map(str.strip, lines)):
            names = tuple(name for _, name in path)
            sections.append(DocumentSection(names[earlier:], "\n".join(lines), names))
            earlier = len(path)
        depth = len(heading[1])
        path = [upper for upper in path if upper[0] < depth]
        earlier = min(earlier, len(path))
        path.append((depth, collapsed(heading[2])))
        lines = []
    return sections


# --- Words ---


def tokens(text: str) -> list[str]:
    """Return the words of a text of any language, lower-cased."""
    return words_of(text.casefold())


def spaced(words: Sequence[str]) -> str:
    """Return words with spaces between and around them, so that a run of words is a substring."""
    return f" {' '.join(words)} "
