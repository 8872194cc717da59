"""Two sentences and how similar people find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.samples.base import Role


@dataclass(frozen=True)
class Pair:
    """Two sentences and how similar people find them (shape ``pairs``).

    Attributes
    ----------
    score
        The human score, larger is more similar; None where there is none.
    subset
        A part of the corpus that it belongs to, a genre for example; empty for none.
    """

    id: str
    first: str
    second: str
    score: float | None
    subset: str = ""

    @property
    def unit(self) -> str:
        """The pair itself; pairs that share a sentence are merged by :func:`independent_units`."""
        return self.id

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return both sentences as plain texts."""
        return ("text", self.first), ("text", self.second)

    def fields(self) -> Mapping[str, str]:
        """Return both sentences by name, and the score where there is one."""
        score = {} if self.score is None else {"score": f"{self.score:g}"}
        return {"first": self.first, "second": self.second, **score}
