"""Requirements for a generator's fusion: one sentence, from both inputs, of about their length, with nothing new.

The rules look at words, numbers and capitals, not at the meaning, and reject if in doubt. People rate the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from embassay.corpora.io.passages import collapsed, sentences
from embassay.stats.lexical.language import language_of

LONGER = 1.3
"""The maximum ratio of the words of a fusion to those of both sentences."""
_PREFIX = re.compile(
    r"(?i)\A(?:\*\*)?(?:here(?:'s| is) )?(?:the |a |one )?"
    r"(?:(?:fused|combined|merged|single|new|resulting) )*(?:sentence|answer|output|fusion|result)(?: is)?(?:\*\*)?\s*"
    r":\s*(?:\*\*)?\s*"
)
_MARKS = [set(pair) for pair in ('"', "“”", "'", "‘’", "«»", "`")]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
"""A word; the parts of a word with hyphens or apostrophes are words."""
_NUMBER_WORDS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety".split(),
        [*map(str, range(21)), *map(str, range(30, 100, 10))],
        strict=True,
    )
)
NESTED = 2
"""The maximum number of quotation marks around a sentence."""
OFTEN_NO_NUMBERS = frozenset({"0", "1"})
"""The numbers of "one" and "zero"; these words are often not numbers."""
STEM = 4
"""The number of first letters that a name may share with a word of the sources: Germany, German."""


def bared(text: str) -> str:
    """Return the sentence of an answer, without "Fused sentence:", line ends, and quotation marks around it."""
    sentence = collapsed(text).replace("**", "")
    # A prefix may stand inside quotation marks, and these inside others.
    for _ in range(NESTED):
        sentence = _PREFIX.sub("", sentence)
        marks, inner = {sentence[:1], sentence[-1:]}, sentence[1:-1]
        if marks in _MARKS and marks.isdisjoint(inner):
            sentence = inner.strip()
    return sentence


def problem_of(fusion: str, first: str, second: str) -> str:
    """Return why a text is not a fusion of two sentences; empty if it may be one."""
    if len(sentences(fusion)) != 1 or fusion[-1] not in ".!?":
        return "a fusion that is not one whole sentence"
    # A short sentence, whose language is not recognised, counts as English.
    if language_of(fusion) not in {"", *(language_of(text) or "English" for text in (first, second))}:
        return "a fusion in another language"
    if _letters(fusion) in map(_letters, (first, second, first + second, second + first)):
        return "a fusion that only repeats its sentences"
    words, words_of_first, words_of_second = len(fusion.split()), len(first.split()), len(second.split())
    if words < max(words_of_first, words_of_second):
        return "a fusion that is shorter than the longer sentence"
    if words > LONGER * (words_of_first + words_of_second):
        return f"a fusion of more than {LONGER:g} times the words of both sentences"
    allowed_numbers = numbers(first) | numbers(second) | OFTEN_NO_NUMBERS
    if not numbers(fusion) <= allowed_numbers:
        return "a fusion with a number that neither sentence has"
    if new_names(fusion, (first, second)):
        return "a fusion with a name that neither sentence has"
    return ""


def numbers(text: str) -> set[str]:
    """Return the numbers of a text: "1,200" and "1200", "three" and "3" are the same, "3.5" and "35" are not."""
    in_digits = {number.replace(",", "") for number in _NUMBER.findall(text)}
    # "Twenty-five" gives 20 and 5 in each text, so that texts can be compared.
    in_words = _NUMBER_WORDS.keys() & {word.lower() for word in _WORD.findall(text)}
    return in_digits | {_NUMBER_WORDS[word] for word in in_words}


def new_names(fusion: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the words with a capital whose first letters no word of the sources has.

    The first word may have its capital from its position, so it counts if it has another one.
    """
    beginnings = {word[:STEM].lower() for text in sources for word in _WORD.findall(text)}
    new = list[str]()
    for place, word in enumerate(_WORD.findall(fusion)):
        capitals = word[1:] if place == 0 else word[0]
        if any(map(str.isupper, capitals)) and word != "I" and word[:STEM].lower() not in beginnings:
            new.append(word)
    return tuple(new)


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, so that texts can be compared without their spaces."""
    return re.sub(r"\W|_", "", text).lower()
