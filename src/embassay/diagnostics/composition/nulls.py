"""What a criterion would give by chance: the same samples, each with the target of another unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.randomness import generator

TRIES = 64
Ints = NDArray[np.int64]


def other_targets(
    targets: Sequence[str], unit: Ints, group: NDArray[np.str_], seed: int, *purpose: str, draws: Iterable[int]
) -> Ints:
    """Draw, for each sample, other samples of its group whose targets stand in for its own.

    Parameters
    ----------
    targets
        (n,) texts; an equal text is never taken.
    unit
        (n,) a sample of the same unit is never taken.
    group
        (n,) what kind of target it is, an operator for example.
    draws
        The numbers of the draws; each number has a random stream of its own, so further draws move none.

    Returns
    -------
    (n, draws) indices, −1 where no sample will do.
    """
    text = np.unique(np.asarray(targets), return_inverse=True)[1]
    members_of = [(name, np.flatnonzero(group == name)) for name in np.unique(group).tolist()]
    columns = []
    for number in draws:
        column = np.full(len(targets), -1)
        for name, members in members_of:
            column[members] = _drawn(members, text, unit, generator(seed, "null", name, f"draw {number}", *purpose))
        columns.append(column)
    return np.stack(columns, axis=1)


def _drawn(members: Ints, text: Ints, unit: Ints, stream: np.random.Generator) -> Ints:
    drawn = np.full(len(members), -1)
    for _ in range(TRIES):
        open_ = np.flatnonzero(drawn < 0)
        if not open_.size:
            return drawn
        chosen, own = members[stream.integers(0, len(members), size=len(open_))], members[open_]
        fits = (unit[chosen] != unit[own]) & (text[chosen] != text[own])
        drawn[open_[fits]] = chosen[fits]
    # Where hardly any sample fits, all that do are listed.
    for place in np.flatnonzero(drawn < 0):
        own = members[place]
        allowed = members[(unit[members] != unit[own]) & (text[members] != text[own])]
        if allowed.size:
            drawn[place] = allowed[stream.integers(0, len(allowed))]
    return drawn
