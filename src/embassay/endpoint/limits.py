"""How long an answer can be that has what was asked for, and nothing much else: more is neither read nor parsed."""

from __future__ import annotations

from dataclasses import dataclass

REMAINDER = 1 << 16
"""Bytes that an answer may have besides what was asked for."""
VALUES = 4096
"""Values of JSON that it may have besides."""
NUMBER = 32
"""Bytes of a number in JSON, at most: 24 digits and signs, a comma, and some white space."""
ENTRY = 256
"""Bytes that a vector may have besides its numbers: its index, its kind."""
TOKEN = 256
"""Bytes of a token of text, at most: some are 20 characters long, and an escaped character is 12 bytes."""
REASONING = 1 << 20
"""Bytes of reasoning, and of what else comes with a text and is not among the tokens that were asked for."""
FEW_NUMBERS, MOST_DIMENSIONS, DIMENSIONS = 1 << 20, 1 << 16, 1 << 13
"""Before a model's dimensions are known: a million numbers in all, but at most 65,536 for a text and at least 8,192."""


@dataclass(frozen=True)
class AnswerLimit:
    """The longest answer to a request.

    Attributes
    ----------
    what
        What was asked for, for messages.
    size
        The most bytes, unpacked.
    values
        The most values of JSON: a list of empty lists takes 30 times as much memory as the JSON it is read from.
    """

    what: str
    size: int
    values: int


SHORT = AnswerLimit("an answer", REMAINDER, VALUES)
"""The limit where nothing else is known."""


def vectors_limit(texts: int, dimensions: int | None) -> AnswerLimit:
    """Return the limit of an answer with a vector for each text; the dimensions are None before the first answer."""
    vectors, up_to = "1 vector" if texts == 1 else f"{texts:,} vectors", ""
    if dimensions is None:
        dimensions, up_to = min(max(FEW_NUMBERS // texts, DIMENSIONS), MOST_DIMENSIONS), "up to "
    size = REMAINDER + texts * (ENTRY + dimensions * NUMBER)
    what = f"{vectors} of {up_to}{dimensions:,} dimensions"
    return AnswerLimit(what, size, VALUES + texts * (dimensions + ENTRY))


def chat_limit(tokens: int) -> AnswerLimit:
    """Return the limit of an answer of so many tokens of text."""
    return AnswerLimit(f"a text of {tokens:,} tokens", REASONING + tokens * TOKEN, VALUES + tokens)


def count_values(body: bytes, most: int) -> int:
    """Return how many values JSON has, about and without reading it; exactness only matters beyond ``most``.

    Each value but the first follows a comma or a bracket. Those within strings are taken out where there seem to be
    too many. A string is a value, or the name of one.
    """
    if (values := _marks(body)) <= most:
        return values
    unescaped = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if (strings := unescaped.count(b'"') // 2) > 2 * most:
        return strings // 2
    return _marks(b"".join(unescaped.split(b'"')[::2]))


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")
