"""What every sample has: an id, a unit of independence, texts with their roles, and fields for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

Role = Literal["text", "query", "document"]
"""How a text is used: a model may put another prompt before each."""

Text = tuple[Role, str]
"""A text with its role: the same text in two roles may have two vectors."""


class Sample(Protocol):
    """What all sample shapes have in common."""

    @property
    def id(self) -> str:
        """A name that is unique in the corpus and the same in every run."""
        ...

    @property
    def unit(self) -> str:
        """The key of the unit of independence that the sample itself belongs to."""
        ...

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the texts that have to be encoded, each with its role."""
        ...

    def fields(self) -> Mapping[str, str]:
        """Return the texts by name, for people."""
        ...
