"""An input and three candidates, one of which means the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from embassay.core.errors import quoted
from embassay.core.samples.base import Fields, Label, Rule, Words

RESERVED = frozenset({"all", "negation"})
"""Names of other subsets, which cannot be used as parts of speech."""


def _part_of_speech_problem(value: object) -> str:
    """Return what is wrong with the name of a part of speech; empty if nothing is."""
    if isinstance(value, str) and value.isascii() and value.isalpha() and value.islower() and value not in RESERVED:
        return ""
    return f"must be a word such as verb, is {quoted(value)}"


PartOfSpeech = Annotated[str, Rule(_part_of_speech_problem)]
"""One word in lower case."""


@dataclass(frozen=True)
class Choice(Fields):
    """An input and three candidates, one of which means the same (shape ``choice``).

    Attributes
    ----------
    antonym
        The input with one word replaced by its opposite: means the opposite.
    polarity
        The input with a negation added or removed: means the opposite.
    paraphrase
        Both changes at once: means the same.
    part_of_speech, pair
        The part of speech of the replaced word; the two words in alphabetical order, joined by an en dash.
    negation
        The negation pattern (``not``, ``never`` …), empty if unknown.

    Examples
    --------
    >>> ea.load("opposites").samples[0].antonym
    'In the eyes of the law, the accountant is innocent.'
    """

    id: Words
    input: Words
    antonym: Words
    polarity: Words
    paraphrase: Words
    part_of_speech: PartOfSpeech
    pair: Words
    negation: Label = ""

    def fields(self) -> Mapping[str, str]:
        """Return the four sentences by name."""
        return {
            "input": self.input,
            "antonym": self.antonym,
            "polarity": self.polarity,
            "paraphrase": self.paraphrase,
        }
