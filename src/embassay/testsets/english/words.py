"""A sentence as tagged words, and sentences made from it by exchanging words.

``tag`` reads, ``substituted`` writes: spacing, capitals and the article before an exchanged word stay right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from embassay.errors import MissingExtraError
from embassay.testsets.english.tagger import tags

# --- Words of an English sentence with their places, contractions split as the Penn treebank splits them ---

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


# --- A sentence as tagged words, and sentences made from it by exchanging words ---

_PARTS = {"V": "VERB", "N": "NOUN", "J": "ADJ", "R": "ADV", "M": "AUX"}
_CONTRACTED = {
    "n't": "not", "ca": "can", "wo": "will", "sha": "shall", "ai": "be", "'m": "be", "'re": "be", "'ve": "have",
    "'ll": "will", "'d": "would", "am": "be", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be",
    "being": "be", "gon": "go", "wan": "want", "got": "get",
}  # fmt: skip
_AN = re.compile(r"(?i:[aeiou]|8|1[18](?!\d)|hour|hono|honest|heir)|[FHLMNRSX](?=[A-Z.]|$)")
_A = re.compile(r"(?i)(?:uni(?!n|m)|us[aeiu]|ut[ei]|eu|ew|one(?!i|r)|once|ubi|ukr|ur[aei])")


@dataclass(frozen=True)
class Word:
    """A word, or a mark of punctuation, in its place.

    Attributes
    ----------
    text
        As it is written, apostrophes straight.
    start, end
        Its place in the text, in characters.
    tag
        Its Penn treebank tag; ``.``, ``,`` or ``:`` for punctuation.
    lemma
        Its base form in lower case; of a contraction the word that it stands for (``not`` for ``n't``).
    """

    text: str
    start: int
    end: int
    tag: str
    lemma: str

    @property
    def lowercase(self) -> str:
        """The word in lower case."""
        return self.text.lower()


NO_WORD = Word(text="", start=0, end=0, tag="", lemma="")
"""What stands outside a sentence."""


@dataclass(frozen=True)
class Tagged:
    """A text and its words, in order."""

    text: str
    words: tuple[Word, ...]


def word_at(words: Sequence[Word], index: int) -> Word:
    """Return the word at an index, or :data:`NO_WORD` where the index is before the first or after the last word."""
    return words[index] if 0 <= index < len(words) else NO_WORD


def tag(text: str) -> Tagged:
    """Return the text with its words, their tags and their lemmas.

    Raises
    ------
    MissingExtraError
        If textblob or lemminflect is not installed.
    """
    places, plain = spans(text), straight(text)
    texts = [plain[start:end] for start, end in places]
    words = []
    for word, (start, end), penn_tag in zip(texts, places, tags(texts), strict=True):
        words.append(Word(word, start, end, penn_tag, lemma(word, penn_tag)))
    return Tagged(text, tuple(words))


@lru_cache(maxsize=200_000)
def lemma(word: str, tag: str) -> str:
    """Return the base form of a word that has this tag, in lower case."""
    low = word.lower()
    if low == "'s":
        return {"VBZ": "be", "PRP": "us"}.get(tag, "'s")
    if low in _CONTRACTED:
        return _CONTRACTED[low]
    part = _PARTS.get(tag[:1])
    if part is None or tag in {"NNP", "NNPS", "RP", "MD"}:
        return low
    lemmas = _lemminflect().getLemma(low, part, lemmatize_oov=False)
    return str(lemmas[0]) if lemmas else low


@lru_cache(maxsize=200_000)
def inflected(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma that a Penn tag asks for; None where there is none.

    Verbs and nouns that the dictionary lacks are inflected by rule; adjectives and adverbs are not ("beautifuler").
    """
    if lemma == "be":
        return {"VB": "be", "VBP": "are", "VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"}.get(tag)
    if tag in {"VB", "VBP", "NN", "JJ", "RB"}:
        return lemma
    forms = _lemminflect().getInflection(lemma, tag, inflect_oov=tag[0] in "VN")
    return str(forms[0]) if forms else None


def substituted(tagged: Tagged, changes: dict[int, str]) -> str:
    """Return the text with some words exchanged.

    A replacement takes over the capital of the word that it replaces; an empty one deletes the word with the space
    before it. "a" and "an" are put right before a word that changed. A word that was glued to the one before it, as
    the "n't" of "don't", gets a space unless it is still a contraction.

    Parameters
    ----------
    changes
        What stands at an index of ``tagged.words`` afterwards: a word, several, or nothing.
    """
    splices = []
    for index, new in (changes | _articles(tagged, changes)).items():
        word = tagged.words[index]
        start, new = word.start, _cased(word, new)
        if new == "" and index > 0:
            start = tagged.words[index - 1].end
        # The "ca" of "can't" becomes "could", its "n't" becomes " not".
        elif new[:1].isalnum() and tagged.text[start - 1 : start].isalnum():
            new = f" {new}"
        splices.append((start, word.end, new))
    return spliced(tagged.text, splices)


Splice = tuple[int, int, str]
"""Characters from start to end are replaced by a text."""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Replace spans of a text, which do not overlap; a capital at its start stays one, spaces are not doubled."""
    has_capital = re.match(r"\W*[A-Z]", text)
    for start, end, new in sorted(splices, reverse=True):
        after = text[end:]
        if not new and (start == 0 or text[start - 1] == " "):
            after = after.lstrip(" ")
        text = text[:start] + new + after
    if not has_capital:
        return text
    return re.sub(r"\w", lambda first: first.group().upper(), text, count=1)


def article(word: str) -> str:
    """Return "a" or "an", as the sound at the beginning of a word asks for."""
    return "an" if _AN.match(word) and not _A.match(word) else "a"


def _articles(tagged: Tagged, changes: dict[int, str]) -> dict[int, str]:
    """Return the articles before words that changed, by index."""
    articles = {}
    for index, new in changes.items():
        if word_at(tagged.words, index - 1).lowercase in {"a", "an"}:
            articles[index - 1] = article(new.strip("\"'"))
    return articles


def _cased(word: Word, new: str) -> str:
    """Return a replacement in the case of what it replaces."""
    if len(word.text) > 1 and word.text.isupper():
        return new.upper()
    if word.text[0].isupper() and word.text != "I":
        return new[:1].upper() + new[1:]
    return new


def _lemminflect() -> Any:
    try:
        import lemminflect
    except ImportError:
        raise MissingExtraError("building a test set", "build") from None
    return lemminflect
