"""Requirements for a generator's fusion: one sentence, from both inputs, of about their length, with nothing new.

The rules look at words, numbers and capitals, not at the meaning, and reject if in doubt. People rate the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from embassay.corpora.io.passages import collapsed, sentences
from embassay.stats.lexical.language import may_be_english
from embassay.testsets.english import lowered

LONGER = 1.3
"""The maximum ratio of the words of a fusion to those of both sentences."""
_PREFIX = re.compile(
    r"(?i)(?:\*\*)?(?:here(?:'s| is) )?(?:the |a |one )?"
    r"(?:(?:fused|combined|merged|single|new|resulting) )*(?:sentence|answer|output|fusion|result)(?: is)?(?:\*\*)?\s*"
    r":\s*(?:\*\*)?\s*"
)
_MARKS = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"), ("**", "**"), ("`", "`"))
_NUMBER = re.compile(r"(?<![\w.,])\.\d+|\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\A[1-9]\d{0,2}(?:,\d{3})+(?![,\d])")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_NUMBER_WORDS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety".split(),
        [*map(str, range(21)), *map(str, range(30, 100, 10))],
        strict=True,
    )
)
OFTEN_NO_NUMBERS = frozenset({"0", "1"})
"""The numbers of "one" and "zero"; these words are often not numbers."""
STEM = 4
"""The number of first letters that a name may share with a word of the sources: Germany, German."""


def bared(text: str) -> str:
    """Return the sentence of an answer, without "Fused sentence:", quotation marks and line ends."""
    sentence = collapsed(text)
    # A prefix may stand inside quotation marks, and these inside others: remove both until nothing changes.
    while True:
        prefix = _PREFIX.match(sentence)
        without_prefix = sentence
        if prefix:
            without_prefix = sentence[prefix.end() :]
        shorter = _without_marks(without_prefix)
        if shorter == sentence:
            return sentence
        sentence = shorter


def problem_of(fusion: str, first: str, second: str) -> str:
    """Return why a text is not a fusion of two sentences; empty if it may be one."""
    number_of_sentences = len(sentences(fusion))
    if number_of_sentences > 1:
        return "a fusion of several sentences"
    if number_of_sentences < 1 or fusion[-1] not in ".!?":
        return "a fusion that is not a whole sentence"
    if may_be_english(first) and may_be_english(second) and not may_be_english(fusion):
        return "a fusion in another language"
    if _letters(fusion) in {_letters(first), _letters(second)}:
        return "a fusion that repeats one of its sentences"
    if _letters(fusion) in {_letters(first + second), _letters(second + first)}:
        return "a fusion that only puts both sentences side by side"
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
    numbers_in_text = {_plain_number(number) for number in _NUMBER.findall(text)}
    # "Twenty-five" gives 20 and 5 in each text, so that texts can be compared.
    for part in re.split(r"[\s-]+", text.lower()):
        word = part.strip(",.;:()")
        if word in _NUMBER_WORDS:
            numbers_in_text.add(_NUMBER_WORDS[word])
    return numbers_in_text


def new_names(fusion: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the words with a capital whose stem no word of the sources has.

    The first word may have its capital from its position. In an English fusion it counts unless it is certainly no
    name; in another language it counts if it has a second capital letter.

    Raises
    ------
    InputError
        If the parser, which the first word is checked with, is not installed.
    """
    source_words = set[str]()
    for text in sources:
        source_words.update(word.lower() for word in _parts(text))
    stems = {word[:STEM] for word in source_words if len(word) >= STEM}
    new = list[str]()
    for place, word in enumerate(_parts(fusion)):
        has_capital = word[0].isupper() and word != "I"
        is_in_sources = word.lower() in source_words or word.lower()[:STEM] in stems
        if not has_capital or is_in_sources:
            continue
        if place > 0 or _begins_as_name(fusion, word, sources):
            new.append(word)
    return tuple(new)


def _begins_as_name(fusion: str, word: str, sources: Sequence[str]) -> bool:
    """Return whether the first word of a fusion is a name, or may be one."""
    start = fusion.index(word)
    has_second_capital = any(map(str.isupper, word[1:]))
    # Digits are not part of a word, so "3M" begins with its second character.
    follows_other_characters = any(map(str.isalnum, fusion[:start]))
    if has_second_capital or follows_other_characters:
        return True
    if not all(map(may_be_english, (fusion, *sources))):
        return False
    from_word = fusion[start:]
    in_lower_case = lowered(from_word)
    # lowered() gives None in doubt, and the same text for a name.
    return in_lower_case is None or in_lower_case == from_word


def _plain_number(number: str) -> str:
    """Return digits without the commas between thousands, and with a point as decimal mark."""
    thousands = _THOUSANDS.match(number)
    if thousands:
        without_commas = thousands.group().replace(",", "")
        number = without_commas + number[thousands.end() :]
    number = number.replace(",", ".")
    if number.startswith("."):
        return f"0{number}"
    return number


def _parts(text: str) -> list[str]:
    """Return the words of a text, without the 's of a possessive; the parts of a word with hyphens are words."""
    parts = list[str]()
    for word in _WORD.findall(text):
        without_possessive = re.sub(r"['’]\w*$", "", word)
        parts += [part for part in without_possessive.split("-") if part]
    return parts


def _letters(text: str) -> str:
    """Return the letters and digits of a text in lower case, so that texts can be compared without their spaces."""
    return re.sub(r"\W|_", "", text).lower()


def _without_marks(text: str) -> str:
    """Return a text without the quotation marks around it."""
    for opening, closing in _MARKS:
        if len(text) > len(opening + closing) and text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner and closing not in inner:
                return inner.strip()
    return text
