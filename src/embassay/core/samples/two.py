"""Texts of two corpora that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from embassay.core.samples.base import Role, Sample, Text, Words

Side = Literal["domain", "general"]


@dataclass(frozen=True)
class TwoText(Sample):
    """A text of one of two corpora that are compared (shape ``two``).

    Attributes
    ----------
    side
        Which corpus: ``domain`` or ``general``.
    group
        The key of the unit, for example its document; if empty, the sample's id.
    """

    side: Side
    role: Role
    text: Words
    group: str = ""

    def texts(self) -> tuple[Text, ...]:
        """Return its text in its role."""
        return ((self.role, self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the text by its side."""
        return {self.side: self.text}
