"""What every sample has: an id, a unit of independence, texts with their roles, and fields for display."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, get_args

Role = Literal["text", "query", "document"]
"""How a text is used; a model may have a different prompt for each role."""
ROLES: tuple[Role, ...] = get_args(Role)

STRICT = {"strict": True, "revalidate_instances": "always"}
"""How pydantic checks a sample that was made in Python: by its annotations, and nothing is converted."""

Text = tuple[Role, str]
"""A text with its role. The same text can have different vectors in different roles."""


class Fields:
    """What most shapes have: a unit that is its group, or itself, and plain texts, which are its fields."""

    __pydantic_config__ = STRICT
    id: str

    @property
    def unit(self) -> str:
        """Its group, or its own id. :func:`independent_units` merges samples that share a text."""
        return getattr(self, "group", "") or self.id

    def texts(self) -> tuple[Text, ...]:
        """Return its fields, all as plain texts."""
        return tuple(("text", text) for text in self.fields().values())

    def fields(self) -> Mapping[str, str]:
        """Return the texts by name, for display."""
        raise NotImplementedError


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
