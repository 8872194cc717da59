"""Which units may answer a question by a passage that is neither right nor near to one that is.

Told by words, plurals as singulars: those of what a question asks about, and those of its answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from embassay.builders._duplicates import stem, stems, tokens
from embassay.builders._leaks import names, telling
from embassay.builders._right import Answered, Grounds

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
