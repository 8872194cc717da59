"""ROUGE (Lin 2004): how many n-grams, or how long a common subsequence, two texts share.

F1 of precision and recall, in [0, 1]: 1 for the same tokens. n-grams are counted as multisets; ROUGE-L is the
longest common subsequence of the whole texts. Equal to ``rouge-score`` without stemming.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def rouge_n(first: Sequence[str], second: Sequence[str], n: int) -> float:
    """Return the F1 of shared n-grams of two lists of tokens; 0 where either has none."""
    a, b = (Counter(zip(*(tokens[i:] for i in range(n)), strict=False)) for tokens in (first, second))
    return _f1((a & b).total(), a.total(), b.total())


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the F1 of the longest common subsequence of two lists of tokens; 0 where either is empty."""
    from rapidfuzz.distance import LCSseq

    return _f1(LCSseq.similarity(list(first), list(second)), len(first), len(second))


def _f1(shared: int, first: int, second: int) -> float:
    return 2 * shared / (first + second) if shared else 0.0
