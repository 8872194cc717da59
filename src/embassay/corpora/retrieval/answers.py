"""Where an answer that is given as a text stands in a document: as it is written, nearly so, or nowhere.

First as it is written, white space aside; then with case, quotes, dashes and accents made equal; last with a few other
letters, but with the same numbers and negations. All places count at which the text stands in the first of these ways
that finds one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from unicodedata import normalize

from rapidfuzz.fuzz import partial_ratio_alignment

from embassay.core.errors import begun, quoted
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import AnsweredQuestion, AnswerPlace, Question, length
from embassay.stats.lexical.words import UNSPACED

FLOOR = 90
"""The least similarity of an answer that is written nearly so, in percent: two letters of twenty may differ."""
LEAST = 12
"""The least number of characters of an answer that may be written nearly so."""
SHORTEST = 2
"""The least number of characters of an answer: a single letter stands anywhere."""
MOST_DOCUMENTS = 5
"""An answer for which no document is named may stand in so many; in more it says nothing of any of them."""
MOST_NAMED = 10
"""Answers that are not found and are named."""
AROUND = "\"“”'‘’«».,;:!?"
"""Punctuation around an answer, which is no part of it."""
EQUAL = ('"“”„‟«»″', "'‘’‚‛‹›′`´", "-‐‑‒–—―−")
"""Quotes, apostrophes and dashes that are written in several ways."""
CLASS_OF = {character: f"[{re.escape(ways)}]" for ways in EQUAL for character in ways}
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
"""Soft hyphens, and what has no width."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"\w+(?:'\w+)?")
_NUMBER = re.compile(r"\d+")
KEPT = frozenset(
    "no not never none without cannot nor neither zero one two three four five six seven eight nine ten eleven twelve "
    "twenty thirty forty fifty hundred thousand million billion first second third half".split()
)
"""Words that no other word may stand for: negations, and numbers in words."""


class Found(NamedTuple):
    """Where an answer stands in a text: start and end of each place, white space not counted.

    ``nearly`` says whether some letters differ there.
    """

    spans: tuple[tuple[int, int], ...]
    nearly: bool = False


class Near(NamedTuple):
    """A place that is like an answer: how similar it is, in percent, and its start and end in the text."""

    similarity: float
    start: int
    end: int


def is_part_of_word(character: str) -> bool:
    """Return whether a character is a letter or a digit of a script with spaces between words."""
    return character.isalnum() and not _UNSPACED.match(character)


def written(answer: str) -> re.Pattern[str]:
    """Return what finds an answer as it is written, with any white space between its words."""
    return re.compile(_whole(answer, r"\s+".join(map(re.escape, answer.split()))))


def alike(answer: str) -> re.Pattern[str]:
    """Return what finds an answer in other case, quotes, dashes and accents, and without the punctuation around it."""
    answer = normalize("NFC", answer).strip(AROUND).translate(dict.fromkeys(map(ord, INVISIBLE)))
    words = [f"[{INVISIBLE}]*".join(map(_equal, word)) for word in answer.split()]
    return re.compile(_whole(answer, r"\s+".join(words)), re.IGNORECASE)


def _equal(character: str) -> str:
    """Return what finds a character in all ways to write it."""
    in_parts = normalize("NFD", character)
    either = re.escape(character) if in_parts == character else f"(?:{character}|{in_parts})"
    return CLASS_OF.get(character, either)


def _whole(answer: str, pattern: str) -> str:
    """Return a pattern that cuts no word and no number: neither 12 nor 30 is found in ``12:30``."""
    before = after = ""
    if answer and is_part_of_word(answer[0]):
        before = r"(?<![^\W_])" + (r"(?<!\d[.,:])" if answer[0].isdecimal() else "")
    if answer and is_part_of_word(answer[-1]):
        after = r"(?![^\W_])" + (r"(?![.,:]\d)" if answer[-1].isdecimal() else "")
    return f"{before}{pattern}{after}"


class Searched:
    """A text in which answers are located."""

    def __init__(self, text: str) -> None:
        """Keep the text."""
        self.text = text

    @cached_property
    def _letters_before(self) -> list[int]:
        """How many characters that are no white space stand before each place."""
        return [0, *itertools.accumulate(not character.isspace() for character in self.text)]

    def locate(self, answer: str) -> Found | None:
        """Return where an answer stands; None if it is nowhere."""
        answer = answer.strip()
        if length(answer.strip(AROUND)) < SHORTEST:
            return None
        for pattern in (written(answer), alike(answer)):
            spans = [match.span() for match in pattern.finditer(self.text)]
            if spans:
                return self._found(spans)
        near = self.nearest(answer) if length(answer) >= LEAST else None
        if near is None or near.similarity < FLOOR or facts(self.text[near.start : near.end]) != facts(answer):
            return None
        return self._found([(near.start, near.end)], nearly=True)

    def _found(self, spans: Iterable[tuple[int, int]], *, nearly: bool = False) -> Found:
        letters = self._letters_before
        return Found(tuple((letters[start], letters[end]) for start, end in spans), nearly)

    def nearest(self, answer: str) -> Near | None:
        """Return the place that is most like an answer, in whole words; None if nothing is like it."""
        text = self.text.lower()
        # Places in lower case are those of the text, but where a letter becomes two.
        if len(text) != len(self.text):
            text = self.text
        # A longer answer would have the text searched for in it.
        if len(answer) > len(text):
            return None
        best = partial_ratio_alignment(answer.lower(), text)
        if best is None or best.dest_end <= best.dest_start:
            return None
        start, end = best.dest_start, best.dest_end
        while start > 0 and is_part_of_word(text[start - 1]) and is_part_of_word(text[start]):
            start -= 1
        while end < len(text) and is_part_of_word(text[end - 1]) and is_part_of_word(text[end]):
            end += 1
        return Near(best.score, start, end)


def facts(text: str) -> list[str]:
    """Return the numbers and negations of a text in their order: where they differ, it says something else."""
    kept = list[str]()
    for word in _WORD.findall(normalize("NFKC", text).replace("’", "'").casefold()):
        kept += _NUMBER.findall(word) or ([word] if word in KEPT or word.endswith("n't") else [])
    return kept


@dataclass
class RawQuestion:
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
    asked: Iterable[RawQuestion], searched: Mapping[str, Searched], units_of: Callable[[Iterable[str]], tuple[str, ...]]
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


def _not_located(question: RawQuestion, documents: int, among: Mapping[str, Searched]) -> str:
    """Return a note on an answer without a place: where it is looked for, and what is most like it there."""
    answer = next(iter(question.answers))
    said = f"{question.place}: the answer {quoted(begun(answer))}"
    if documents:
        return f"{said} stands in {documents:,} documents; name its document"
    said += f" is not found{f' in {next(iter(among))}' if len(among) == 1 else ''}"
    alike = [(searched.nearest(answer), name) for name, searched in among.items()]
    best, name = max(((near, name) for near, name in alike if near), default=(None, ""))
    if best:
        said += f"; nearest: {name}: {' '.join(among[name].text[best.start : best.end].split())}"
    return said
