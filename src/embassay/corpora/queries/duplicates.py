"""Near-duplicate passages: those whose sets of words have a Jaccard index of at least 0.9."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from embassay.corpora.queries.passages import SHORTEST, Passage, tokens

NEAR = 0.9
"""The minimum Jaccard index of near-duplicates."""
SLACK = 1e-9
"""Tolerance for rounding errors."""
BOILERPLATE = 3
"""The maximum number of units with a passage or its near-duplicates; there are no queries about others."""


@dataclass(frozen=True)
class PassageGroups:
    """The passages to search, and which of them are near-duplicates.

    Attributes
    ----------
    groups
        The group of near-duplicates of each passage; a passage that is too short to ask about is its own group.
    """

    passages: tuple[Passage, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> PassageGroups:
        """Find the near-duplicates."""
        # A text without a word is in no group, so short passages are left out of the comparison.
        texts = [passage.text if passage.long else "" for passage in passages]
        return cls(tuple(passages), tuple(near_duplicates(texts)))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {passage.id: place for place, passage in enumerate(self.passages)}

    @cached_property
    def _members(self) -> dict[int, list[Passage]]:
        members = defaultdict[int, list[Passage]](list)
        for passage, group in zip(self.passages, self.groups, strict=True):
            members[group].append(passage)
        return members

    def place(self, passage: Passage) -> int:
        """Return the position of a passage."""
        return self._places[passage.id]

    def group(self, passage: Passage) -> int:
        """Return the group of a passage."""
        return self.groups[self.place(passage)]

    def near(self, passage: Passage) -> list[Passage]:
        """Return the near-duplicates of a passage, including itself, in their order."""
        return self._members[self.group(passage)]

    def is_boilerplate(self, passage: Passage) -> bool:
        """Return whether a passage and its near-duplicates occur in more than :data:`BOILERPLATE` units."""
        return len({near.unit for near in self.near(passage)}) > BOILERPLATE

    def selected(self, rejected: Counter[str]) -> list[Passage]:
        """Return the passages to ask about, one from each group; count the others by reason in ``rejected``."""
        selected, seen = list[Passage](), set[int]()
        for passage, group in zip(self.passages, self.groups, strict=True):
            if not passage.long:
                rejected[f"a passage of fewer than {SHORTEST} words"] += 1
            elif group in seen:
                rejected["a near-duplicate of another passage"] += 1
            elif self.is_boilerplate(passage):
                rejected[f"a passage that occurs in more than {BOILERPLATE} units"] += 1
            else:
                seen.add(group)
                selected.append(passage)
        return selected


def near_duplicates(texts: Sequence[str], near: float = NEAR) -> list[int]:
    """Return the group of each text: equal numbers for texts of one group.

    Groups are the connected components of the pairs of near-duplicates. A text without a word is alone.

    Parameters
    ----------
    near
        The minimum Jaccard index, above 0 and at most 1.
    """
    from scipy.cluster.hierarchy import DisjointSet

    word_sets = [frozenset(tokens(text)) for text in texts]
    groups = DisjointSet(range(len(texts)))
    number_of_sets = Counter(word for words in set(word_sets) for word in words)
    first_with = dict[frozenset[str], int]()
    index = defaultdict[str, list[int]](list)
    for place, words in enumerate(word_sets):
        if not words:
            continue
        first = first_with.setdefault(words, place)
        groups.merge(first, place)
        if first < place:
            continue
        # Near-duplicate sets share one of their rarest words (prefix filter; Chaudhuri, Ganti & Kaushik 2006).
        rarest_first = sorted(words, key=lambda word: (number_of_sets[word], word))
        prefix = rarest_first[: len(words) - math.ceil(near * len(words) - SLACK) + 1]
        for other in set(chain.from_iterable(index[word] for word in prefix)):
            common = len(words & word_sets[other])
            if common / (len(words) + len(word_sets[other]) - common) >= near - SLACK:
                groups.merge(place, other)
        for word in prefix:
            index[word].append(place)
    return [groups[place] for place in range(len(texts))]
