"""Exchanging spans of a text."""

from __future__ import annotations

from collections.abc import Iterable

Splice = tuple[int, int, str]
"""Characters from start to end are replaced by a text."""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Replace spans of a text, which do not overlap; a capital at its start stays one, spaces are not doubled."""
    capital = next((character for character in text if character.isalnum()), "").isupper()
    for start, end, new in sorted(splices, reverse=True):
        if not new and (start == 0 or text[start - 1] == " "):
            end += len(text[end:]) - len(text[end:].lstrip(" "))
        text = text[:start] + new + text[end:]
    first = next((at for at, character in enumerate(text) if character.isalnum()), None)
    if not capital or first is None:
        return text
    return text[:first] + text[first].upper() + text[first + 1 :]
