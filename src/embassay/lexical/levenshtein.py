"""How many tokens have to be put in, taken out or replaced to turn one text into another."""

from __future__ import annotations

from collections.abc import Sequence


def levenshtein(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the edit distance of two lists of tokens over the length of the longer; 0 the same, 1 nothing shared.

    0 for two empty lists.
    """
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_distance(list(first), list(second)))
