"""Where an answer that is given as a text stands in a document: as it is written, nearly so, or nowhere.

First as it is written, white space aside; then with case, quotes, dashes and forms of characters made equal; last with
a few other letters, but with the same numbers and negations. All places count at which the text stands in the first of
these ways that finds one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from unicodedata import normalize

from rapidfuzz.fuzz import partial_ratio_alignment

from embassay.core.errors import begun, quoted
from embassay.core.formatting import counted
from embassay.core.samples.answers import AnsweredQuestion, AnswerPlace
from embassay.core.samples.retrieval import Question
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
MOST_DOCUMENTS = 5
"""An answer for which no document is named may stand in so many; in more it says nothing of any of them."""
MOST_NAMED = 10
"""Answers that are not found and are named."""
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


class Near(NamedTuple):
    """A place that is like an answer, and how similar, in percent."""

    similarity: float
    span: tuple[int, int]


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
        near = self.nearest(answer) if len(wanted) >= LEAST else None
        if near is None or near.similarity < FLOOR or facts(self.written(*near.span)) != facts(answer):
            return None
        return Found((near.span,), nearly=True)

    def nearest(self, answer: str) -> Near | None:
        """Return the place that is most like an answer, in whole words; None if nothing is like it."""
        letters, wanted = self._folded, Letters.of(answer, folded=True).text
        # A longer text would be searched for in the answer.
        if not wanted or len(wanted) > len(letters.text):
            return None
        best = partial_ratio_alignment(wanted, letters.text)
        if best is None or best.dest_end <= best.dest_start:
            return None
        return Near(best.score, letters.span(*letters.whole_words(best.dest_start, best.dest_end)))


def facts(text: str) -> list[str]:
    """Return the numbers and negations of a text in their order: where they differ, it says something else."""
    kept = list[str]()
    for word in _WORD.findall(normalize("NFKC", text).translate(SAME).casefold()):
        kept += _NUMBER.findall(word) or ([word] if word in KEPT or word.endswith("n't") else [])
    return kept


@dataclass
class Asked:
    """A question as it was read, with its right documents and its answers, each once and in order.

    Attributes
    ----------
    place
        Where it stands in its file.
    """

    key: str
    text: str
    place: str
    right: dict[str, None] = field(default_factory=dict)
    answers: dict[str, None] = field(default_factory=dict)


def located(
    asked: Iterable[Asked], searched: Mapping[str, Searched], units_of: Callable[[Iterable[str]], tuple[str, ...]]
) -> tuple[tuple[Question, ...], list[str]]:
    """Return the questions with the places of their answers, and notes on the answers that are not found.

    An answer is located in the right documents of its question, or in all if none is named. A question whose answer is
    not found is still judged by its documents; it is left out if none is named.

    Parameters
    ----------
    units_of
        Returns the keys of a question's units from its right documents.
    """
    samples, problems = list[Question](), list[str]()
    answers = nearly = left_out = 0
    for question in asked:
        among = question.right or (searched if question.answers else ())
        # A place may be that of several answers; a dict keeps each once.
        places, is_nearly = dict[AnswerPlace, None](), True
        for name, answer in itertools.product(among, question.answers):
            if found := searched[name].locate(answer):
                places.update(dict.fromkeys(AnswerPlace(name, *span) for span in found.spans))
                is_nearly = is_nearly and found.nearly
        right = tuple(question.right or dict.fromkeys(place.document for place in places))
        answers += bool(question.answers)
        if question.answers and (not places or len(right) > max(MOST_DOCUMENTS, len(question.right))):
            problems.append(
                _not_located(question, len(right) if places else 0, {name: searched[name] for name in among})
            )
            left_out += not question.right
            places, right = {}, tuple(question.right)
            if not right:
                continue
        nearly += bool(places) and is_nearly
        sample = Question(question.key, question.text, right, units=units_of(right))
        if places:
            sample = AnsweredQuestion(**vars(sample), answers=tuple(question.answers), places=tuple(places))
        samples.append(sample)
    notes = list[str]()
    if answers:
        amounts = f"answers: {answers - len(problems):,} of {answers:,} located in the documents"
        amounts += f", {nearly:,} of them in other letters" if nearly else ""
        amounts += f"; {counted(left_out, 'question')} without a document left out" if left_out else ""
        notes = [amounts, *problems[:MOST_NAMED]]
        if len(problems) > MOST_NAMED:
            notes.append(f"and {len(problems) - MOST_NAMED:,} more answers")
    return tuple(samples), notes


def _not_located(question: Asked, documents: int, among: Mapping[str, Searched]) -> str:
    """Return a note on an answer without a place: where it is looked for, and what is most like it there."""
    answer = next(iter(question.answers))
    said = f"{question.place}: the answer {quoted(begun(answer))}"
    if documents:
        return f"{said} stands in {documents:,} documents; name its document"
    said += f" is not found{f' in {next(iter(among))}' if len(among) == 1 else ''}"
    alike = [(searched.nearest(answer), name) for name, searched in among.items()]
    best, name = max(((near, name) for near, name in alike if near), default=(None, ""))
    if best:
        said += f"; nearest: {name}: {' '.join(among[name].written(*best.span).split())}"
    return said
