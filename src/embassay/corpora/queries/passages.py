"""Dividing documents into the passages to ask about and to search; each passage becomes a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import Cutter, Section, collapsed, sections_of, word_count
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
        Its document; the passage itself if all passages are from one document.
    shared
        The numbers of words at its start and end that it shares with its neighbours, if passages overlap.
    headings
        The document's title and headings, if it is the first passage under them; else empty.
    document
        The id of its document.
    group
        The number of its group of near-duplicates.
    """

    id: str
    body: str
    unit: str
    shared: int = 0
    headings: tuple[str, ...] = ()
    document: str = ""
    group: int = 0

    @cached_property
    def text(self) -> str:
        """The text to search: the headings, each on its own line, and the body."""
        return "\n".join((*self.headings, self.body))

    @property
    def long(self) -> bool:
        """Whether it is long enough to ask about."""
        return word_count(self.body) >= SHORTEST


def passages_of(sources: Sequence[SourceDocument], passages: str) -> tuple[Passage, ...]:
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
    cut = Cutter(passages)
    cut_passages = []
    for source in sources:
        sections = [Section([], source.text)]
        if cut.way in ("paragraph", "sentence"):
            sections = [section for section in sections_of(source.text) if section.text.strip()]
        pieces = []
        for section in sections:
            # Headings go to the first piece under them.
            headings = tuple(collapsed(heading[2]) for heading in section.headings)
            for body in cut(section.text):
                pieces.append((headings, body))
                headings = ()
        for number, (headings, body) in enumerate(pieces, 1):
            name = f"{source.id}{mark}{number}" if len(pieces) > 1 else source.id
            # If there is one document only, each passage is a unit: otherwise nothing could be resampled. Windows of
            # words overlap, so that they are not independent of each other.
            unit = name if len(sources) == 1 and not cut.size else source.id
            if number == 1 and source.title and headings[:1] != (source.title,):
                headings = (source.title, *headings)
            cut_passages.append(Passage(name, body, unit, cut.overlap, headings, source.id))
    return tuple(cut_passages)


# --- Words ---


def tokens(text: str) -> list[str]:
    """Return the words of a text of any language, lower-cased."""
    return words_of(text.casefold())


def spaced(words: Sequence[str]) -> str:
    """Return words with spaces between and around them, so that a run of words is a substring."""
    return f" {' '.join(words)} "
