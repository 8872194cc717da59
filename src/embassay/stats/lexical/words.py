"""Words of texts in any script, the same for all that counts words, looks them up or compares texts by them.

A word is a run of letters, digits and ``_``, each with its combining marks. In scripts without spaces between words,
it is a pair of neighbouring letters, as Lucene's ``CJKAnalyzer`` makes them for Chinese and Japanese; a letter without
a neighbour is a word of its own. Nie & Ren (1999), "Chinese information retrieval: using characters or words?", find
pairs as good as words from a dictionary.

Texts are composed first (NFC, and the usual width of Latin letters and Kana), without what nobody sees inside a word:
soft hyphens, joiners, directional marks, variation selectors.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

UNSPACED = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049\u1050-\u109d\u1780-\u17d3\u17d7\u17dc-\u17e9"
    "\u1950-\u1974\u1980-\u19da\u1a20-\u1a99\u1aa7\ua9e0-\ua9fe\uaa60-\uaa76\uaa7a-\uaadd"
)
"""The letters of scripts without spaces between words, as a set of a regular expression: Han and Kana, and those whose
line breaks need a dictionary (class SA of Unicode's annex 14), such as Thai, Lao, Burmese and Khmer."""
INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
)
SPACE_OF_NO_WIDTH = "\u200b"
"""Ends a word, but for scripts without spaces, where some writers mark words by it and others do not."""
MARKS = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.category(chr(code)) in ("Mn", "Mc"))
# A word that no mark follows, such as every English one, costs a look at one more character.
WORD = rf"(?:\w+(?:(?=[^\x00-\u02ff])[{MARKS}]+\w*)*)"
TOKEN = re.compile(rf"{WORD}|[^\w\s]")
"""Words and single punctuation marks."""
_WORD = re.compile(WORD)
_PLAIN_WORD = re.compile(r"\w+")
_NOT_PLAIN = re.compile(r"[^\x00-\xac\xae-\u02ff\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u20a0-\u20cf]")
"""Anything but composed Latin letters and the punctuation of Latin texts, which stay as they are."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_OTHER_WIDTH = re.compile("[\uff01-\uffdc]+")
_UNSPACED = re.compile(f"[{UNSPACED}][{UNSPACED}{MARKS}{SPACE_OF_NO_WIDTH}]*")
_LETTER = re.compile(f"[{UNSPACED}][{MARKS}]*")


def words(text: str) -> list[str]:
    """Return the words of a text, in its own case."""
    if _is_plain(text):
        return _PLAIN_WORD.findall(text)
    return _WORD.findall(prepared(text))


def tokens(text: str) -> list[str]:
    """Return the words and the single punctuation marks of a text, in its own case."""
    return TOKEN.findall(prepared(text))


def prepared(text: str) -> str:
    """Return a text in which :data:`WORD` and :data:`TOKEN` match the words: composed, pairs between spaces."""
    if _is_plain(text):
        return text
    return _UNSPACED.sub(_pairs, composed(text))


def composed(text: str) -> str:
    """Return a text in NFC and the usual width, without invisible characters."""
    if _is_plain(text):
        return text
    visible = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return _OTHER_WIDTH.sub(lambda run: unicodedata.normalize("NFKC", run[0]), visible)


def _is_plain(text: str) -> bool:
    return text.isascii() or not _NOT_PLAIN.search(text)


def _pairs(run: re.Match[str]) -> str:
    letters = _LETTER.findall(run[0])
    pairs = map("".join, pairwise(letters))
    return f" {' '.join(pairs) or letters[0]} "
