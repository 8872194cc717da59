"""Secrets are removed from everything that is shown or stored: whole, in parts, and in two common encodings."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

PART = 8
"""Every part of a secret of this many characters is hidden; a shorter secret is hidden where it occurs whole."""
MARK = "…"
"""What stands in the place of a secret."""
# str.lower() changes the length of a few texts; this does not.
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def hider(secrets: Iterable[str], whole: Iterable[str] = ()) -> Callable[[str], str]:
    """Return a function that replaces secrets in a text.

    Upper and lower case count as the same, because host names are shown in lower case.

    Parameters
    ----------
    secrets
        Hidden are these, as they are, percent-encoded and in base64, and every part of 8 characters of each form.
    whole
        Hidden only where they occur whole.
    """
    pieces = {text.translate(_LOWER) for text in whole if text}
    for secret in secrets:
        if secret:
            for form in _forms(secret):
                pieces |= _parts(form.translate(_LOWER))
    lengths = sorted({len(piece) for piece in pieces})

    def hide(text: str) -> str:
        lowered = text.translate(_LOWER)
        # One byte for each character: 1 where it belongs to a secret. Parts overlap, so they are marked first.
        is_secret = bytearray(len(text))
        for length in lengths:
            for start in range(len(text) - length + 1):
                if lowered[start : start + length] in pieces:
                    is_secret[start : start + length] = b"\1" * length
        shown = ""
        end = 0
        for run in re.finditer(b"\1+", is_secret):
            shown += text[end : run.start()] + MARK
            end = run.end()
        return shown + text[end:]

    return hide


def _forms(secret: str) -> set[str]:
    """Return a secret as it is, percent-encoded, and in base64."""
    content = secret.encode("utf-8", "surrogatepass")
    return {secret, quote(content, safe=""), quote_plus(content), base64.b64encode(content).decode()}


def _parts(text: str) -> set[str]:
    if len(text) <= PART:
        return {text}
    return {text[start : start + PART] for start in range(len(text) - PART + 1)}
