"""Two sentences and what a set operation makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from embassay.samples.base import Role

Operator = Literal["overlap", "difference", "union"]


OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True)
class Composition:
    """Two sentences and what a set operation makes of them (shape ``composition``).

    Attributes
    ----------
    operator
        ``overlap`` (what both say), ``difference`` (what a says and b does not) or ``union`` (what either says).
    group
        The key of the unit, a document for example; its own id where empty.
    mirrored
        True for the difference b − a of a sample whose a − b is there too; a and b are exchanged in it.
    ratings
        What people gave it, 0 to 4, one number for each annotator.
    """

    id: str
    operator: Operator
    a: str
    b: str
    target: str
    group: str = ""
    mirrored: bool = False
    ratings: tuple[float, ...] = ()

    @property
    def unit(self) -> str:
        """Its group, or itself."""
        return self.group or self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return a, b and the target, all as plain texts."""
        return tuple(("text", text) for text in (self.a, self.b, self.target))

    def fields(self) -> Mapping[str, str]:
        """Return the three sentences by name."""
        return {"a": self.a, "b": self.b, self.operator: self.target}
