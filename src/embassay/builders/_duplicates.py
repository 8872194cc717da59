"""Passages that say nearly the same: those whose sets of words have a Jaccard index of 0.9 or more.

Exact, by the prefix filter (Chaudhuri, Ganti & Kaushik 2006; Xiao et al. 2008, "Efficient similarity joins for near
duplicate detection"): two sets of m ≥ n words whose index is t or more share a word that is among the m − ⌈t·m⌉ + 1
rarest of the one and the n − ⌈2t·n/(1 + t)⌉ + 1 rarest of the other.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

NEAR = 0.9
"""Jaccard index from which on two passages are near-duplicates."""
SLACK = 1e-9
"""What rounding may add to a bound."""
_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Return the words of a text of any language, lower-cased."""
    return _WORD.findall(text.casefold())


def stem(word: str) -> str:
    """Return a word of :func:`tokens` without the ending of an English plural."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word


@lru_cache(maxsize=64)
def stems(text: str) -> frozenset[str]:
    """Return the words of a text, plurals as singulars."""
    return frozenset(map(stem, tokens(text)))


def near_duplicates(texts: Sequence[str], near: float = NEAR) -> list[int]:
    """Return the group of each text: the number of the first text that it is joined to.

    Groups are the connected components of the pairs of near-duplicates. Texts without a word are alone.

    Parameters
    ----------
    near
        The least Jaccard index, above 0 and at most 1.
    """
    sets = [frozenset(tokens(text)) for text in texts]
    first = dict[frozenset[str], int]()
    root = [first.setdefault(words, place) if words else place for place, words in enumerate(sets)]
    known = Counter(word for words in first for word in words)
    order = {word: rank for rank, (word, _) in enumerate(sorted(known.items(), key=lambda item: (item[1], item[0])))}
    index = defaultdict[str, list[tuple[int, int]]](list)
    for words, place in sorted(((w, p) for w, p in first.items() if w), key=lambda item: (len(item[0]), item[1])):
        rare = sorted(words, key=order.__getitem__)
        for other in _candidates(rare, index, sets, near):
            if _root(root, other) != _root(root, place) and len(words & sets[other]) >= _both(words, sets[other], near):
                _join(root, other, place)
        for at, word in enumerate(rare[: len(words) - _both(words, words, near) + 1]):
            index[word].append((place, at))
    return [_root(root, place) for place in range(len(texts))]


def _candidates(
    rare: Sequence[str],
    index: Mapping[str, Sequence[tuple[int, int]]],
    sets: Sequence[frozenset[str]],
    near: float,
) -> list[int]:
    """Return the smaller texts that may be near: they share a rare word, and enough words are left.

    Parameters
    ----------
    rare
        The words of a text, rarest first.
    index
        (text, place from the rarest) of those of the texts before.
    """
    size, found = len(rare), set[int]()
    smallest = near * size - SLACK
    for at, word in enumerate(rare[: size - math.ceil(smallest) + 1]):
        for other, its in index.get(word, ()):
            length = len(sets[other])
            if length >= smallest and min(size - at, length - its) >= near / (1 + near) * (size + length) - SLACK:
                found.add(other)
    return sorted(found)


def _both(a: Collection[str], b: Collection[str], near: float) -> int:
    """Return how many words two sets share, at least, that are so near."""
    return math.ceil(near / (1 + near) * (len(a) + len(b)) - SLACK)


def _root(root: list[int], place: int) -> int:
    while root[place] != place:
        root[place] = root[root[place]]
        place = root[place]
    return place


def _join(root: list[int], a: int, b: int) -> None:
    a, b = sorted((_root(root, a), _root(root, b)))
    root[b] = a
