"""Secrets are removed from everything that is shown or stored: whole, in parts, and in the usual encodings."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator

PART = 8
"""Every part of a secret of this many characters is hidden; a shorter secret is hidden where it occurs whole."""
MARK = "…"
"""What stands in the place of a secret."""
_ESCAPE = re.compile(
    r"\\+u(?P<json>[0-9a-f]{4})|%(?:25)*(?P<url>[0-9a-f]{2})|&\#x(?P<html>[0-9a-f]{1,5});|\\+(?P<char>[\"'/\\])", re.I
)
"""A character as JSON, an address or a web page may write it; JSON within JSON has several backslashes."""
# str.lower() changes the length of a few texts; this does not.
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def hider(secrets: Iterable[str], whole: Iterable[str] = ()) -> Callable[[str], str]:
    """Return a function that replaces secrets in a text; it takes time in proportion to the text's length.

    Upper and lower case count as the same, because host names are shown in lower case.

    Parameters
    ----------
    secrets
        Hidden are these, their base64, and every part of 8 characters or more of either.
    whole
        Hidden only where they occur whole.
    """
    pieces = {text.translate(_LOWER) for text in whole if text}
    for secret in filter(None, secrets):
        for form in _forms(secret):
            pieces |= _parts(form.translate(_LOWER))
    by_length: dict[int, set[str]] = {}
    for piece in pieces:
        by_length.setdefault(len(piece), set()).add(piece)

    def hide(text: str) -> str:
        plain, starts = _unescaped(text)
        plain = plain.translate(_LOWER)
        secret_at = bytearray(len(plain))
        for length, known in by_length.items():
            for start in range(len(plain) - length + 1):
                if plain[start : start + length] in known:
                    secret_at[start : start + length] = b"\1" * length
        shown, end = "", 0
        for run in re.finditer(b"\1+", secret_at):
            shown += text[end : starts[run.start()]] + MARK
            end = starts[run.end()]
        return shown + text[end:]

    return hide


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it may be written: as it is, in a form's query, wrongly decoded, in base64."""
    content = secret.encode("utf-8", "surrogatepass")
    for form in (secret, content.decode("latin-1")):
        yield form
        yield form.replace(" ", "+")
    if len(secret) < PART:
        return
    # What base64 makes of a text depends on how many bytes are before it; the characters at either end that
    # neighbouring bytes have a share in are left out.
    for before in range(3):
        coded = base64.b64encode(bytes(before) + content).decode()
        coded = coded[-(-before * 8 // 6) : (before + len(content)) * 8 // 6]
        yield coded
        yield coded.replace("+", "-").replace("/", "_")


def _parts(text: str) -> set[str]:
    if len(text) <= PART:
        return {text}
    return {text[start : start + PART] for start in range(len(text) - PART + 1)}


def _unescaped(text: str) -> tuple[str, list[int]]:
    """Return a text without escapes, and where in ``text`` each of its characters begins, and the last one ends."""
    pieces: list[str] = []
    starts: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        code = match["json"] or match["url"] or match["html"]
        pieces += [text[end : match.start()], chr(int(code, 16)) if code else match["char"]]
        starts += range(end, match.start() + 1)
        end = match.end()
    pieces.append(text[end:])
    starts += range(end, len(text) + 1)
    return "".join(pieces), starts
