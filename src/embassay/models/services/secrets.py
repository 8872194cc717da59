"""Removing secrets from everything that is shown or stored; in messages, each quarter of a long one too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

MARK = "…"
"""The replacement of a secret."""
LONG = 32
"""The minimum number of characters of a secret whose quarters are hidden; those of a shorter one may be words."""


def hider(secrets: Iterable[str], *, quarters: bool = False) -> Callable[[str], str]:
    """Return a function that replaces secrets in a text.

    With ``quarters``, for messages, each quarter of a long secret is replaced too: services repeat the beginning or the
    end of a wrong key. The case of letters is ignored, because host names are shown in lower case.
    """
    pieces = set(secrets)
    for secret in list(pieces):
        if quarters and len(secret) >= LONG:
            size = len(secret) // 4
            pieces |= {secret[:size], secret[size : 2 * size], secret[2 * size : 3 * size], secret[3 * size :]}
    pieces.discard("")
    if not pieces:
        return str
    # The longest first, so that a secret is found as a whole; neighbouring pieces become one mark.
    longest_first = sorted(pieces, key=len, reverse=True)
    pattern = re.compile(f"(?:{'|'.join(map(re.escape, longest_first))})+", re.IGNORECASE)
    return lambda text: pattern.sub(MARK, text)
