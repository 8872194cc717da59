"""Lower-casing the first word of a sentence that is joined to another, unless the word is a name."""

from __future__ import annotations

import re

from embassay.testsets.english.parser import possible
from embassay.testsets.english.words import tag

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")


def lowered(sentence: str, other: str = "") -> str | None:
    """Return a sentence with its first word in lower case, unless it is a name; None if that is not certain.

    Parameters
    ----------
    other
        Another text. If it has the word inside a sentence, its spelling there decides.
    """
    first = _WORD.match(sentence)
    if not first:
        return sentence
    word, rest = first.group(), sentence[first.end() :]
    stem = re.split("['’]", word)[0]
    low = stem.lower()
    has_inner_capital = any(letter.isupper() for letter in word[1:])
    if stem == "I" or has_inner_capital or not word[0].isupper():
        return sentence
    lowered_sentence = sentence[0].lower() + sentence[1:]
    # The other text starts with a capital in any case, so that its first letter says nothing.
    keeps_capital = _has_capital_inside(stem, f"{rest} {other[1:]}")
    if keeps_capital is None:
        keeps_capital = _is_name(sentence, low)
    if keeps_capital is None:
        return None
    if keeps_capital:
        return sentence
    return lowered_sentence


def _has_capital_inside(word: str, text: str) -> bool | None:
    """Return whether a word has a capital inside the sentences of a text; None if it does not occur, or both ways."""
    is_lower_case = re.search(rf"(?<!\w){re.escape(word.lower())}(?!\w)", text) is not None
    has_capital = re.search(rf"(?<=[\w,;] ){re.escape(word)}(?!\w)", text) is not None
    return None if is_lower_case == has_capital else has_capital


def _is_name(sentence: str, low: str) -> bool | None:
    """Return whether the first word of a sentence is a name; None if the parser and the dictionary do not agree.

    Parameters
    ----------
    low
        The word in lower case.
    """
    tag_of_first, tags = tag(sentence).words[0].tag, possible(low)
    if not tag_of_first.startswith(("NN", "VB", "JJ", "RB", "FW")):
        return False
    # The dictionary has no names, and no adjectives of peoples.
    is_name = tag_of_first.startswith(("NNP", "JJ")) and not tags
    is_as_in_dictionary = any(known[:2] == tag_of_first[:2] for known in tags) and not tag_of_first.startswith("NNP")
    return is_name if is_name or is_as_in_dictionary else None
