"""Does a question give its answer away, or repeat its passage?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from embassay.builders._duplicates import tokens

RUN = 6
"""Words of the passage, one after the other, from which on a question repeats it."""
ENOUGH = 3
"""Content words that a shorter run must have to be looked at: a name of two words is none."""
ANSWER = "a question that has its answer in it"
REPEATS = "a question that repeats the words of its passage"
_FUNCTION_WORDS = frozenset(
    "a about after all also am an and any are as at be been before being between but by can could did do does done "
    "during each for from had has have having he her him his how i if in into is it its many may me might more most "
    "much must my no not of on one or our out over own s shall she should so some such t than that the their them then "
    "there these they this those through to under up used us was we were what when where which while who whom whose "
    "why will with would you your".split()
)


def leak(question: str, answer: str, passage: str, share: float = 0.6) -> str:
    """Return how a question leaks, as a phrase for people; empty if it does not.

    Parameters
    ----------
    answer
        The words of the passage that answer it.
    share
        Share of the question's content words that stand in one run in the passage, from which on it repeats it;
        above 0, at most 1. A run has :data:`ENOUGH` content words at least; names may stand in both.
    """
    asked, wanted = tokens(question), tokens(answer)
    if wanted and _within(wanted, asked):
        return ANSWER
    named = set(names(question))
    content = telling(asked, named)
    for run in _runs(asked, _placed(passage)):
        told = telling(run, named)
        long = sum(word not in named for word in run) >= RUN
        if told and (long or len(told) >= max(ENOUGH, share * len(content) - 1e-9)):
            return REPEATS
    return ""


def overlap(question: str, passages: Iterable[str]) -> float:
    """Return the share of a question's content words that stand in its passages, 0 to 1; 0 where it has none."""
    known = [_placed(passage).places for passage in passages]
    content = telling(tokens(question))
    return sum(any(word in places for places in known) for word in content) / len(content) if content else 0.0


def telling(words: Iterable[str], left_out: Collection[str] = ()) -> list[str]:
    """Return the words that tell what a text is about, without some that are left out."""
    return [word for word in words if word not in _FUNCTION_WORDS and word not in left_out]


def names(question: str) -> list[str]:
    """Return the words, lower-cased, that have a capital after the first word of a question."""
    return [word for part in question.split()[1:] if part[:1].isupper() for word in tokens(part)]


@dataclass(frozen=True)
class _Placed:
    """The words of a text, and the places of each."""

    words: Sequence[str]
    places: Mapping[str, Sequence[int]]


@lru_cache(maxsize=32)
def _placed(text: str) -> _Placed:
    """Return where the words of a text stand; asked for each question about it."""
    words, places = tokens(text), dict[str, list[int]]()
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    return _Placed(words, places)


def _runs(asked: Sequence[str], passage: _Placed) -> Iterator[Sequence[str]]:
    """Yield the longest run of words, from each word of the question on, that stands in the passage too.

    Runs of fewer than :data:`ENOUGH` words leak nothing and are left out. Others are looked for where the rarest of
    their first words stands, so that "is a" costs nothing in a long passage.
    """
    for at in range(len(asked) - ENOUGH + 1):
        rarest = min(range(at, at + ENOUGH), key=lambda word: len(passage.places.get(asked[word], ())))
        starts = (place - (rarest - at) for place in passage.places.get(asked[rarest], ()))
        length = max((_same(asked, at, passage.words, start) for start in starts if start >= 0), default=0)
        if length >= ENOUGH:
            yield asked[at : at + length]


def _same(a: Sequence[str], at: int, b: Sequence[str], place: int) -> int:
    """Return how many words two texts share from two places on."""
    length = 0
    while at + length < len(a) and place + length < len(b) and a[at + length] == b[place + length]:
        length += 1
    return length


def _within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    return any(outer[at : at + len(inner)] == inner for at in range(len(outer) - len(inner) + 1))
