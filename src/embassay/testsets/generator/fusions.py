"""What a generator's fusion has to be: one sentence, of both inputs, of about their length, without anything new.

Told by rules that reject in doubt: by words, numbers and capitals, not by meaning. People rate the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from embassay.corpora.io.passages import collapsed, sentences
from embassay.testsets.english.capitals import lowered
from embassay.testsets.english.language import language_of

LONGER = 1.3
"""How many times the words of both sentences a fusion has, at most."""
_PREFIX = re.compile(
    r"(?i)(?:\*\*)?(?:here(?:'s| is) )?(?:the |a |one )?"
    r"(?:(?:fused|combined|merged|single|new|resulting) )*(?:sentence|answer|output|fusion|result)(?: is)?(?:\*\*)?\s*"
    r":\s*(?:\*\*)?\s*"
)
_MARKS = (('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»"), ("**", "**"), ("`", "`"))
_NUMBER = re.compile(r"(?<![\w.,])\.\d+|\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"\A[1-9]\d{0,2}(?:,\d{3})+(?![,\d])")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_COUNTED = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety".split(),
        [*map(str, range(21)), *map(str, range(30, 100, 10))],
        strict=True,
    )
)
NO_NUMBERS = frozenset({"0", "1"})
"""What "one" and "zero" mean: pronouns and articles as often."""
STEM = 4
"""Letters that a name has in common with a word of the inputs, at least: Germany, German."""


def bared(text: str) -> str:
    """Return an answer without what stands around the sentence: "Fused sentence:", quotation marks, line ends."""
    bare = collapsed(text)
    while (stripped := _unmarked(_PREFIX.sub("", bare, count=1) if _PREFIX.match(bare) else bare)) != bare:
        bare = stripped
    return bare


def problem_of(fusion: str, first: str, second: str) -> str:
    """Say why a fusion is none of the two sentences; nothing where it may be one."""
    if len(sentences(fusion)) != 1 or fusion[-1] not in ".!?":
        return "a fusion of several sentences" if len(sentences(fusion)) > 1 else "a fusion that is no whole sentence"
    given = (first, second)
    if _is_english(*given) and not _is_english(fusion):
        return "a fusion in another language"
    if _letters(fusion) in {_letters(text) for text in given}:
        return "a fusion that repeats one of its sentences"
    if _letters(fusion) in {_letters(first + second), _letters(second + first)}:
        return "a fusion that only puts both sentences side by side"
    words, sizes = len(fusion.split()), [len(text.split()) for text in given]
    if words < max(sizes):
        return "a fusion that is shorter than the longer sentence"
    if words > LONGER * sum(sizes):
        return f"a fusion of more than {LONGER:g} times the words of both sentences"
    if not numbers(fusion) <= numbers(first) | numbers(second) | NO_NUMBERS:
        return "a fusion with a number that neither sentence has"
    return "a fusion with a name that neither sentence has" if new_names(fusion, given) else ""


def numbers(text: str) -> set[str]:
    """Return the numbers of a text: "1,200" and "1200", "three" and "3" are the same, "3.5" and "35" are not."""
    said = (word.strip(",.;:()") for word in re.split(r"[\s-]+", text.lower()))
    return set(map(_spelt, _NUMBER.findall(text))) | {_COUNTED[word] for word in said if word in _COUNTED}


def new_names(fusion: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return the words with a capital of which the inputs have neither the word nor its stem.

    The first word may have its capital from its place: of an English fusion it counts unless it is surely no name, of
    another one where it has another capital letter inside.

    Raises
    ------
    MissingExtraError
        If textblob or lemminflect, which a first word is told by, is not installed.
    """
    known = {word.lower() for text in given for word in _parts(text)}
    stems = {word[:STEM] for word in known if len(word) >= STEM}
    new = []
    for place, word in enumerate(_parts(fusion)):
        if not word[0].isupper() or word == "I":
            continue
        if word.lower() in known or word.lower()[:STEM] in stems:
            continue
        if place > 0 or _begins_as_name(fusion, word, given):
            new.append(word)
    return tuple(new)


def _begins_as_name(fusion: str, word: str, given: Sequence[str]) -> bool:
    """Say whether the first word of a fusion is a name, or may be one."""
    start = fusion.index(word)
    if any(map(str.isupper, word[1:])) or any(map(str.isalnum, fusion[:start])):
        return True
    return _is_english(fusion, *given) and lowered(fusion[start:]) in (None, fusion[start:])


def _is_english(*texts: str) -> bool:
    """Say whether texts are English, or too short to tell."""
    return all(language_of(text) in {"English", ""} for text in texts)


def _spelt(number: str) -> str:
    """Return digits without the commas between thousands, and with a point as decimal mark."""
    plain = _THOUSANDS.sub(lambda found: found.group().replace(",", ""), number)
    return ("0" if plain.startswith(".") else "") + plain.replace(",", ".")


def _parts(text: str) -> Iterable[str]:
    """Yield the words of a text, those with hyphens in parts, without the 's of a possessive."""
    for word in _WORD.findall(text):
        yield from filter(None, re.split(r"[-]", re.sub(r"['’]\w*$", "", word)))


def _letters(text: str) -> str:
    return re.sub(r"\W|_", "", text).lower()


def _unmarked(text: str) -> str:
    for opening, closing in _MARKS:
        inner = text[len(opening) : -len(closing)]
        enclosed = len(text) > len(opening + closing) and text.startswith(opening) and text.endswith(closing)
        if enclosed and opening not in inner and closing not in inner:
            return inner.strip()
    return text
