"""Dividing documents into the passages to ask about and to search; each passage becomes a document.

Passages whose sets of words have a Jaccard index of at least 0.9 are near-duplicates.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from embassay.core.grouping import grouped
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import Cutter, Section, sections_of, word_count
from embassay.stats.lexical.words import words as words_of

SHORTEST = 8
"""The minimum number of words of a passage to ask about; shorter ones are retrieved only by chance."""
NEAR = 10
"""Near-duplicates differ in at most one of this many words: a Jaccard index of 0.9."""
BOILERPLATE = 3
"""The maximum number of units with a passage or its near-duplicates; there are no queries about others."""


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
    overlaps
        Whether it is a window, which shares words with its neighbours.
    headings
        The document's title and headings, if it is the first passage under them; else empty.
    group
        The number of its group of near-duplicates.
    """

    id: str
    body: str
    unit: str
    overlaps: bool = False
    headings: tuple[str, ...] = ()
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
    """Divide documents into passages, and find their near-duplicates; one that is too short to ask about is alone.

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
    has_sections = cut.way in ("paragraph", "sentence")
    cut_passages = []
    for source in sources:
        sections = sections_of(source.text) if has_sections else [Section([], source.text)]
        pieces = []
        for place, section in enumerate(sections):
            headings = [heading.words for heading in section.headings]
            if place == 0 and source.title and headings[:1] != [source.title]:
                headings.insert(0, source.title)
            for body, _ in cut(section.text):
                pieces.append((tuple(headings), body))
                # Headings go to the first piece under them.
                headings = []
        for number, (above, body) in enumerate(pieces, 1):
            name = f"{source.id}{mark}{number}" if len(pieces) > 1 else source.id
            # If there is one document only, each passage is a unit: otherwise nothing could be resampled. Windows of
            # words overlap, so that they are not independent of each other.
            unit = name if len(sources) == 1 and not cut.size else source.id
            cut_passages.append(Passage(name, body, unit, cut.size > 1, above))
    # A text without a word is in no group, so short passages are left out of the comparison.
    groups = near_duplicates([passage.text if passage.long else "" for passage in cut_passages])
    return tuple(replace(passage, group=group) for passage, group in zip(cut_passages, groups, strict=True))


# --- Near-duplicates ---


def near_passages(passages: Iterable[Passage]) -> dict[int, list[Passage]]:
    """Return the passages of each group, in their order."""
    return grouped(passages, lambda passage: passage.group)


def selected(passages: Sequence[Passage], rejected: Counter[str]) -> list[Passage]:
    """Return the passages to ask about, one from each group; count the others by reason in ``rejected``."""
    near_of = near_passages(passages)
    to_ask = []
    for passage in passages:
        near = near_of[passage.group]
        if not passage.long:
            rejected[f"a passage of fewer than {SHORTEST} words"] += 1
        elif len({each.unit for each in near}) > BOILERPLATE:
            rejected[f"a passage that occurs in more than {BOILERPLATE} units"] += 1
        elif passage.id != near[0].id:
            rejected["a near-duplicate of another passage"] += 1
        else:
            to_ask.append(passage)
    return to_ask


def near_duplicates(texts: Sequence[str]) -> list[int]:
    """Return the group of each text: equal numbers for texts of one group.

    Groups are the connected components of the pairs of near-duplicates. A text without a word is alone.
    """
    from scipy.cluster.hierarchy import DisjointSet

    word_sets = [frozenset(tokens(text)) for text in texts]
    # Each set once, because a passage may be repeated thousands of times.
    distinct = set(word_sets) - {frozenset()}
    number_of_sets = Counter(word for words in distinct for word in words)
    groups = DisjointSet(distinct)
    index = defaultdict[str, list[frozenset[str]]](list)
    for words in distinct:
        # Near-duplicate sets share one of their rarest words (prefix filter; Chaudhuri, Ganti & Kaushik 2006).
        rarest_first = sorted(words, key=lambda word: (number_of_sets[word], word))
        for word in rarest_first[: len(words) // NEAR + 1]:
            for other in index[word]:
                if NEAR * len(words ^ other) <= len(words | other):
                    groups.merge(words, other)
            index[word].append(words)
    # A group has the number of its first text.
    first: dict[frozenset[str], int] = {}
    return [first.setdefault(groups[words], place) if words else place for place, words in enumerate(word_sets)]


# --- Words ---


def tokens(text: str) -> list[str]:
    """Return the words of a text of any language, lower-cased."""
    return words_of(text.casefold())


def spaced(words: Sequence[str]) -> str:
    """Return words with spaces between and around them, so that a run of words is a substring."""
    return f" {' '.join(words)} "
