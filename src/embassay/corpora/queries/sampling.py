"""Drawing queries or passages evenly over their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from embassay.core.randomness import generator

T = TypeVar("T")


def evenly(items: Sequence[tuple[str, T]], count: int | None, seed: int, purpose: str) -> list[T]:
    """Draw ``count`` items, evenly over the units, and return them in order; all if there are no more than ``count``.

    Parameters
    ----------
    items
        (unit, item) of each.
    purpose
        Names the random stream.
    """
    if count is None or count >= len(items):
        return [item for _, item in items]
    shuffled = generator(seed, "builders", "retrieval", purpose).permutation(len(items)).tolist()
    # One of each unit, then a second of each, and so on.
    turns = dict[int, tuple[int, int]]()
    rounds = dict[str, int]()
    units = {unit: number for number, unit in enumerate(dict.fromkeys(items[place][0] for place in shuffled))}
    for place in shuffled:
        unit = items[place][0]
        rounds[unit] = rounds.get(unit, 0) + 1
        turns[place] = rounds[unit], units[unit]
    drawn = sorted(sorted(turns, key=turns.__getitem__)[:count])
    return [items[place][1] for place in drawn]
