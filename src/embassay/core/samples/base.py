"""What every sample has: an id, a unit of independence, texts with their roles, and fields for display."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from annotated_types import MinLen, Predicate

Role = Literal["text", "query", "document"]
"""How a text is used; a model may have a different prompt for each role."""
ROLES = get_args(Role)

STRICT = {"strict": True, "revalidate_instances": "always", "allow_inf_nan": False}
"""How pydantic checks a sample that was made in Python: by its annotations, and nothing is converted."""

Words = Annotated[str, MinLen(1), Predicate(str.strip)]
"""A text that is not blank."""
Text = tuple[Role, str]
"""A text with its role. The same text can have different vectors in different roles."""


@dataclass(frozen=True)
class Sample:
    """What all shapes of samples have in common.

    Attributes
    ----------
    id
        A name that is unique in the corpus and the same in every run.

    Examples
    --------
    >>> sample = ea.load("handbook").samples[0]
    >>> list(sample.texts())
    [('query', 'How many sensor devices can a site have in total?')]
    """

    __pydantic_config__ = STRICT
    id: Words

    @property
    def unit(self) -> str:
        """The key of its unit of independence: its group, or its own id."""
        return getattr(self, "group", "") or self.id

    def texts(self) -> tuple[Text, ...]:
        """Return the texts that have to be encoded, each with its role: by default its fields, as plain texts."""
        return tuple(("text", text) for text in self.fields().values())

    def fields(self) -> Mapping[str, str]:
        """Return the texts by name, for display."""
        raise NotImplementedError

    def contradiction(self) -> str:
        """Return what its fields contradict, each of them being sound by itself; empty if nothing."""
        return ""
