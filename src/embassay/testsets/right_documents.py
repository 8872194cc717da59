"""Finding the passages that answer a question: its source, and near-duplicates that also contain the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from embassay.corpora.queries.leaks import names, telling
from embassay.corpora.queries.passages import Passage, near_passages, tokens
from embassay.testsets.base import Reasons
from embassay.testsets.questions import PassageQuestion, quote_of


def answered(asked: Iterable[PassageQuestion], grounds: Sequence[Passage], rejected: Reasons) -> list[PassageQuestion]:
    """Find the passages that answer each question; count in ``rejected`` those that were asked about two passages."""
    same_words = defaultdict[str, list[PassageQuestion]](list)
    for question in asked:
        same_words[" ".join(tokens(question.text))].append(question)

    near_of = near_passages(grounds)
    questions = list[PassageQuestion]()
    for question, *others in same_words.values():
        if others:
            rejected["a question asked about two passages"] += 1 + len(others)
            continue
        passage = question.passage
        near = {each.id: each for each in near_of[passage.group]}
        # Near-duplicates, and windows that overlap with it, are right if they contain the answer as well.
        candidates = near | {each.id: each for each in _beside(passage, grounds)}
        right = {name: each for name, each in candidates.items() if each == passage or _answers(each.text, question)}
        questions.append(replace(question, right=tuple(right.values()), near=tuple((near | right).values())))
    return questions


def _beside(passage: Passage, grounds: Sequence[Passage]) -> list[Passage]:
    """Return the windows of words that overlap with a passage; none if it is a paragraph or a sentence."""
    if not passage.overlaps:
        return []
    place = grounds.index(passage)
    around = grounds[max(place - 1, 0) : place + 2]
    return [neighbour for neighbour in around if neighbour.unit == passage.unit]


def _answers(text: str, question: PassageQuestion) -> bool:
    """Return whether a text contains a question's answer, and the words that the question shares with its passage."""
    question_words = {stem(word) for word in telling(tokens(question.text))}
    shared_words = question_words & stems(question.passage.text)
    return shared_words <= stems(text) and bool(quote_of(question.answer, text))


# --- Units with a passage that may answer a question, although it is neither right nor a near-duplicate ---

ENOUGH = 0.5
"""The minimum share of the answer's words in a passage that may answer, if it has all words of the subject."""


def other_units(question: PassageQuestion, passages: Iterable[tuple[Passage, frozenset[str]]]) -> set[str]:
    """Return the units of passages (with their stems) that may answer a question without being near its own."""
    near = {passage.id for passage in question.near}
    # What the question is about: its names, else the words that it shares with its passage.
    passage_words = stems(question.passage.text)
    name_words = frozenset(map(stem, names(question.text))) & passage_words
    subject = name_words or _telling_stems(question.text) & passage_words
    # A query that was made from a document has no answer's wording; another passage may have half of its own words.
    answer = _telling_stems(question.answer or question.text)
    units = set[str]()
    for passage, words in passages:
        if subject <= words and len(answer & words) >= ENOUGH * len(answer) and passage.id not in near:
            units.add(passage.unit)
    return units


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
