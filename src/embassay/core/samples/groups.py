"""Groups of sentences with the same meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embassay.core.samples.base import Sample, Text, Words


@dataclass(frozen=True)
class Grouped(Sample):
    """A sentence of a group with the same meaning (shape ``groups``).

    Attributes
    ----------
    group
        The key of its group, which is also its unit of independence.

    Examples
    --------
    >>> ea.Grouped("1", "It rained.", "weather").group
    'weather'
    """

    text: Words
    group: Words

    def texts(self) -> tuple[Text, ...]:
        """Return the sentence as a plain text."""
        return (("text", self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the sentence and the name of its group."""
        return {"sentence": self.text, "group": self.group}


def closure(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return the group of each sentence of a pair, named after the smallest of its sentences.

    Groups are the connected components of the pairs, their symmetric and transitive closure (White et al. 2015,
    section 4.1). Repeated pairs, and pairs of a sentence with itself, are ignored.

    Parameters
    ----------
    pairs
        Numbers of sentences with the same meaning, at least 0.

    Returns
    -------
    The number of the group by the number of the sentence, ascending.
    """
    from scipy.cluster.hierarchy import DisjointSet

    sets = DisjointSet()
    for first, second in pairs:
        sets.add(first)
        sets.add(second)
        sets.merge(first, second)
    smallest = dict[int, int]()
    # In ascending order, so the first sentence of a group is its smallest.
    return {number: smallest.setdefault(sets[number], number) for number in sorted(sets)}
