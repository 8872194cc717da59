"""Which passages answer a question: the one that it was asked of, and what is near to that and has the answer too."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from embassay.builders._asked import quote_of
from embassay.builders._duplicates import near_duplicates, stem, stems, tokens
from embassay.builders._leaks import telling
from embassay.builders._passages import Passage
from embassay.builders._subjects import bare
from embassay.builders._templates import Asked, plain
from embassay.corpora.io.passages import sentences

AGAIN = "the same question again"
TWICE = "a question that is asked of two passages"
ELSEWHERE = "a subject that another passage says something of too"
_SPELT = "template: abbreviation"
_SAYS = re.compile(r"(.{2,80}?) (?:\([^()]*\) )?(?:is|are|was|were|means|refers? to)\b")
_SHORT = re.compile(r"\b[A-Z][A-Za-z]*[A-Z](?=s?\b)")
_CALLED = re.compile(r"\b(?:called|known as|termed) (?:the |an? )?((?:[\w'’-]+ ?){1,4})")


@dataclass(frozen=True)
class Grounds:
    """The passages, and which of them say nearly the same.

    Attributes
    ----------
    groups
        The group of near-duplicates of each passage; a passage that is too short to ask about is alone.
    """

    passages: tuple[Passage, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, passages: tuple[Passage, ...]) -> Grounds:
        """Find the near-duplicates."""
        return cls(passages, tuple(near_duplicates([passage.text if passage.long else "" for passage in passages])))

    def group(self, passage: Passage) -> int:
        """Return the group of a passage."""
        return self.groups[self._place[passage.id]]

    def near(self, passage: Passage) -> list[Passage]:
        """Return the near-duplicates of a passage, itself among them, in their order."""
        return self._members[self.group(passage)]

    def beside(self, passage: Passage, asked: Asked) -> list[Passage]:
        """Return the neighbours of a passage that answer a question in the words that they share with it."""
        if not passage.shared:
            return []
        place, found = self._place[passage.id], list[Passage]()
        words = passage.body.split()
        for other, shared in ((place - 1, words[: passage.shared]), (place + 1, words[-passage.shared :])):
            if not 0 <= other < len(self.passages):
                continue
            neighbour = self.passages[other]
            its = neighbour.body.split()
            same = its[-passage.shared :] if other < place else its[: passage.shared]
            if neighbour.unit == passage.unit and same == shared and _answers(" ".join(shared), asked, passage):
                found.append(neighbour)
        return found

    @cached_property
    def _place(self) -> dict[str, int]:
        return {passage.id: place for place, passage in enumerate(self.passages)}

    @cached_property
    def _members(self) -> dict[int, list[Passage]]:
        found = defaultdict[int, list[Passage]](list)
        for passage, group in zip(self.passages, self.groups, strict=True):
            found[group].append(passage)
        return found


@dataclass(frozen=True)
class Answered:
    """A question and what answers it.

    Attributes
    ----------
    right
        The passages that answer it, in their order.
    near
        These and their near-duplicates, which need not have the answer.
    """

    id: str
    asked: Asked
    right: tuple[Passage, ...]
    near: tuple[Passage, ...]


Pair = tuple[Passage, Asked]


def answered(pairs: Iterable[Pair], grounds: Grounds, rejected: Counter[str]) -> list[Answered]:
    """Put each question together with the passages that answer it; leave out what two passages answer differently.

    A question that was asked of two passages is kept, for both, where they are near-duplicates, or of one unit and
    with the same answer; else it does not say which of them it is about, and neither is kept.
    """
    same = defaultdict[str, list[Pair]](list)
    for passage, asked in pairs:
        same[" ".join(tokens(asked.question))].append((passage, asked))
    found, numbers = list[Answered](), Counter[str]()
    for told in same.values():
        groups = {grounds.group(passage) for passage, _ in told}
        answers = {_answer_of(passage, asked) for passage, asked in told}
        if len(groups) > 1 and (len(answers) > 1 or not told[0][1].answer):
            rejected[TWICE] += len(told)
            continue
        if len(told) > 1:
            rejected[AGAIN] += len(told) - 1
        passage, asked = told[0]
        numbers[passage.id] += 1
        found.append(_answered(f"{passage.id}-q{numbers[passage.id]}", asked, [p for p, _ in told], grounds))
    return found


def said_once(pairs: Sequence[Pair], grounds: Grounds, rejected: Counter[str]) -> list[Pair]:
    """Leave out what asks for the meaning of a subject of which another passage says something too."""
    asks = ("template: definition", "template: meaning")
    wanted = {bare(asked.subject) for _, asked in pairs if asked.way in asks}
    speak = defaultdict[str, set[int]](set)
    for passage, group in zip(grounds.passages, grounds.groups, strict=True):
        for subject in _spoken_of(passage.body) & wanted if wanted else ():
            speak[subject].add(group)
    kept = [(p, a) for p, a in pairs if a.way not in asks or speak[bare(a.subject)] <= {grounds.group(p)}]
    if lost := len(pairs) - len(kept):
        rejected[ELSEWHERE] += lost
    return kept


def spelt_out(pairs: Sequence[Pair], grounds: Grounds) -> list[Pair]:
    """Add, to the questions what an abbreviation stands for, the other passages that have it and its long form.

    Either may be in the plural.
    """
    asks = _SPELT
    wanted = {asked.subject for _, asked in pairs if asked.way == asks}
    having = defaultdict[str, list[Passage]](list)
    for passage in grounds.passages if wanted else ():
        for short in set(_SHORT.findall(passage.body)) & wanted:
            having[short].append(passage)
    asked_of = {(passage.id, asked.question) for passage, asked in pairs}
    more = [
        (passage, replace(asked, answer=quoted))
        for _, asked in pairs
        if asked.way == asks
        for passage in having[asked.subject]
        if (passage.id, asked.question) not in asked_of and (quoted := _long_form(asked.answer, passage.body))
    ]
    return [*pairs, *more]


def _answered(name: str, asked: Asked, passages: Sequence[Passage], grounds: Grounds) -> Answered:
    near = {other.id: other for passage in passages for other in grounds.near(passage)}
    own = {passage.id for passage in passages}
    right = {key: p for key, p in near.items() if key in own or _answers(p.text, asked, passages[0])}
    beside = {p.id: p for passage in passages for p in (grounds.beside(passage, asked) if asked.answer else ())}
    return Answered(name, asked, tuple((right | beside).values()), tuple((near | beside).values()))


def _answers(text: str, asked: Asked, passage: Passage) -> bool:
    """Say whether a text has a question's answer, and the words of the question that its own passage has."""
    words = {stem(word) for word in telling(tokens(asked.question))} & stems(passage.text)
    return words <= stems(text) and (not asked.answer or bool(quote_of(asked.answer, text)))


def _answer_of(passage: Passage, asked: Asked) -> tuple[str, ...]:
    """Return what answers of one question are compared by: their words, and their unit if others may mean another."""
    words = map(stem, tokens(asked.answer))
    return tuple(words) if asked.way == _SPELT else (passage.unit, *words)


def _long_form(answer: str, text: str) -> str:
    """Return the words of a text that are an abbreviation's long form, in the singular or the plural; else nothing."""
    forms = (answer, f"{answer}s", answer.removesuffix("s"), re.sub("ies$", "y", answer), re.sub("y$", "ies", answer))
    return next((quoted for form in dict.fromkeys(forms) if (quoted := quote_of(form, text))), "")


def _spoken_of(text: str) -> set[str]:
    """Return what the sentences of a text are about, and what it says that something is called, without articles."""
    found = set[str]()
    for _, raw in sentences(text):
        if said := _SAYS.match(plain(raw)):
            found.add(bare(re.sub(r"\s*\([^()]*\)$", "", said.group(1)).rstrip(",")))
    for called in _CALLED.findall(text):
        words = called.lower().split()
        found |= {" ".join(words[:size]) for size in range(1, len(words) + 1)}
    return found
