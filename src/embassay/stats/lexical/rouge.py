"""ROUGE (Lin 2004): the n-grams, or the longest common subsequence, that two texts share.

All values are F1 of precision and recall, in [0, 1]; 1 for the same tokens. n-grams are counted as multisets. ROUGE-L
uses the longest common subsequence of the whole texts. The values equal those of ``rouge-score`` without stemming.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def rouge_n(first: Sequence[str], second: Sequence[str], n: int) -> float:
    """Return the F1 of shared n-grams of two lists of tokens; 0 if either has none."""
    first_counts = _ngrams(first, n)
    second_counts = _ngrams(second, n)
    shared = first_counts & second_counts
    return _f1(shared.total(), first_counts.total(), second_counts.total())


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the F1 of the longest common subsequence of two lists of tokens; 0 if either is empty."""
    from rapidfuzz.distance import LCSseq

    return _f1(LCSseq.similarity(list(first), list(second)), len(first), len(second))


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of a list of tokens."""
    # zip stops at the shortest list: the last n-gram ends with the last token.
    shifted = [tokens[start:] for start in range(n)]
    return Counter(zip(*shifted, strict=False))


def _f1(shared: int, first: int, second: int) -> float:
    """Return 2·shared/(first + second), the F1 of shared/second and shared/first; 0 if nothing is shared."""
    if not shared:
        return 0.0
    return 2 * shared / (first + second)
