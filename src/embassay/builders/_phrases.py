"""Set phrases: runs of words in which none is exchanged, since the whole means something else than its parts.

``data/phrases.txt`` has one a line, of lemmas or of words as they are written; ``/`` parts words of which one stands
there, ``*`` is any word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from embassay.builders._words import Word

_ANY = frozenset({"*"})


def in_phrase(words: Sequence[Word], index: int) -> bool:
    """Say whether a word stands in a set phrase."""
    return any(
        _fits(phrase, words, index - place)
        for name in {words[index].lemma, words[index].text.lower()}
        for phrase, place in _phrases().get(name, ())
    )


def _fits(phrase: Sequence[frozenset[str]], words: Sequence[Word], start: int) -> bool:
    """Say whether a phrase stands at a place."""
    there = words[start : start + len(phrase)] if start >= 0 else ()
    return len(there) == len(phrase) and all(
        part == _ANY or not part.isdisjoint({word.lemma, word.text.lower()})
        for part, word in zip(phrase, there, strict=True)
    )


@cache
def _phrases() -> dict[str, list[tuple[tuple[frozenset[str], ...], int]]]:
    """Return the phrases that a word may stand in, and its place there, by the word."""
    found: dict[str, list[tuple[tuple[frozenset[str], ...], int]]] = defaultdict(list)
    for line in files("embassay.data").joinpath("phrases.txt").read_text(encoding="utf-8").splitlines():
        phrase = tuple(frozenset(part.split("/")) for part in line.split())
        for place, part in enumerate(phrase):
            for name in part - _ANY:
                found[name].append((phrase, place))
    return dict(found)
