"""An edit that HEROS does not have: another number.

It is made only if it certainly changes the meaning and leaves the rest as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from numpy.random import Generator

from embassay.testsets.english.words import Tagged, substituted, word_at

SPELT = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_FIXED = re.compile(r"(?i)24|7|9|11|100|101|180|360|404|420|50|69|1")
"""Numbers that are often not counts, such as those of 24/7, 9/11 and error 404."""
_NOT_A_COUNT = frozenset({"of", "number", "vs", "-", "/", "#", "or", "and", "to", "the"})
"""Words before a number that is part of a name, a share or the end of a range."""


def number(tagged: Tagged, chance: Generator) -> str | None:
    """Return the sentence with one number replaced by another of the same length; None for a sentence without one."""
    for index, word in enumerate(tagged.words):
        before, after = word_at(tagged.words, index - 1), word_at(tagged.words, index + 1)
        is_count = after.tag == "NNS" and before.lowercase not in _NOT_A_COUNT
        if not is_count:
            continue
        low = word.lowercase
        if low in SPELT:
            others = [other for other in SPELT if other != low]
            return substituted(tagged, {index: _choice(others, chance)})
        if re.fullmatch(r"[2-9]|[1-9]\d{1,3}", low) and not _FIXED.fullmatch(low):
            return substituted(tagged, {index: _other_number(int(low), chance)})
    return None


def _choice(texts: Sequence[str], chance: Generator) -> str:
    return texts[int(chance.integers(len(texts)))]


def _other_number(value: int, chance: Generator) -> str:
    """Return a number that differs by at least a quarter but has as many digits; for a multiple of ten, another one."""
    step = 10 if value % 10 == 0 else 1
    digits = len(str(value))
    others = list[str]()
    for other in range(max(2, 10 ** (digits - 1)), 10**digits):
        is_far_enough = abs(other - value) * 4 >= value
        # No number that ends in 1: its noun may need the singular.
        if other % step == 0 and is_far_enough and other % 10 != 1:
            others.append(str(other))
    return _choice(others, chance)
