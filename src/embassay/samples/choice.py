"""An input and three candidates, one of which means the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.samples.base import Role


@dataclass(frozen=True)
class Choice:
    """An input and three candidates, one of which means the same (shape ``choice``).

    Attributes
    ----------
    antonym
        The input with only one word replaced by its opposite: means the contrary.
    polarity
        The input with only the negation put in or taken out: means the contrary.
    paraphrase
        Both changes at once: means the same.
    part_of_speech, pair
        What the replaced word is, and the two words, alphabetically, joined by an en dash.
    negation
        The negation pattern (``not``, ``never`` …), empty where it is not known.
    """

    id: str
    input: str
    antonym: str
    polarity: str
    paraphrase: str
    part_of_speech: str
    pair: str
    negation: str = ""

    @property
    def unit(self) -> str:
        """The entry itself; entries that share a sentence are merged by :func:`independent_units`."""
        return self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return input, antonym, polarity and paraphrase, all as plain texts."""
        return tuple(("text", text) for text in self.fields().values())

    def fields(self) -> Mapping[str, str]:
        """Return the four sentences by name."""
        return {
            "input": self.input,
            "antonym": self.antonym,
            "polarity": self.polarity,
            "paraphrase": self.paraphrase,
        }
