"""Where two sentences differ: the span between their common beginning and their common end."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


class TokenChange(NamedTuple):
    """The position of the first differing token, and the differing tokens of each sentence, in lower case."""

    start: int
    first: list[str]
    second: list[str]


def change(first: str, second: str) -> TokenChange:
    """Compare the words and marks of two sentences; case is ignored."""
    from rapidfuzz.distance import Postfix, Prefix

    a, b = _WORD.findall(first.lower()), _WORD.findall(second.lower())
    start = Prefix.similarity(a, b)
    # A token of the common beginning must not be counted again at the end.
    a, b = a[start:], b[start:]
    same_end = Postfix.similarity(a, b)
    return TokenChange(start, a[: len(a) - same_end], b[: len(b) - same_end])
