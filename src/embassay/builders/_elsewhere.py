"""Which questions may be answered by a passage that is neither theirs nor near to it.

Told by words, plurals as singulars: those of what a question asks about, and those of its answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from embassay.builders._duplicates import stem, stems, tokens
from embassay.builders._leaks import names, telling
from embassay.builders._right import Answered, Grounds
from embassay.builders._templates import Asked

ENOUGH = 0.5
"""Share of an answer's words from which on a passage that holds what is asked about may answer."""
MAY = "a question that another passage may answer too"
_DOINGS = ("template: heading", "template: how-to")
_OPEN = (*_DOINGS, "template: effect", "template: use")
"""Questions whose answers can be said in many words: a passage that holds what they ask about may answer."""
_SPELT = ("template: abbreviation", "template: heading")
"""Questions that are kept all the same: what spells an abbreviation out is right, and a heading has no answer."""


@dataclass(frozen=True)
class Elsewhere:
    """What other passages may answer.

    Attributes
    ----------
    whole
        Questions, by their ids, whose subject and all words of whose answer stand in another passage; those after an
        effect whose subject does.
    units
        The units of the passages that may answer a question, by its id.
    """

    whole: frozenset[str]
    units: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, found: Sequence[Answered], grounds: Grounds) -> Elsewhere:
        """Look for the questions' words in all passages."""
        wanted = {one.id: (_subject(one), _stems(one.asked.answer)) for one in found}
        index = _index(grounds, {word for subject, answer in wanted.values() for word in (*subject, *answer)})
        whole, units = set[str](), dict[str, frozenset[str]]()
        for one in found:
            subject, answer = wanted[one.id]
            near = {passage.id for passage in one.near}
            holding = [
                place
                for place in _holding(subject, index, len(grounds.passages))
                if grounds.passages[place].id not in near and _is_named(one.asked, grounds.passages[place].body)
            ]
            held = {place: _share(answer, index, place) for place in holding}
            least = 0 if one.asked.way in _OPEN else ENOUGH
            units[one.id] = frozenset(grounds.passages[place].unit for place in holding if held[place] >= least)
            if any(share == 1 for share in held.values()) or (held and one.asked.way == "template: effect"):
                whole.add(one.id)
        return cls(frozenset(whole), units)


def answered_alone(found: Sequence[Answered], elsewhere: Elsewhere, rejected: Counter[str]) -> list[Answered]:
    """Leave out the questions of templates that another passage may answer too."""
    kept = [one for one in found if one.asked.way in _SPELT or one.id not in elsewhere.whole]
    if lost := len(found) - len(kept):
        rejected[MAY] += lost
    return kept


def _subject(one: Answered) -> frozenset[str]:
    """Return what a question asks about, by its words: of what is done to something, that thing.

    Of a generator's question these are its names, or else the words that its passage has too.
    """
    asked, text = one.asked, one.right[0].text
    if asked.way in _DOINGS:
        words = [stem(word) for word in telling(tokens(asked.question))]
        return frozenset(words[1:] or words)
    if asked.subject:
        return _stems(asked.subject)
    return frozenset(map(stem, names(asked.question))) & stems(text) or _stems(asked.question) & stems(text)


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
    """Return the share of an answer's words that a passage holds, 0 to 1; 1 where there is no answer."""
    return sum(place in index.get(word, ()) for word in answer) / len(answer) if answer else 1.0


def _is_named(asked: Asked, text: str) -> bool:
    """Say whether an option or a button whose words a passage holds stands there as it is written."""
    if asked.way != "template: effect":
        return True
    name = asked.subject.split()[0] if asked.subject.startswith("-") else asked.subject
    return bool(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))
