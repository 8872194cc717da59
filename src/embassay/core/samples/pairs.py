"""Two sentences and their similarity as rated by people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from embassay.core.samples.base import Sample, Text, Words


@dataclass(frozen=True)
class Pair(Sample):
    """Two sentences and their similarity as rated by people (shape ``pairs``).

    Attributes
    ----------
    score
        The human score; larger is more similar. None if there is none.
    subset
        The part of the corpus that it belongs to, for example a genre; empty for none.

    Examples
    --------
    >>> ea.Pair("1", "It rained.", "There was rain.", 0.9).score
    0.9
    """

    first: Words
    second: Words
    score: float | None
    subset: str = ""

    def texts(self) -> tuple[Text, ...]:
        """Return both sentences as plain texts."""
        return ("text", self.first), ("text", self.second)

    def fields(self) -> Mapping[str, str]:
        """Return both sentences by name, and the score if there is one."""
        score = {} if self.score is None else {"score": f"{self.score:g}"}
        return {"first": self.first, "second": self.second, **score}
