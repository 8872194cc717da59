"""What a criterion would give by chance: the same samples, each with the target of another unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.randomness import generator

TRIES = 64


def other_targets(
    targets: Sequence[str], unit: NDArray[np.int64], group: NDArray[np.str_], seed: int, *purpose: str
) -> NDArray[np.int64]:
    """Draw, for each sample, another sample of its group whose target stands in for its own.

    Parameters
    ----------
    targets
        (n,) texts; an equal text is never taken.
    unit
        (n,) a sample of the same unit is never taken.
    group
        (n,) what kind of target it is, an operator for example.

    Returns
    -------
    (n,) indices, −1 where no sample will do.
    """
    text = np.unique(np.asarray(targets), return_inverse=True)[1]
    found = np.full(len(targets), -1)
    for name in np.unique(group).tolist():
        members = np.flatnonzero(group == name)
        found[members] = _drawn(members, text, unit, generator(seed, "null", name, *purpose))
    return found


def _drawn(
    members: NDArray[np.int64], text: NDArray[np.int64], unit: NDArray[np.int64], stream: np.random.Generator
) -> NDArray[np.int64]:
    drawn = np.full(len(members), -1)
    for _ in range(TRIES):
        open_ = np.flatnonzero(drawn < 0)
        if not open_.size:
            return drawn
        chosen, own = members[stream.integers(0, len(members), size=len(open_))], members[open_]
        fits = (unit[chosen] != unit[own]) & (text[chosen] != text[own])
        drawn[open_[fits]] = chosen[fits]
    for place in np.flatnonzero(drawn < 0):
        own = members[place]
        allowed = members[(unit[members] != unit[own]) & (text[members] != text[own])]
        if allowed.size:
            drawn[place] = allowed[stream.integers(0, len(allowed))]
    return drawn
