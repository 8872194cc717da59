"""Drawing queries or passages evenly over their units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from embassay.core.grouping import grouped
from embassay.core.randomness import generator

T = TypeVar("T")


def evenly(items: Sequence[T], unit_of: Callable[[T], str], count: int | None, seed: int, purpose: str) -> list[T]:
    """Draw ``count`` items, evenly over the units, and return them in order; all if there are no more than ``count``.

    Parameters
    ----------
    unit_of
        Returns the unit of an item.
    purpose
        Names the random stream.
    """
    if count is None or count >= len(items):
        return list(items)
    permuted = generator(seed, "builders", "retrieval", purpose).permutation(len(items)).tolist()
    places_of_unit = grouped(permuted, lambda place: unit_of(items[place]))
    # One of each unit, then a second of each, and so on; None where a unit has no more.
    rounds = chain.from_iterable(zip_longest(*places_of_unit.values()))
    order = [place for place in rounds if place is not None]
    return [items[place] for place in sorted(order[:count])]
