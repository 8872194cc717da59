"""Texts of two corpora that are set side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from embassay.samples.base import Role

Side = Literal["domain", "general"]


@dataclass(frozen=True)
class Member:
    """A text of one of two corpora that are set side by side (shape ``two``).

    Attributes
    ----------
    side
        Which of the two: ``domain`` or ``general``.
    group
        The key of the unit, its document for example; its own id where empty.
    """

    id: str
    side: Side
    role: Role
    text: str
    group: str = ""

    @property
    def unit(self) -> str:
        """Its group, or itself."""
        return self.group or self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return its text in its role."""
        return ((self.role, self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the text by its side."""
        return {self.side: self.text}
