"""An input and three candidates, one of which means the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Predicate

from embassay.core.samples.base import Sample, Words

PartOfSpeech = Annotated[str, Predicate(str.isalpha), Predicate(str.islower)]
"""One word in lower case."""


@dataclass(frozen=True)
class Choice(Sample):
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

    input: Words
    antonym: Words
    polarity: Words
    paraphrase: Words
    part_of_speech: PartOfSpeech
    pair: Words
    negation: str = ""

    def fields(self) -> Mapping[str, str]:
        """Return the four sentences by name."""
        return {
            "input": self.input,
            "antonym": self.antonym,
            "polarity": self.polarity,
            "paraphrase": self.paraphrase,
        }
