"""The lexical overlap of pairs of texts: the columns of table 1 of Chiang et al. (2023)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from embassay.stats.lexical.levenshtein import levenshtein
from embassay.stats.lexical.rouge import rouge_l, rouge_n
from embassay.stats.lexical.tokens import word_pieces, words

METRICS = ("rouge1", "rouge2", "rougeL", "levenshtein", "length")
ON_PIECES = ("levenshtein", "length")
"""The metrics that are computed on word pieces; undefined without a tokenizer."""


@lru_cache(maxsize=8)
def overlap(pairs: tuple[tuple[str, str], ...]) -> NDArray[np.float64]:
    """Return the (n, 5) lexical overlap of pairs of texts; the columns are ``METRICS``.

    ROUGE-1, -2 and -L are the F1 of lower-cased ``[a-z0-9]+`` tokens (in other scripts than Latin, of words), in
    [0, 1], higher for more overlap. The Levenshtein distance (in [0, 1], lower for more overlap) and the mean length of
    the two texts are computed on ``bert-base-uncased`` word pieces; both are NaN if no such tokenizer is installed.
    """
    overlaps = np.full((len(pairs), len(METRICS)), np.nan)
    for row, (first, second) in enumerate(pairs):
        first_words = words(first)
        second_words = words(second)
        overlaps[row, 0] = rouge_n(first_words, second_words, 1)
        overlaps[row, 1] = rouge_n(first_words, second_words, 2)
        overlaps[row, 2] = rouge_l(first_words, second_words)
    pieces = word_pieces()
    if pieces and pairs:
        all_first_pieces = pieces([first for first, _ in pairs])
        all_second_pieces = pieces([second for _, second in pairs])
        for row, (first_pieces, second_pieces) in enumerate(zip(all_first_pieces, all_second_pieces, strict=True)):
            overlaps[row, 3] = levenshtein(first_pieces, second_pieces)
            overlaps[row, 4] = (len(first_pieces) + len(second_pieces)) / 2
    # The cached array is returned again by later calls, so it must not be changed.
    overlaps.flags.writeable = False
    return overlaps


def pairs_of(firsts: Sequence[str], seconds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of two lists of texts, in the form that :func:`overlap` takes."""
    return tuple(zip(firsts, seconds, strict=True))
