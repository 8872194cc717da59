"""What every sample has: an id, a unit of independence, texts with their roles, and fields for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, get_args

Role = Literal["text", "query", "document"]
"""How a text is used; a model may have a different prompt for each role."""
ROLES: tuple[Role, ...] = get_args(Role)

Text = tuple[Role, str]
"""A text with its role. The same text can have different vectors in different roles."""


class Sample(Protocol):
    """What all sample shapes have in common.

    Examples
    --------
    >>> sample = ea.load("handbook").samples[0]
    >>> list(sample.texts())
    [('query', 'How many sensor devices can a site have in total?')]
    """

    @property
    def id(self) -> str:
        """A name that is unique in the corpus and the same in every run."""
        ...

    @property
    def unit(self) -> str:
        """The key of the unit of independence that the sample belongs to."""
        ...

    def texts(self) -> tuple[Text, ...]:
        """Return the texts that have to be encoded, each with its role."""
        ...

    def fields(self) -> Mapping[str, str]:
        """Return the texts by name, for display."""
        ...
