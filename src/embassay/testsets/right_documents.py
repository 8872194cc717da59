"""Which passages answer a question: the one that it was asked of, and what is near to that and has the answer too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from embassay.testsets.generator.questions import Asked, names, quote_of, telling
from embassay.testsets.passages import Passage, near_duplicates, stem, stems, tokens

AGAIN = "the same question again"
TWICE = "a question that is asked of two passages"


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
        # Another unit may mean another thing by the same words, so its answer is another one.
        answers = {(passage.unit, *map(stem, tokens(asked.answer))) for passage, asked in told}
        if len(groups) > 1 and len(answers) > 1:
            rejected[TWICE] += len(told)
            continue
        if len(told) > 1:
            rejected[AGAIN] += len(told) - 1
        passage, asked = told[0]
        numbers[passage.id] += 1
        found.append(_answered(f"{passage.id}-q{numbers[passage.id]}", asked, [p for p, _ in told], grounds))
    return found


def _answered(name: str, asked: Asked, passages: Sequence[Passage], grounds: Grounds) -> Answered:
    near = {other.id: other for passage in passages for other in grounds.near(passage)}
    own = {passage.id for passage in passages}
    right = {key: p for key, p in near.items() if key in own or _answers(p.text, asked, passages[0])}
    beside = {p.id: p for passage in passages for p in grounds.beside(passage, asked)}
    return Answered(name, asked, tuple((right | beside).values()), tuple((near | beside).values()))


def _answers(text: str, asked: Asked, passage: Passage) -> bool:
    """Say whether a text has a question's answer, and the words of the question that its own passage has."""
    words = {stem(word) for word in telling(tokens(asked.question))} & stems(passage.text)
    return words <= stems(text) and bool(quote_of(asked.answer, text))


# --- Which units may answer a question by a passage that is neither right nor near to one that is ---

ENOUGH = 0.5
"""Share of an answer's words from which on a passage that holds what is asked about may answer."""


def units_that_may_answer(questions: Sequence[Answered], grounds: Grounds) -> Mapping[str, frozenset[str]]:
    """Return the units of the passages that may answer a question too, by the question's id."""
    words = {one.id: (_subject(one), _stems(one.asked.answer)) for one in questions}
    index = _index(grounds, {word for subject, answer in words.values() for word in (*subject, *answer)})
    units = dict[str, frozenset[str]]()
    for one in questions:
        subject, answer = words[one.id]
        near = {passage.id for passage in one.near}
        units[one.id] = frozenset(
            grounds.passages[place].unit
            for place in _holding(subject, index, len(grounds.passages))
            if grounds.passages[place].id not in near and _share(answer, index, place) >= ENOUGH
        )
    return units


def _subject(one: Answered) -> frozenset[str]:
    """Return what a question asks about, by its words: its names, or else the words that its passage has too."""
    question, text = one.asked.question, one.right[0].text
    return frozenset(map(stem, names(question))) & stems(text) or _stems(question) & stems(text)


def _stems(text: str) -> frozenset[str]:
    """Return the words that tell what a text is about; all where none does."""
    words = tokens(text)
    return frozenset(map(stem, telling(words) or words))


def _index(grounds: Grounds, wanted: set[str]) -> Mapping[str, set[int]]:
    """Return the places of the passages that hold a word, for some words."""
    index = defaultdict[str, set[int]](set)
    for place, passage in enumerate(grounds.passages):
        for word in stems(passage.text) & wanted:
            index[word].add(place)
    return index


def _holding(words: Iterable[str], index: Mapping[str, set[int]], passages: int) -> list[int]:
    """Return the places of the passages that hold all of some words, in their order."""
    found = sorted((index.get(word, set()) for word in words), key=len)
    return sorted(found[0].intersection(*found[1:])) if found else list(range(passages))


def _share(answer: frozenset[str], index: Mapping[str, set[int]], place: int) -> float:
    """Return the share of an answer's words that a passage holds, 0 to 1; 1 where it has none."""
    return sum(place in index.get(word, ()) for word in answer) / len(answer) if answer else 1.0
