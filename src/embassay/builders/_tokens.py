"""Words of an English sentence with their places, contractions split as the Penn treebank splits them.

The split is that of nltk's ``NLTKWordTokenizer`` (Bird, Klein & Loper 2009) for what occurs inside a sentence:
``do`` + ``n't``, ``it`` + ``'s``, ``can`` + ``not``, ``gon`` + ``na``. Unlike there a full stop is split off inside a
text too, so that a line may hold several sentences, and every word knows where it stands.
"""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\[[A-Z]+\]")
"""A placeholder such as ``[NAME]``: one word."""
_TOKEN = re.compile(
    r"""
    \[[A-Z]+\]                                                  # a placeholder
  | (?:https?://|www\.)\S+                                      # an address
  | (?:[A-Za-z]\.){2,}                                          # U.S., e.g.
  | \b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|No|Inc|Ltd|Co)\.(?=\s) # an abbreviation
  | [$£€]?\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s|%|k|am|pm)?\b%?     # a number
  | [^\W\d_]+(?:[-'][^\W_]+)*'?(?=[^\w']|$)|[^\W\d_]+(?:[-'][^\W_]+)*  # a word
  | '(?:s|d|m|ll|re|ve)\b                                        # after a placeholder
  | \w+ | \.{2,} | …+ | -{2,} | [^\w\s]
    """,
    re.VERBOSE,
)
_ENDING = re.compile(r"(?i)^(.+?)(n't|'s|'m|'re|'ve|'ll|'d)$")
_JOINED = {"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "d'ye": 1}


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return (start, end) of every word and every mark of punctuation, in characters, in order."""
    found: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(straight(text)):
        found += _split(match.group(), match.start())
    return tuple(found)


def straight(text: str) -> str:
    """Return the text with straight apostrophes; its length is the same."""
    return text.replace("’", "'").replace("‘", "'").replace("`", "'")


def _split(token: str, start: int) -> list[tuple[int, int]]:
    """Split a token that holds two words: a contraction, a closing apostrophe."""
    end = start + len(token)
    if (at := _JOINED.get(token.lower())) is not None:
        return [(start, start + at), (start + at, end)]
    if ending := _ENDING.match(token):
        middle = start + len(ending.group(1))
        return [*_split(ending.group(1), start), (middle, end)]
    if len(token) > 1 and token.endswith("'"):
        return [*_split(token[:-1], start), (end - 1, end)]
    return [(start, end)]
