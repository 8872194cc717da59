"""The Levenshtein distance of two texts: the least number of tokens to insert, delete or replace."""

from __future__ import annotations

from collections.abc import Sequence


def levenshtein(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the edit distance of two lists of tokens divided by the length of the longer one.

    In [0, 1]: 0 for equal lists, also for two empty ones; 1 if every token has to be changed.
    """
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_distance(list(first), list(second)))
