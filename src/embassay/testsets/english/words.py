"""Sentences as parsed words, and replacing words in them.

:func:`tag` divides a sentence into words; :func:`substituted` replaces some of them and adjusts spacing, capitals and
the article before a replaced word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from embassay.testsets.english.installed import lemminflect
from embassay.testsets.english.parser import pipeline

PLACEHOLDER = re.compile(r"\[[A-Z]+\]")
"""A placeholder such as ``[NAME]``."""
NAME = "Jackie"
"""The name that HEROS puts in place of ``[NAME]``."""


def straight(text: str) -> str:
    """Return the text with straight apostrophes; its length does not change."""
    return text.replace("’", "'").replace("‘", "'").replace("`", "'")


# --- Sentences as tagged words ---

_PARTS = {"V": "VERB", "N": "NOUN", "J": "ADJ", "R": "ADV", "M": "AUX"}
"""lemminflect's parts of speech by the first letter of a Penn tag."""
_CONTRACTED = {
    "n't": "not", "ca": "can", "wo": "will", "sha": "shall", "ai": "be", "'m": "be", "'re": "be", "'ve": "have",
    "'ll": "will", "'d": "would", "am": "be", "is": "be", "are": "be", "was": "be", "were": "be", "been": "be",
    "being": "be", "gon": "go", "wan": "want", "got": "get",
}  # fmt: skip
_AN = re.compile(r"(?i:[aeiou]|8|1[18](?!\d)|hour|hono|honest|heir)|[FHLMNRSX](?=[A-Z.]|$)")
_A = re.compile(r"(?i)(?:uni(?!n|m)|us[aeiu]|ut[ei]|eu|ew|one(?!i|r)|once|ubi|ukr|ur[aei])")
"""Beginnings that "an" precedes, and the exceptions among them."""


@dataclass(frozen=True)
class Word:
    """A word or a punctuation mark of a sentence.

    Attributes
    ----------
    text
        As it is written, with straight apostrophes.
    start, end
        Its position in the text, in characters.
    tag
        Its Penn treebank tag; ``.``, ``,`` or ``:`` for punctuation.
    lemma
        Its base form in lower case; for a contraction the word that it stands for (``not`` for ``n't``).
    head, relation
        The index of the word that it depends on, and how, as ClearNLP names it; its own, for the root of a sentence.
    """

    text: str
    start: int
    end: int
    tag: str = ""
    lemma: str = ""
    head: int = -1
    relation: str = ""

    @property
    def lowercase(self) -> str:
        """The word in lower case."""
        return self.text.lower()


Words = Sequence[Word]
"""The words of a sentence or of a part of it, in order."""
NO_WORD = Word(text="", start=0, end=0)
"""Stands for the words before the first and after the last word of a sentence."""


@dataclass(frozen=True)
class Tagged:
    """A text and its words, in order."""

    text: str
    words: Words


def word_at(words: Words, index: int) -> Word:
    """Return the word at an index, or :data:`NO_WORD` if the index is before the first or after the last word."""
    if 0 <= index < len(words):
        return words[index]
    return NO_WORD


@lru_cache(maxsize=20_000)
def tag(text: str) -> Tagged:
    """Parse a text. Contractions are split as in the Penn treebank: ``ca`` + ``n't``.

    Raises
    ------
    InputError
        If spaCy, its pipeline for English or lemminflect is not installed.
    """
    return _tagged(text, pipeline()(_readable(text)))


def untagged(text: str) -> Tagged:
    """Divide a text into words without parsing them, which is many times faster than :func:`tag`."""
    return _tagged(text, pipeline().make_doc(_readable(text)))


def _readable(text: str) -> str:
    """Return a text as pipelines know it: with straight apostrophes, and with a name as long as its placeholder."""
    return straight(text).replace("[NAME]", NAME)


def _tagged(text: str, document: Iterable[Any]) -> Tagged:
    """Return a text with its words, which are those of a text with the same positions."""
    # Several spaces would be words of their own.
    tokens = [token for token in document if not token.is_space]
    place_of = {token.i: place for place, token in enumerate(tokens)}
    words = list[Word]()
    for place, token in enumerate(tokens):
        end = token.idx + len(token.text)
        penn_tag = _tag(token.text, token.tag_)
        word = Word(
            text=straight(text[token.idx : end]),
            start=token.idx,
            end=end,
            tag=penn_tag,
            lemma=base_form(token.text, penn_tag),
            head=place_of.get(token.head.i, place),
            relation=token.dep_,
        )
        words.append(word)
    return Tagged(text, tuple(words))


def _tag(word: str, penn_tag: str) -> str:
    """Return the tag of a word; ``.``, ``,`` or ``:`` for a mark, whose tags differ between pipelines."""
    # HYPH is a hyphen inside a word.
    if word == ",":
        return ","
    if penn_tag == "HYPH" or any(character.isalnum() for character in word):
        return penn_tag
    return "." if word[0] in ".!?…" else ":"


@lru_cache(maxsize=200_000)
def base_form(word: str, tag: str) -> str:
    """Return the base form of a word that has this tag, in lower case."""
    low = word.lower()
    if low == "'s":
        return {"VBZ": "be", "PRP": "us"}.get(tag, "'s")
    if low in _CONTRACTED:
        return _CONTRACTED[low]
    part = _PARTS.get(tag[:1])
    if part is None or tag in {"NNP", "NNPS", "RP", "MD"}:
        return low
    lemmas = lemminflect().getLemma(low, part, lemmatize_oov=False)
    if lemmas:
        return str(lemmas[0])
    return low


@lru_cache(maxsize=200_000)
def inflected(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma with a Penn tag; None if there is none.

    Verbs and nouns that are missing in the dictionary are inflected by rules; adjectives and adverbs are not
    ("beautifuler").
    """
    if tag in {"VB", "VBP", "NN", "JJ", "RB"}:
        return lemma
    forms = lemminflect().getInflection(lemma, tag, inflect_oov=tag[0] in "VN")
    if forms:
        return str(forms[0])
    return None


# --- Replacing words of a sentence ---


def substituted(tagged: Tagged, changes: dict[int, str]) -> str:
    """Return the text with some words replaced.

    A replacement has a capital if the replaced word has one; an empty replacement deletes the word and the space before
    it. "A" or "an" before a replaced word is adjusted. If a word is joined to the one before it, like the "n't" of
    "don't", its replacement gets a space unless it is a contraction too.

    Parameters
    ----------
    changes
        The new text by index of ``tagged.words``: one word, several, or nothing.
    """
    splices = list[Splice]()
    for index, replacement in (changes | _articles(tagged, changes)).items():
        word = tagged.words[index]
        start, new = word.start, cased(word, replacement)
        is_joined = tagged.text[start - 1 : start].isalnum()
        if new == "" and index > 0:
            start = tagged.words[index - 1].end
        # The "ca" of "can't" becomes "could", its "n't" becomes " not".
        elif is_joined and new[:1].isalnum():
            new = f" {new}"
        splices.append((start, word.end, new))
    return spliced(tagged.text, splices)


Splice = tuple[int, int, str]
"""(start, end, text): the characters from start to end are replaced by the text."""


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """Replace spans of a text that do not overlap; a capital at the start is kept, and spaces are not doubled."""
    has_capital = re.match(r"\W*[A-Z]", text)
    # From right to left, so that the positions of the remaining spans stay valid.
    for start, end, new in sorted(splices, reverse=True):
        after = text[end:]
        if not new and (start == 0 or text[start - 1] == " "):
            after = after.lstrip(" ")
        text = text[:start] + new + after
    if not has_capital:
        return text
    return re.sub(r"\w", lambda first: first.group().upper(), text, count=1)


def article(word: str) -> str:
    """Return "a" or "an", depending on the first sound of a word."""
    starts_with_vowel = _AN.match(word) and not _A.match(word)
    if starts_with_vowel:
        return "an"
    return "a"


def _articles(tagged: Tagged, changes: dict[int, str]) -> dict[int, str]:
    """Return the adjusted articles before replaced words, by index."""
    articles = {}
    for index, new in changes.items():
        if word_at(tagged.words, index - 1).lowercase in {"a", "an"}:
            articles[index - 1] = article(new.strip("\"'"))
    return articles


def cased(word: Word, new: str) -> str:
    """Return a replacement with the capitals of the replaced word."""
    if len(word.text) > 1 and word.text.isupper():
        return new.upper()
    if word.text[0].isupper() and word.text != "I":
        return new[:1].upper() + new[1:]
    return new
