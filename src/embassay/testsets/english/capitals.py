"""Lower-casing the first word of a sentence that is joined to another, unless the word is a name."""

from __future__ import annotations

import re

from embassay.testsets.english.parser import possible
from embassay.testsets.english.words import Tagged

_CONTENT = ("NN", "VB", "JJ", "RB", "FW")
"""Beginnings of the tags of words that may be names; other words never are."""


def lowered(tagged: Tagged, other: str = "") -> str | None:
    """Return a sentence with its first word in lower case, unless it is a name; None if that is not certain.

    Parameters
    ----------
    other
        Another text. If it has the word inside a sentence, its spelling there decides.
    """
    text, first = tagged.text, tagged.words[0]
    word, low = first.text, first.lowercase
    if word == "I" or not word[0].isupper() or any(map(str.isupper, word[1:])):
        return text
    # The other text starts with a capital in any case, so that its first letter says nothing.
    inside = f"{text[first.end :]} {other[1:]}"
    is_name = re.search(rf"(?<=[\w,;] ){re.escape(word)}(?!\w)", inside) is not None
    is_word = re.search(rf"(?<!\w){re.escape(low)}(?!\w)", inside) is not None
    if is_name == is_word:
        # The dictionary has no names, and no adjectives of peoples.
        tags, is_proper = possible(low), first.tag.startswith("NNP")
        is_name = not tags and (is_proper or first.tag.startswith("JJ"))
        is_as_in_dictionary = not is_proper and any(tag[:2] == first.tag[:2] for tag in tags)
        is_word = is_as_in_dictionary or not first.tag.startswith(_CONTENT)
    if is_name:
        return text
    return text[0].lower() + text[1:] if is_word else None
