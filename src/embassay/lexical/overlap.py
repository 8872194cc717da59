"""The lexical overlap of pairs of texts: the columns of table 1 of Chiang et al. (2023)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from embassay.lexical.levenshtein import levenshtein
from embassay.lexical.rouge import rouge_l, rouge_n
from embassay.lexical.tokens import word_pieces, words

QUANTITIES = ("rouge1", "rouge2", "rougeL", "levenshtein", "length")
ON_PIECES = ("levenshtein", "length")
"""Those that need word pieces; undefined without a tokenizer."""


@lru_cache(maxsize=8)
def overlap(pairs: tuple[tuple[str, str], ...]) -> NDArray[np.float64]:
    """Return the (n, 5) overlap of pairs of texts.

    ROUGE-1, -2 and -L (F1 of lower-cased ``[a-z0-9]+`` tokens); the token Levenshtein distance over the longer
    length, and the mean length of the two texts, both on ``bert-base-uncased`` word pieces; NaN for these two where
    no such tokenizer is installed.
    """
    found = np.full((len(pairs), len(QUANTITIES)), np.nan)
    for row, (a, b) in enumerate(pairs):
        x, y = words(a), words(b)
        found[row, :3] = rouge_n(x, y, 1), rouge_n(x, y, 2), rouge_l(x, y)
    pieces = word_pieces()
    if pieces and pairs:
        firsts, seconds = (pieces([pair[side] for pair in pairs]) for side in (0, 1))
        for row, (p, q) in enumerate(zip(firsts, seconds, strict=True)):
            found[row, 3:] = levenshtein(p, q), (len(p) + len(q)) / 2
    found.flags.writeable = False
    return found


def pairs_of(firsts: Sequence[str], seconds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Put two lists of texts together, pair by pair."""
    return tuple(zip(firsts, seconds, strict=True))
