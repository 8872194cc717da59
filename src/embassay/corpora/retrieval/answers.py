"""Where an answer that is given as a text stands in a document: as it is written, nearly so, or nowhere.

First as it is written, white space aside; then with case, quotes, dashes and accents made equal; last with a few other
letters, but with the same numbers and negations. All places count at which the text stands in the first of these ways
that finds one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
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
"""The least number of characters of an answer that is no number: a single letter stands anywhere."""
MOST_DOCUMENTS = 5
"""An answer for which no document is named may stand in so many; in more it says nothing of any of them."""
MOST_NAMED = 10
"""Answers that are not found and are named."""
AROUND = " \"“”'‘’«».,;:!?"
"""What may stand around an answer and is no part of it."""
EQUAL = ('"“”„‟«»″', "'‘’‚‛‹›′`´", "-‐‑‒–—―−")
"""Quotes, apostrophes and dashes that are written in several ways."""
CLASS_OF = {character: f"[{re.escape(ways)}]" for ways in EQUAL for character in ways}
_WORD = re.compile(rf"[^\W_{UNSPACED}]+")
"""A word or a number of a script with spaces between words."""
_CUT = re.compile(rf"(?<=[^\W_{UNSPACED}])(?=[^\W_{UNSPACED}])|(?<=\d[.,:])(?=\d)|(?<=\d)(?=[.,:]\d)")
"""Where a word or a number would be cut: neither 12 nor 30 is found in ``12:30``."""
_FACTS = re.compile(
    r"\d+|\b(?:no|not|never|none|without|cannot|nor|neither|\w+n't|zero|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|first|second|third|half)\b"
)
"""What nothing else may stand for: numbers, also in words, and negations."""


class Near(NamedTuple):
    """The place that is most like an answer: how similar it is, in percent, and its start and end in the text."""

    similarity: float
    start: int
    end: int


def locate(answer: str, text: str) -> list[tuple[int, int]]:
    """Return where an answer stands in a text: start and end of each place; none if it is nowhere."""
    answer = answer.strip()
    letters = answer.strip(AROUND)
    if length(letters) < SHORTEST and not letters.isdecimal():
        return []
    for pattern in (written(answer), alike(answer)):
        if spans := whole_matches(pattern, text):
            return spans
    if length(answer) >= LEAST:
        similarity, start, end = nearest(answer, text)
        if similarity >= FLOOR and facts(text[start:end]) == facts(answer):
            return [(start, end)]
    return []


@lru_cache
def written(answer: str) -> re.Pattern[str]:
    """Return what finds an answer as it is written, with any white space between its words."""
    return re.compile(r"\s+".join(map(re.escape, answer.split())))


@lru_cache
def alike(answer: str) -> re.Pattern[str]:
    """Return what finds an answer in other case, quotes, dashes, accents and emphasis, without marks around it."""
    words = ["".join(map(_equal, word)) for word in normalize("NFC", answer).strip(AROUND).split()]
    return re.compile(r"[*_`]*\s+[*_`]*".join(words), re.IGNORECASE)


def _equal(character: str) -> str:
    """Return what finds a character in all ways to write it."""
    in_parts = normalize("NFD", character)
    either = re.escape(character) if in_parts == character else f"(?:{character}|{in_parts})"
    return CLASS_OF.get(character, either)


def whole_matches(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return start and end of each match that cuts no word and no number."""
    spans = [match.span() for match in pattern.finditer(text)]
    return [span for span in spans if not any(_CUT.match(text, place) for place in span)]


def nearest(answer: str, text: str) -> Near:
    """Return the place that is most like an answer, in whole words; its similarity is 0 if nothing is like it."""
    lower = text.lower()
    # Places in lower case are those of the text, but where a letter becomes two.
    if len(lower) == len(text):
        text = lower
    # In a longer answer the text would be searched.
    best = partial_ratio_alignment(answer.lower(), text) if len(answer) <= len(text) else None
    if best is None or best.dest_end <= best.dest_start:
        return Near(0, 0, 0)
    start, end = best.dest_start, best.dest_end
    for word in _WORD.finditer(text):
        if word.start() < start < word.end():
            start = word.start()
        if word.start() < end < word.end():
            end = word.end()
    return Near(best.score, start, end)


def facts(text: str) -> list[str]:
    """Return the numbers and negations of a text in their order: where they differ, it says something else."""
    return _FACTS.findall(normalize("NFKC", text).replace("’", "'").casefold())


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
    asked: Iterable[RawQuestion], texts: Mapping[str, str], units_of: Callable[[Iterable[str]], tuple[str, ...]]
) -> tuple[tuple[Question, ...], list[str]]:
    """Return the questions with the places of their answers, and notes on the answers that are not found.

    An answer is located in the right documents of its question, or in all if none is named. A question whose answer is
    not found is still judged by its documents; it is left out if none is named.

    Parameters
    ----------
    texts
        The documents by id.
    units_of
        Returns the keys of a question's units from its right documents.
    """
    samples, problems = [], []
    answers = nearly = left_out = 0
    for question in asked:
        named = tuple(question.right)
        places = _places(question, texts)
        documents = tuple(dict.fromkeys(place.document for place in places))
        if question.answers:
            answers += 1
            if not places or (len(documents) > MOST_DOCUMENTS and not named):
                problems.append(_not_located(question, texts, len(documents)))
                if not named:
                    left_out += 1
                    continue
        right = named or documents
        sample = Question(question.key, question.text, right, units=units_of(right))
        if places:
            nearly += not any(
                whole_matches(alike(answer), texts[name]) for name in documents for answer in question.answers
            )
            sample = AnsweredQuestion(**vars(sample), answers=tuple(question.answers), places=tuple(places))
        samples.append(sample)
    notes = []
    if answers:
        amounts = f"answers: {answers - len(problems):,} of {answers:,} located in the documents"
        amounts += f", {nearly:,} of them in other letters" if nearly else ""
        amounts += f"; {counted(left_out, 'question')} without a document left out" if left_out else ""
        notes = [amounts, *problems[:MOST_NAMED]]
        if len(problems) > MOST_NAMED:
            notes.append(f"and {len(problems) - MOST_NAMED:,} more answers")
    return tuple(samples), notes


def _places(question: RawQuestion, texts: Mapping[str, str]) -> dict[AnswerPlace, None]:
    """Return the places of the answers to a question, each once and in order."""
    places: dict[AnswerPlace, None] = {}
    for name in question.right or texts:
        for answer in question.answers:
            text = texts[name]
            spans = locate(answer, text)
            if spans:
                # How many characters that are no white space stand before each place.
                before = [0, *accumulate(not character.isspace() for character in text)]
                places |= dict.fromkeys(AnswerPlace(name, before[start], before[end]) for start, end in spans)
    return places


def _not_located(question: RawQuestion, texts: Mapping[str, str], documents: int) -> str:
    """Return a note on an answer without a place: where it is looked for, and what is most like it there."""
    answer, names = next(iter(question.answers)), list(question.right or texts)
    note = f"{question.place}: the answer {quoted(begun(answer))}"
    if documents:
        return f"{note} stands in {documents:,} documents; name its document"
    note += " is not found" + (f" in {names[0]}" if len(names) == 1 else "")
    near, name = max((nearest(answer, texts[name]), name) for name in names)
    if near.similarity:
        note += f"; nearest: {name}: {' '.join(texts[name][near.start : near.end].split())}"
    return note
