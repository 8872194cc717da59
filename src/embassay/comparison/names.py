"""How users name a metric: ``Success@5``, ``accuracy[part_of_speech:noun]``, ``retrieval.Success@5``.

In brackets stand the subset, and where that is not enough the condition or similarity function and condition, as in
``result.json``: ``share[c1:TT,excess:eps0]``. A diagnostic may stand in front; without it, a name is that of each
diagnostic that has such a metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from embassay.errors import SpecError

Content = TypeVar("Content")
Key = tuple[str, str, str, str]
"""Metric, subset, similarity function and condition."""


@dataclass(frozen=True)
class Named(Generic[Content]):
    """Something that belongs to a metric of a diagnostic on a corpus.

    Attributes
    ----------
    is_headline
        Whether the metric is the headline, which a short name means first.
    """

    diagnostic: str
    corpus: str
    key: Key
    content: Content
    is_headline: bool = False

    @property
    def condition(self) -> str:
        """The condition in the key; may be empty."""
        return self.key[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the metric answers to, the shortest first; without the diagnostic in front."""
        metric, subset, similarity_function, condition = self.key
        names = [f"{metric}[{subset}]"]
        if subset == "all":
            names.insert(0, metric)
        if condition:
            names.append(f"{metric}[{subset},{condition}]")
        names.append(f"{metric}[{subset},{similarity_function},{condition}]")
        return tuple(names)

    def answers_to(self, name: str) -> bool:
        """Return whether a name is one of this metric, with or without the diagnostic in front."""
        return name.removeprefix(f"{self.diagnostic}.") in self.names or name in self.names


def matching(name: str, named: Sequence[Named[Content]]) -> list[Named[Content]]:
    """Return everything that has a name, in all diagnostics and corpora; an empty list for an unknown name.

    Of several metrics of a diagnostic with one name, the headline is meant, or else the one without a condition.

    Raises
    ------
    SpecError
        If it is not clear which metric is meant; the message lists the longer names.
    """
    by_diagnostic: dict[str, list[Named[Content]]] = {}
    for one in named:
        if one.answers_to(name):
            by_diagnostic.setdefault(one.diagnostic, []).append(one)
    matches = []
    for diagnostic, candidates in by_diagnostic.items():
        meant = _meant(candidates)
        if len({one.key for one in meant}) > 1:
            longest_names = dict.fromkeys(one.names[-1] for one in meant)
            raise SpecError(f"{diagnostic} has several metrics {name!r}; name one: {', '.join(longest_names)}")
        matches += meant
    return matches


def _meant(candidates: Sequence[Named[Content]]) -> list[Named[Content]]:
    """Return those that a name means: the headline, or else those without a condition, or else all."""
    headlines = [one for one in candidates if one.is_headline]
    if headlines:
        return headlines
    without_condition = [one for one in candidates if not one.condition]
    if without_condition:
        return without_condition
    return list(candidates)


def shortest_name(one: Named[Content], named: Sequence[Named[Content]]) -> str:
    """Return the shortest name that means a metric and no other one of its diagnostic."""
    of_diagnostic = [other for other in named if other.diagnostic == one.diagnostic]
    *shorter, longest = one.names
    for name in shorter:
        try:
            matches = matching(name, of_diagnostic)
        except SpecError:
            # The name is that of several metrics.
            continue
        if all(match.key == one.key for match in matches):
            return name
    # The longest name holds the whole key, so it is never that of two metrics.
    return longest
