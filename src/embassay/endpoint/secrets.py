"""Removing secrets from everything that is shown or stored: complete, in parts, and in common encodings."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

PART = 8
"""Every part of a secret with this many characters is hidden; a shorter secret is hidden only as a whole."""
MARK = "…"
"""The replacement of a secret."""
# str.lower() changes the length of a few texts; this does not.
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def hider(secrets: Iterable[str], whole: Iterable[str] = ()) -> Callable[[str], str]:
    """Return a function that replaces secrets in a text.

    The case of letters is ignored, because host names are shown in lower case.

    Parameters
    ----------
    secrets
        Texts to hide: as they are, percent-encoded and in base64, and every part of 8 characters of each form.
    whole
        Texts that are hidden only if they occur completely.
    """
    pieces = {text.translate(_LOWER) for text in whole if text}
    for secret in secrets:
        if secret:
            for form in _forms(secret):
                pieces |= _parts(form.translate(_LOWER))
    lengths = sorted({len(piece) for piece in pieces})

    def hide(text: str) -> str:
        lowered = text.translate(_LOWER)
        # One byte per character, 1 if it belongs to a secret. Parts overlap, so all are marked before any is replaced.
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
    """Return all parts of :data:`PART` characters; a shorter text as a whole."""
    if len(text) <= PART:
        return {text}
    return {text[start : start + PART] for start in range(len(text) - PART + 1)}
