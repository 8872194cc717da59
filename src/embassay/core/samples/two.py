"""Texts of two corpora that are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from embassay.core.samples.base import STRICT, Role, Text

Side = Literal["domain", "general"]


@dataclass(frozen=True)
class TwoText:
    """A text of one of two corpora that are compared (shape ``two``).

    Attributes
    ----------
    side
        Which corpus: ``domain`` or ``general``.
    group
        The key of the unit, for example its document; if empty, the sample's id.
    """

    __pydantic_config__ = STRICT
    id: str
    side: Side
    role: Role
    text: str
    group: str = ""

    @property
    def unit(self) -> str:
        """Its group, or its own id."""
        return self.group or self.id

    def texts(self) -> tuple[Text, ...]:
        """Return its text in its role."""
        return ((self.role, self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the text by its side."""
        return {self.side: self.text}
