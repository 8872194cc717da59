"""Two sentences and the result of a set operation on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from annotated_types import Interval

from embassay.core.samples.base import Sample, Words

Operator = Literal["overlap", "difference", "union"]
LIKERT = (0.0, 4.0)
"""The lowest and the highest rating."""
Rating = Annotated[float, Interval(ge=LIKERT[0], le=LIKERT[1])]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True)
class Composition(Sample):
    """Two sentences and the result of a set operation on them (shape ``composition``).

    Attributes
    ----------
    operator
        ``overlap`` (what both say), ``difference`` (what a says and b does not) or ``union`` (what either says).
    group
        The key of the unit, for example a document; if empty, the sample's id.
    mirrored
        True for the difference b − a if the corpus also has a − b; in this sample a and b are swapped.
    ratings
        Human ratings from 0 to 4, one for each annotator.

    Examples
    --------
    >>> ea.Composition("1", "overlap", "It rained, so we left.", "We left early.", "We left.").operator
    'overlap'
    """

    operator: Operator
    a: Words
    b: Words
    target: Words
    group: str = ""
    mirrored: bool = False
    ratings: tuple[Rating, ...] = ()

    def fields(self) -> Mapping[str, str]:
        """Return the three sentences by name."""
        return {"a": self.a, "b": self.b, self.operator: self.target}

    def contradiction(self) -> str:
        """Return that it is mirrored and no difference."""
        # A mirrored difference is b − a, beside a − b from the same two sentences.
        return "mirrored can be true only for a difference" if self.mirrored and self.operator != "difference" else ""
