"""Near-duplicate passages: those whose sets of words have a Jaccard index of at least 0.9."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from embassay.core.grouping import grouped
from embassay.corpora.queries.passages import SHORTEST, Passage, tokens

NEAR = 0.9
"""The minimum Jaccard index of near-duplicates."""
SLACK = 1e-9
"""Tolerance for rounding errors."""
BOILERPLATE = 3
"""The maximum number of units with a passage or its near-duplicates; there are no queries about others."""


def with_groups(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Return passages with their groups of near-duplicates; one that is too short to ask about is alone."""
    # A text without a word is in no group, so short passages are left out of the comparison.
    groups = near_duplicates([passage.text if passage.long else "" for passage in passages])
    return tuple(replace(passage, group=group) for passage, group in zip(passages, groups, strict=True))


def near_passages(passages: Iterable[Passage]) -> dict[int, list[Passage]]:
    """Return the passages of each group, in their order."""
    return grouped(passages, lambda passage: passage.group)


def selected(passages: Sequence[Passage], rejected: Counter[str]) -> list[Passage]:
    """Return the passages to ask about, one from each group; count the others by reason in ``rejected``."""
    near_of = near_passages(passages)
    to_ask = []
    for passage in passages:
        near = near_of[passage.group]
        if not passage.long:
            rejected[f"a passage of fewer than {SHORTEST} words"] += 1
        elif len({each.unit for each in near}) > BOILERPLATE:
            rejected[f"a passage that occurs in more than {BOILERPLATE} units"] += 1
        elif passage.id != near[0].id:
            rejected["a near-duplicate of another passage"] += 1
        else:
            to_ask.append(passage)
    return to_ask


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
    # Each set once, because a passage may be repeated thousands of times.
    distinct = set(word_sets) - {frozenset()}
    number_of_sets = Counter(word for words in distinct for word in words)
    groups = DisjointSet(distinct)
    index = defaultdict[str, list[frozenset[str]]](list)
    for words in distinct:
        # Near-duplicate sets share one of their rarest words (prefix filter; Chaudhuri, Ganti & Kaushik 2006).
        rarest_first = sorted(words, key=lambda word: (number_of_sets[word], word))
        for word in rarest_first[: len(words) - math.ceil(near * len(words) - SLACK) + 1]:
            for other in index[word]:
                if len(words & other) >= (near - SLACK) * len(words | other):
                    groups.merge(words, other)
            index[word].append(words)
    # A group has the number of its first text.
    first: dict[frozenset[str], int] = {}
    return [first.setdefault(groups[words], place) if words else place for place, words in enumerate(word_sets)]
