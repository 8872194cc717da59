"""Where an answer that is given as a text stands in the documents: as it is written, nearly so, or nowhere.

First as it is written, white space aside; then with case, quotes, dashes, accents and marks of Markdown made equal;
last with a few other letters in some words, but with the same numbers and negations. The first of these ways in which
the answer stands in any of the documents is used, and all its places count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from unicodedata import normalize

from rapidfuzz.fuzz import partial_ratio_alignment, ratio

from embassay.core.errors import begun, listed, quoted
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import AnsweredQuestion, AnswerPlace, Question, length
from embassay.corpora.io.passages import collapsed
from embassay.stats.lexical.words import UNSPACED

FLOOR = 90
"""The least similarity of an answer that is written nearly so, in percent: two letters of twenty may differ."""
WORD_FLOOR = 85
"""The least similarity of two words that may be one, in percent: "encode" and "decode" are two."""
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
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"[`*]|(?<!\w)_+|_+(?!\w)")
"""Marks of Markdown for code and emphasis."""
_FACTS = re.compile(
    r"\d+|\b(?:no|not|never|none|without|cannot|nor|neither|\w+n't|zero|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|first|second|third|half)\b"
)
"""What nothing else may stand for: numbers, also in words, and negations."""


class Located(NamedTuple):
    """By document where an answer stands: start and end of each place; and whether it is written with other letters."""

    spans: dict[str, list[tuple[int, int]]]
    nearly: bool = False


def locate(answer: str, texts: Mapping[str, str]) -> Located:
    """Return where an answer stands in documents, in the first way in which it stands in any; nowhere if in none."""
    if is_too_short(answer):
        return Located({})
    as_written = partial(whole_matches, written(answer))
    alike = partial(whole_matches, in_any_writing(answer))
    nearly = partial(nearly_written, plain(answer))
    for way in (as_written, alike, nearly):
        spans = {name: way(text) for name, text in texts.items()}
        if any(spans.values()):
            return Located({name: places for name, places in spans.items() if places}, way is nearly)
    return Located({})


def is_too_short(answer: str) -> bool:
    """Return whether an answer is a single letter or sign, which stands anywhere; a digit is none."""
    letters = plain(answer).strip(AROUND)
    return length(letters) < SHORTEST and not letters.isdecimal()


def plain(answer: str) -> str:
    """Return an answer without marks of Markdown around words; of a link its text."""
    return _MARKS.sub("", _LINK.sub(r"\1", answer)).strip()


def nearly_written(answer: str, text: str) -> list[tuple[int, int]]:
    """Return the one place where an answer stands with a few other letters, if there is one."""
    if length(answer) < LEAST:
        return []
    similarity, start, end = nearest(answer, text)
    place = text[start:end]
    if similarity < FLOOR or facts(place) != facts(answer):
        return []
    own, others = (set(_WORD.findall(part.casefold())) for part in (answer, place))
    for word in own ^ others:
        if not any(_same_word(word, other) for other in (others if word in own else own)):
            return []
    return [(start, end)]


def _same_word(word: str, other: str) -> bool:
    """Return whether two words may be one, misspelt; "signed" and "unsigned" are not."""
    return ratio(word, other) >= WORD_FLOOR and not (word.endswith(other) or other.endswith(word))


def written(answer: str) -> re.Pattern[str]:
    """Return what finds an answer as it is written, with any white space between its words."""
    return re.compile(r"\s+".join(map(re.escape, answer.split())))


def in_any_writing(answer: str) -> re.Pattern[str]:
    """Return what finds an answer in other case, quotes, dashes, accents and emphasis, without marks around it."""
    words = ["".join(map(_equal, word)) for word in normalize("NFC", plain(answer)).strip(AROUND).split()]
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


def nearest(answer: str, text: str) -> tuple[float, int, int]:
    """Return the similarity, in percent, and start and end of the place that is most like an answer, in whole words.

    The similarity is 0 if nothing is like it.
    """
    lower = text.lower()
    # Places in lower case are those of the text, but where a letter becomes two.
    if len(lower) == len(text):
        text = lower
    # In a longer answer the text would be searched.
    best = partial_ratio_alignment(answer.lower(), text) if len(answer) <= len(text) else None
    if best is None or best.dest_end <= best.dest_start:
        return 0, 0, 0
    start, end = best.dest_start, best.dest_end
    for word in _WORD.finditer(text):
        if word.start() < start < word.end():
            start = word.start()
        if word.start() < end < word.end():
            end = word.end()
    return best.score, start, end


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
    samples, not_found, other_letters = [], list[str](), list[str]()
    answered = left_out = 0
    for question in asked:
        places = _places(question, texts, other_letters)
        # Each document once, in order.
        documents = dict.fromkeys(place.document for place in places)
        answered += bool(question.answers)
        if question.answers and (not places or (len(documents) > MOST_DOCUMENTS and not question.right)):
            not_found.append(_not_located(question, texts, len(documents)))
            if not question.right:
                left_out += 1
                continue
        right = tuple(question.right or documents)
        sample = Question(question.key, question.text, right, units=units_of(right))
        if places:
            sample = AnsweredQuestion(**vars(sample), answers=tuple(question.answers), places=tuple(places))
        samples.append(sample)
    if not answered:
        return tuple(samples), []
    amounts = f"answers of {answered - len(not_found):,} of {counted(answered, 'question')} found in the documents"
    if left_out:
        amounts += f"; {counted(left_out, 'question')} without a document left out"
    notes = [amounts]
    for of_answers, what in ((other_letters, "with other letters"), (not_found, "not found")):
        notes += of_answers[:MOST_NAMED]
        if len(of_answers) > MOST_NAMED:
            notes.append(f"and {len(of_answers) - MOST_NAMED:,} more answers {what}")
    return tuple(samples), notes


def _places(question: RawQuestion, texts: Mapping[str, str], other_letters: list[str]) -> dict[AnswerPlace, None]:
    """Return the places of the answers to a question, each once and in order; add a note on each with other letters."""
    places: dict[AnswerPlace, None] = {}
    for answer in question.answers:
        located = locate(answer, {name: texts[name] for name in question.right or texts})
        for name, spans in located.spans.items():
            text, read, letters = texts[name], 0, 0
            for start, end in spans:
                letters += length(text[read:start])
                read = start
                places[AnswerPlace(name, letters, letters + length(text[start:end]))] = None
                if located.nearly:
                    note = f"{_answer_of(question, answer)} is found in {name} with another spelling"
                    other_letters.append(f"{note}: {_other_words(answer, text[start:end])}")
    return places


def _other_words(answer: str, place: str) -> str:
    """Return the words of an answer that its place does not have, and what it has instead."""
    own, others = (_WORD.findall(part) for part in (plain(answer), place))
    missing = [word for word in own if word not in others]
    instead = [word for word in others if word not in own]
    return f"{listed(missing)} → {listed(instead)}"


def _answer_of(question: RawQuestion, answer: str) -> str:
    """Return the beginning of a note on an answer: its line and its text."""
    return f"{question.place}: the answer {quoted(begun(answer))}"


def _not_located(question: RawQuestion, texts: Mapping[str, str], documents: int) -> str:
    """Return a note on an answer without a place: where it is looked for, and what is most like it there."""
    answer, names = next(iter(question.answers)), list(question.right or texts)
    note = _answer_of(question, answer)
    if is_too_short(answer):
        return f"{note} is a single letter or sign, which stands anywhere"
    if documents:
        return f"{note} stands in {documents:,} documents; name its document"
    note += " is not found" + (f" in {names[0]}" if len(names) == 1 else "")
    (similarity, start, end), name = max((nearest(answer, texts[name]), name) for name in names)
    if similarity:
        note += f"; nearest: {name}: {collapsed(texts[name][start:end])}"
    return note
