"""Finding the passages that answer a question: its source, and near-duplicates that also contain the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from embassay.corpora.queries.duplicates import PassageGroups
from embassay.corpora.queries.leaks import names, telling
from embassay.corpora.queries.passages import Passage, tokens
from embassay.testsets.base import Reasons
from embassay.testsets.questions import PassageQuestion, quote_of

TWICE = "a question asked about two passages"


@dataclass(frozen=True)
class Answered:
    """A question and the passages that answer it.

    Attributes
    ----------
    right
        The passages that answer it, in their order; of a query made from a document, its own passage first.
    near
        These and their near-duplicates, which may lack the answer.
    """

    id: str
    question: PassageQuestion
    right: tuple[Passage, ...]
    near: tuple[Passage, ...]


def answered(asked: Iterable[PassageQuestion], grounds: PassageGroups, rejected: Reasons) -> list[Answered]:
    """Find the passages that answer each question; count in ``rejected`` those that were asked about two passages."""
    same_words = defaultdict[str, list[PassageQuestion]](list)
    for question in asked:
        same_words[" ".join(tokens(question.text))].append(question)

    questions = list[Answered]()
    for question, *others in same_words.values():
        if others:
            rejected[TWICE] += 1 + len(others)
            continue
        passage = question.passage
        near = {each.id: each for each in grounds.near(passage)}
        right = dict[str, Passage]()
        # Near-duplicates, and windows that overlap with it, are right if they contain the answer as well.
        for each in (*near.values(), *_beside(passage, grounds)):
            if each == passage or _answers(each.text, question):
                right[each.id] = each
        questions.append(Answered(f"{passage.id}-q", question, tuple(right.values()), tuple((near | right).values())))
    return questions


def _beside(passage: Passage, grounds: PassageGroups) -> list[Passage]:
    """Return the windows of words that overlap with a passage; none if it is a paragraph or a sentence."""
    if not passage.shared:
        return []
    place = grounds.passages.index(passage)
    around = grounds.passages[max(place - 1, 0) : place + 2]
    return [neighbour for neighbour in around if neighbour.document == passage.document]


def _answers(text: str, question: PassageQuestion) -> bool:
    """Return whether a text contains a question's answer, and the words that the question shares with its passage."""
    question_words = {stem(word) for word in telling(tokens(question.text))}
    shared_words = question_words & stems(question.passage.text)
    return shared_words <= stems(text) and bool(quote_of(question.answer, text))


# --- Units with a passage that may answer a question, although it is neither right nor a near-duplicate ---

ENOUGH = 0.5
"""The minimum share of the answer's words in a passage that may answer, if it has all words of the subject."""


def units_that_may_answer(questions: Sequence[Answered], grounds: PassageGroups) -> Mapping[str, frozenset[str]]:
    """Return the units of other passages that may answer a question, by the question's id."""
    words_of = [(passage, stems(passage.text)) for passage in grounds.passages]
    units = dict[str, frozenset[str]]()
    for entry in questions:
        near = {passage.id for passage in entry.near}
        subject = _subject(entry)
        # A query that was made from a document has no answer's wording; another passage may have half of its own words.
        answer = _telling_stems(entry.question.answer or entry.question.text)
        others = set[str]()
        for passage, words in words_of:
            if subject <= words and len(answer & words) >= ENOUGH * len(answer) and passage.id not in near:
                others.add(passage.unit)
        units[entry.id] = frozenset(others)
    return units


def _subject(entry: Answered) -> frozenset[str]:
    """Return the words that say what a question is about: its names, else the words that it shares with its passage."""
    passage_words = stems(entry.right[0].text)
    name_words = {stem(word) for word in names(entry.question.text)} & passage_words
    return frozenset(name_words) or _telling_stems(entry.question.text) & passage_words


def _telling_stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words; of all its words if it has no content words."""
    words = tokens(text)
    return frozenset(map(stem, telling(words) or words))


def stem(word: str) -> str:
    """Return a word of :func:`tokens` without the ending of an English plural."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith("s") and not word.endswith("ss") and len(word) > 2:
        return word[:-1]
    return word


@lru_cache(maxsize=64)
def stems(text: str) -> frozenset[str]:
    """Return the words of a text, plurals as singulars."""
    return frozenset(map(stem, tokens(text)))
