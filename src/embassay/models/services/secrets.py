"""Removing secrets from everything that is shown or stored; each quarter of a long one too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

MARK = "…"
"""The replacement of a secret."""
LONG = 32
"""The minimum number of characters of a secret whose quarters are hidden; those of a shorter one may be words."""


def hider(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces secrets in a text, and the quarters of long ones.

    Services repeat the beginning or the end of a wrong key. The case of letters is ignored, because host names are
    shown in lower case.
    """
    pieces = []
    for secret in filter(None, secrets):
        pieces.append(secret)
        if len(secret) >= LONG:
            size = -(-len(secret) // 4)
            pieces += [secret[start : start + size] for start in range(0, len(secret), size)]
    if not pieces:
        return str
    # The longest first, so that a secret is found as a whole; neighbouring pieces become one mark.
    longest_first = sorted(pieces, key=len, reverse=True)
    pattern = re.compile(f"(?:{'|'.join(map(re.escape, longest_first))})+", re.IGNORECASE)
    return lambda text: pattern.sub(MARK, text)
