"""Documents cut into the passages that are asked about and looked for: each is a document of its own."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import collapsed, cutter

SHORTEST = 8
"""Words from which on a passage is asked about; shorter ones can only be found by mistake."""
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
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
    unit
        The key of its article, else of its document; the passage itself where all are of one document.
    shared
        The words at its start and at its end that its neighbours have too, where passages overlap.
    headings
        The document's title and the headings that it is the first passage under; none for other passages.
    document
        The id of the document that it was cut from.
    """

    id: str
    body: str
    unit: str
    shared: int = 0
    headings: tuple[str, ...] = ()
    document: str = ""

    @cached_property
    def text(self) -> str:
        """What is looked for: the headings, each on a line of its own, and the body."""
        return "\n".join((*self.headings, self.body))

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
        for number, (headings, body) in enumerate(pieces, 1):
            name = f"{source.id}{mark}{number}" if len(pieces) > 1 else source.id
            own = single and not _words(passages)
            unit = name if own else source.unit or source.id
            found.append(Passage(name, body, unit, _overlap(passages), headings, source.id))
    return tuple(found)


def _pieces(source: SourceDocument, passages: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (headings or none, body) of each passage."""
    cut = cutter(passages)
    # The title of an article stands for all its paragraphs, that of a document for itself.
    title = (source.title,) if source.title and not source.unit else ()
    whole = passages.strip() == "document" or _words(passages)
    sections = [((), source.text)] if whole else list(_sections(source.text))
    for number, (headings, text) in enumerate(sections):
        bodies = cut(text)
        # A text often begins with its title.
        first = (*(title if headings[:1] != title else ()), *headings) if number == 0 else headings
        for place, body in enumerate(bodies):
            yield first if place == 0 else (), body


def _sections(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (headings, text under them) of a Markdown text, without what is blank; fenced lines are no headings.

    A heading without text of its own goes along with the lower one that follows it.
    """
    above, lines, fence = list[tuple[int, str]](), list[str](), ""
    for line in text.splitlines():
        if found := _FENCE.match(line):
            fence = "" if fence == found.group(1) else fence or found.group(1)
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        if (body := "\n".join(lines)).strip():
            yield tuple(name for _, name in above), body
            above = []
        level = len(heading.group(1))
        above = [*(one for one in above if one[0] < level), (level, collapsed(heading.group(2)))]
        lines = []
    if (body := "\n".join(lines)).strip():
        yield tuple(name for _, name in above), body


def _words(passages: str) -> bool:
    return passages.strip().isdecimal()


def _overlap(passages: str) -> int:
    """Return how many words neighbours share, as the cutter has it."""
    return max(1, int(passages) // 10) if _words(passages) and int(passages) > 1 else 0


# --- Passages that say nearly the same: those whose sets of words have a Jaccard index of 0.9 or more ---

NEAR = 0.9
"""Jaccard index from which on two passages are near-duplicates."""
SLACK = 1e-9
"""What rounding may add to a bound."""
_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Return the words of a text of any language, lower-cased."""
    return _WORD.findall(text.casefold())


def stem(word: str) -> str:
    """Return a word of :func:`tokens` without the ending of an English plural."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


@lru_cache(maxsize=64)
def stems(text: str) -> frozenset[str]:
    """Return the words of a text, plurals as singulars."""
    return frozenset(map(stem, tokens(text)))


def near_duplicates(texts: Sequence[str], near: float = NEAR) -> list[int]:
    """Return the group of each text: the number of the first text that it is joined to.

    Groups are the connected components of the pairs of near-duplicates. Texts without a word are alone.

    Parameters
    ----------
    near
        The least Jaccard index, above 0 and at most 1.
    """
    sets = [frozenset(tokens(text)) for text in texts]
    first = dict[frozenset[str], int]()
    root = [first.setdefault(words, place) if words else place for place, words in enumerate(sets)]
    known = Counter(word for words in first for word in words)
    order = {word: rank for rank, (word, _) in enumerate(sorted(known.items(), key=lambda item: (item[1], item[0])))}
    index = defaultdict[str, list[tuple[int, int]]](list)
    for words, place in sorted(((w, p) for w, p in first.items() if w), key=lambda item: (len(item[0]), item[1])):
        rare = sorted(words, key=order.__getitem__)
        for other in _candidates(rare, index, sets, near):
            if _root(root, other) != _root(root, place) and len(words & sets[other]) >= _both(words, sets[other], near):
                _join(root, other, place)
        for at, word in enumerate(rare[: len(words) - _both(words, words, near) + 1]):
            index[word].append((place, at))
    return [_root(root, place) for place in range(len(texts))]


def _candidates(
    rare: Sequence[str],
    index: Mapping[str, Sequence[tuple[int, int]]],
    sets: Sequence[frozenset[str]],
    near: float,
) -> list[int]:
    """Return the smaller texts that may be near: they share a rare word, and enough words are left.

    Parameters
    ----------
    rare
        The words of a text, rarest first.
    index
        (text, place from the rarest) of those of the texts before.
    """
    size, found = len(rare), set[int]()
    smallest = near * size - SLACK
    for at, word in enumerate(rare[: size - math.ceil(smallest) + 1]):
        for other, its in index.get(word, ()):
            length = len(sets[other])
            if length >= smallest and min(size - at, length - its) >= near / (1 + near) * (size + length) - SLACK:
                found.add(other)
    return sorted(found)


def _both(a: Collection[str], b: Collection[str], near: float) -> int:
    """Return how many words two sets share, at least, that are so near."""
    return math.ceil(near / (1 + near) * (len(a) + len(b)) - SLACK)


def _root(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _join(root: list[int], a: int, b: int) -> None:
    a, b = sorted((_root(root, a), _root(root, b)))
    root[b] = a
