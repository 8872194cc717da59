"""Where an answer that is given as a text stands in a document: as it is written, nearly so, or nowhere.

First as it is written, white space aside; then with case, quotes, dashes and forms of characters made equal; last with
a few other letters, but with the same numbers and negations. All places count at which the text stands in the first of
these ways that finds one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from unicodedata import normalize

from rapidfuzz.fuzz import partial_ratio_alignment

from embassay.stats.lexical.words import UNSPACED

FLOOR = 90
"""The least similarity of an answer that is written nearly so, in percent: two letters of twenty may differ."""
LEAST = 12
"""The least number of characters of an answer that may be written nearly so."""
SHORTEST = 2
"""The least number of characters of an answer: a single letter stands anywhere."""
SAME = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‘’‚‛‹›′`´", "'"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        # Soft hyphens, and what has no width.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    }
)
"""Characters that are written in several ways."""
AROUND = "\"'.,;:!?"
"""Punctuation around an answer, which is no part of it."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"\w+(?:[’']\w+)*")
_INSIDE_NUMBER = re.compile(r"\d[.,:]\d")
_NUMBER = re.compile(r"\d+")
KEPT = frozenset(
    "no not never none without cannot nor neither zero one two three four five six seven eight nine ten eleven twelve "
    "twenty thirty forty fifty hundred thousand million billion first second third half".split()
)
"""Words that no other word may stand for: negations, and numbers in words."""


@dataclass(frozen=True)
class Found:
    """Where an answer stands in a text.

    Attributes
    ----------
    spans
        Start and end of each place, in characters without white space.
    nearly
        Whether some letters differ there.
    """

    spans: tuple[tuple[int, int], ...]
    nearly: bool = False


@dataclass(frozen=True)
class Letters:
    """The characters of a text without white space, each with its place among them.

    White space between two digits stays, as one space: "3 10" is not "310".

    Attributes
    ----------
    text
        The characters; one of the text may have become several.
    places
        The place of each of them.
    joined
        Whether each follows the one before it without white space.
    """

    text: str
    places: tuple[int, ...]
    joined: tuple[bool, ...]

    @classmethod
    def of(cls, text: str, *, folded: bool) -> Letters:
        """Return those of a text; ``folded`` makes case, quotes, dashes and forms of characters equal."""
        letters, places, joined, place = list[str](), list[int](), list[bool](), 0
        for word in text.split():
            for index, character in enumerate(word):
                same = normalize("NFKD", character).translate(SAME).casefold() if folded else character
                if not index and letters and letters[-1].isdecimal() and same[:1].isdecimal():
                    same = f" {same}"
                letters += same
                places += [place] * len(same)
                joined += [bool(index) or position > 0 for position in range(len(same))]
                place += 1
        return cls("".join(letters), tuple(places), tuple(joined))

    def is_cut(self, place: int) -> bool:
        """Return whether a word or a number is cut in two before this character."""
        if not 0 < place < len(self.text) or not self.joined[place]:
            return False
        # Neither the 12 nor the 30 of "12:30" is a number of its own.
        if any(_INSIDE_NUMBER.match(self.text, start) for start in (place - 1, place - 2) if start >= 0):
            return True
        before, after = self.text[place - 1], self.text[place]
        is_spaced = not (_UNSPACED.match(before) or _UNSPACED.match(after))
        return before.isalnum() and after.isalnum() and is_spaced

    def find(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each place of some characters, among those of the text; no word is cut."""
        start = self.text.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            if not self.is_cut(start) and not self.is_cut(end):
                yield self.span(start, end)
            start = self.text.find(wanted, start + 1)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where these characters stand in the text, white space not counted."""
        return self.places[start], self.places[end - 1] + 1

    def whole_words(self, start: int, end: int) -> tuple[int, int]:
        """Return a place, made longer so that no word is cut."""
        while self.is_cut(start):
            start -= 1
        while self.is_cut(end):
            end += 1
        return start, end


class Searched:
    """A text in which answers are located."""

    def __init__(self, text: str) -> None:
        """Keep the text; it is prepared when it is first searched."""
        self.text = text

    @cached_property
    def _written(self) -> Letters:
        return Letters.of(self.text, folded=False)

    @cached_property
    def _folded(self) -> Letters:
        return Letters.of(self.text, folded=True)

    @cached_property
    def _ends(self) -> list[int]:
        """Where each character that is no white space ends in the text."""
        return [index + 1 for index, character in enumerate(self.text) if not character.isspace()]

    def written(self, start: int, end: int) -> str:
        """Return the text of a place as it is written."""
        return self.text[self._ends[start] - 1 : self._ends[end - 1]]

    def locate(self, answer: str) -> Found | None:
        """Return where an answer stands; None if it is nowhere."""
        for letters, folded in ((self._written, False), (self._folded, True)):
            wanted = Letters.of(answer, folded=folded).text
            if folded:
                wanted = wanted.strip(AROUND)
            spans = tuple(letters.find(wanted)) if len(wanted) >= SHORTEST else ()
            if spans:
                return Found(spans)
        span = self.nearest(answer, FLOOR) if len(wanted) >= LEAST else None
        if span is None or facts(self.written(*span)) != facts(answer):
            return None
        return Found((span,), nearly=True)

    def nearest(self, answer: str, floor: float = 0) -> tuple[int, int] | None:
        """Return the place that is most like an answer, in whole words; None if none is similar enough.

        Parameters
        ----------
        floor
            The least similarity, in percent.
        """
        letters, wanted = self._folded, Letters.of(answer, folded=True).text
        # A longer text would be searched for in the answer.
        if not wanted or len(wanted) > len(letters.text):
            return None
        best = partial_ratio_alignment(wanted, letters.text, score_cutoff=floor)
        if best is None or best.dest_end <= best.dest_start:
            return None
        return letters.span(*letters.whole_words(best.dest_start, best.dest_end))


def facts(text: str) -> list[str]:
    """Return the numbers and negations of a text in their order: where they differ, it says something else."""
    kept = list[str]()
    for word in _WORD.findall(normalize("NFKC", text).translate(SAME).casefold()):
        kept += _NUMBER.findall(word) or ([word] if word in KEPT or word.endswith("n't") else [])
    return kept


def nearest_passage(texts: Mapping[str, Searched], answer: str) -> str:
    """Return what is most like an answer, as it is written, with the id of its document; empty if nothing is."""
    best, most = "", 0.0
    for name, searched in texts.items():
        alignment = partial_ratio_alignment(answer.casefold(), searched.text.casefold())
        if alignment is not None and alignment.score > most:
            span = searched.nearest(answer)
            if span is not None:
                most, best = alignment.score, f"{name}: {' '.join(searched.written(*span).split())}"
    return best
