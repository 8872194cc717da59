"""Requirements for a generator's fusion: one sentence, from both inputs, of about their length, with nothing new.

The rules look at words, numbers and capitals, not at the meaning, and reject if in doubt. People rate the rest.
"""

from __future__ import annotations

import re

from embassay.corpora.io.passages import collapsed, sentences
from embassay.corpora.queries.leaks import names
from embassay.corpora.queries.passages import tokens
from embassay.stats.lexical.language import language_of
from embassay.testsets.generator.base import Reply

LONGER = 1.3
"""The maximum ratio of the words of a fusion to those of both sentences."""
_LABEL = re.compile(
    r"(?i)\A(?:here(?:'s| is) )?(?:the |a |one )?"
    r"(?:(?:fused|combined|merged|single|new|resulting) )*(?:sentence|answer|output|fusion|result)(?: is)?\s*:\s*"
)
_QUOTED = re.compile('["“\'‘«`]([^"“”«»`]*)["”\'’»`]')
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NESTED = 2
"""The maximum number of quotation marks around a sentence."""
STEM = 4
"""The number of first letters that a name may share with a word of the sources: Germany, German."""


def fusion_of(answer: str, first: str, second: str) -> Reply:
    """Return the fusion of two sentences in an answer, or why there is none."""
    fusion = bared(answer)
    problem = problem_of(fusion, first, second)
    return Reply(problem=problem) if problem else Reply(fusion)


def bared(text: str) -> str:
    """Return the sentence of an answer, without "Fused sentence:", line ends, and quotation marks around it."""
    sentence = collapsed(text).replace("**", "")
    # A label may stand inside quotation marks, and these inside others.
    for _ in range(NESTED):
        sentence = _LABEL.sub("", sentence)
        if quoted := _QUOTED.fullmatch(sentence):
            sentence = quoted[1].strip()
    return sentence


def problem_of(fusion: str, first: str, second: str) -> str:
    """Return why a text is not a fusion of two sentences; empty if it may be one."""
    if not fusion:
        return "an empty answer"
    if len(sentences(fusion)) != 1 or fusion[-1] not in ".!?":
        return "a fusion that is not one whole sentence"
    # A short sentence, whose language is not recognised, counts as English.
    if language_of(fusion) not in ("", language_of(first) or "English", language_of(second) or "English"):
        return "a fusion in another language"
    both = f"{first} {second}"
    if tokens(fusion) in map(tokens, (first, second, both, f"{second} {first}")):
        return "a fusion that only repeats its sentences"
    words = len(fusion.split())
    if words < max(len(first.split()), len(second.split())):
        return "a fusion that is shorter than the longer sentence"
    if words > LONGER * len(both.split()):
        return f"a fusion of more than {LONGER:g} times the words of both sentences"
    if not numbers(fusion) <= numbers(both):
        return "a fusion with a number that neither sentence has"
    if new_names(fusion, both):
        return "a fusion with a name that neither sentence has"
    return ""


def numbers(text: str) -> set[str]:
    """Return the numbers of a text in digits: "1,200" and "1200" are the same, "3.5" and "35" are not."""
    return {number.replace(",", "") for number in _NUMBER.findall(text)}


def new_names(fusion: str, source: str) -> list[str]:
    """Return the words with a capital, after the first word, whose first letters no word of the source has."""
    beginnings = {word[:STEM] for word in tokens(source)}
    return [name for name in names(fusion) if name[:STEM] not in beginnings and name != "i"]
