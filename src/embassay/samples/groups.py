"""Sentences in groups that mean one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from embassay.samples.base import Role


@dataclass(frozen=True)
class Grouped:
    """A sentence of a group that means one thing (shape ``groups``).

    Attributes
    ----------
    group
        The key of its group, which is also its unit of independence.
    """

    id: str
    text: str
    group: str

    @property
    def unit(self) -> str:
        """Its group; groups that share a sentence are merged by :func:`independent_units`."""
        return self.group

    def texts(self) -> tuple[tuple[Role, str], ...]:
        """Return the sentence as a plain text."""
        return (("text", self.text),)

    def fields(self) -> Mapping[str, str]:
        """Return the sentence and the name of its group."""
        return {"sentence": self.text, "group": self.group}


def closure(pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return the group of each sentence of a pair, named after the smallest of its sentences.

    Groups are the connected components of the pairs, their symmetric and transitive closure (White et al. 2015,
    section 4.1). A pair that stands twice, or joins a sentence with itself, adds nothing.

    Parameters
    ----------
    pairs
        Numbers of sentences that mean the same, from 0 and below 2**63.

    Returns
    -------
    The number of the group by the number of the sentence, ascending.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not pairs:
        return {}
    numbers, places = np.unique(np.array(pairs, dtype=np.int64), return_inverse=True)
    first, second = places.reshape(-1, 2).T
    shape = (len(numbers), len(numbers))
    graph = coo_array((np.ones(len(first), dtype=np.int32), (first, second)), shape=shape)
    _, component = connected_components(graph, directed=False)
    # The numbers ascend, so the first of a component is its smallest.
    _, first = np.unique(component, return_index=True)
    group = numbers[first][component]
    return dict(zip(numbers.tolist(), group.tolist(), strict=True))
