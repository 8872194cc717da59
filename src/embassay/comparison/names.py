"""How users name a quantity: ``Success@5``, ``accuracy[part_of_speech:noun]``, ``retrieval.Success@5``.

In brackets stand the subset, and where that is not enough the condition or measure and condition, as in
``result.json``: ``share[c1:TT,excess:eps0]``. A diagnostic may stand in front; without it, a name is that of each
diagnostic that has such a quantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from embassay.errors import SpecError
from embassay.result import Comparison, Row, Verdict

Content = TypeVar("Content")
Key = tuple[str, str, str, str]
"""Quantity, subset, measure and condition."""


@dataclass(frozen=True)
class Named(Generic[Content]):
    """Something that belongs to a quantity of a diagnostic on a corpus.

    Attributes
    ----------
    is_headline
        Whether the quantity is the headline, which a short name means first.
    """

    diagnostic: str
    corpus: str
    key: Key
    content: Content
    is_headline: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the quantity answers to, the shortest first; without the diagnostic in front."""
        quantity, subset, measure, condition = self.key
        names = [f"{quantity}[{subset}]"]
        if subset == "all":
            names.insert(0, quantity)
        if condition:
            names.append(f"{quantity}[{subset},{condition}]")
        names.append(f"{quantity}[{subset},{measure},{condition}]")
        return tuple(names)

    def answers_to(self, name: str) -> bool:
        """Return whether a name is one of this quantity, with or without the diagnostic in front."""
        return name.removeprefix(f"{self.diagnostic}.") in self.names or name in self.names


def is_headline(record: Comparison | Row, verdict: Verdict) -> bool:
    """Return whether a row or comparison is about the quantity that a verdict ranks by."""
    key = (record.quantity, record.subset, record.condition)
    if key != (verdict.quantity, verdict.subset, verdict.condition):
        return False
    return verdict.measure in ("", record.measure)


def matching(name: str, named: Sequence[Named[Content]]) -> list[Named[Content]]:
    """Return everything that has a name, in all diagnostics and corpora; an empty list for an unknown name.

    Of several quantities of a diagnostic with one name, the headline is meant, or else the one without a condition.

    Raises
    ------
    SpecError
        If it is not clear which quantity is meant; the message lists the longer names.
    """
    hits = [one for one in named if one.answers_to(name)]
    matches = []
    for diagnostic in dict.fromkeys(one.diagnostic for one in hits):
        of_diagnostic = [one for one in hits if one.diagnostic == diagnostic]
        preferred = (
            [one for one in of_diagnostic if one.is_headline]
            or [one for one in of_diagnostic if not one.key[-1]]
            or of_diagnostic
        )
        if len({one.key for one in preferred}) > 1:
            longer = dict.fromkeys(one.names[-1] for one in preferred)
            raise SpecError(f"{diagnostic} has several quantities {name!r}; name one: {', '.join(longer)}")
        matches += preferred
    return matches


def shortest_name(one: Named[Content], named: Sequence[Named[Content]]) -> str:
    """Return the shortest name by which a quantity is found again among others."""
    of_diagnostic = [other for other in named if other.diagnostic == one.diagnostic]
    for name in one.names[:-1]:
        try:
            found = matching(name, of_diagnostic)
        except SpecError:
            continue
        if all(other.key == one.key for other in found):
            return name
    return one.names[-1]
