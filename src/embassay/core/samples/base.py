"""What every sample has: an id, a unit of independence, texts with their roles, and fields for display."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, get_args

Role = Literal["text", "query", "document"]
"""How a text is used; a model may have a different prompt for each role."""
ROLES: tuple[Role, ...] = get_args(Role)

STRICT = {"strict": True, "revalidate_instances": "always"}
"""How pydantic checks a sample that was made in Python: by its annotations, and nothing is converted."""

Text = tuple[Role, "Words"]
"""A text with its role. The same text can have different vectors in different roles."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Rule:
    """What the values of a field must be, beside their type; pydantic applies it.

    Attributes
    ----------
    problem_of
        Returns what is wrong with a value; empty if nothing is.
    """

    problem_of: Callable[[Any], str]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the type, preceded by the check."""
        from pydantic import BeforeValidator

        def check(value: Any) -> Any:
            if problem := self.problem_of(value):
                raise ValueError(problem)
            return value

        return BeforeValidator(check).__get_pydantic_core_schema__(source, handler)


def text_problem(value: object) -> str:
    """Return what is wrong with a text to encode; empty if nothing is."""
    if not isinstance(value, str):
        return f"must be a text, is of type {type(value).__name__}"
    if not value.strip():
        return "an empty text"
    if _SURROGATE.search(value):
        return "contains half of a surrogate pair, which is not a Unicode character"
    return ""


Words = Annotated[str, Rule(text_problem)]
"""A text that is not blank."""
Label = Annotated[str, Rule(lambda value: "" if value == "" else text_problem(value))]
"""A text that is not blank, or empty for none."""


class Fields:
    """What most shapes have: a unit that is its group, or itself, and plain texts, which are its fields."""

    __pydantic_config__ = STRICT
    id: Words

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

    def contradiction(self) -> str:
        """Return what its fields contradict, each of them being sound by itself; empty if nothing."""
        return ""


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

    @property
    def unit(self) -> str:
        """The key of the unit of independence that the sample belongs to."""

    def texts(self) -> tuple[Text, ...]:
        """Return the texts that have to be encoded, each with its role."""

    def fields(self) -> Mapping[str, str]:
        """Return the texts by name, for display."""
