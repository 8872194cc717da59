"""The null of the criteria: the same samples, each with the target of another unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.randomness import generator

TRIES = 64
"""Rounds of drawing at random; what is missing then is drawn from a list of all that fit."""
Ints = NDArray[np.int64]


def other_targets(
    targets: Sequence[str], unit: Ints, group: NDArray[np.str_], seed: int, *purpose: str, draws: Iterable[int]
) -> Ints:
    """Draw, for each sample, other samples of its group whose targets replace its own.

    Parameters
    ----------
    targets
        (n,) texts; an equal text is never taken.
    unit
        (n,) a sample of the same unit is never taken.
    group
        (n,) the kind of target, an operator for example.
    draws
        The numbers of the draws. Each number has its own random stream, so further draws change none.

    Returns
    -------
    (n, draws) indices, −1 where no sample fits.
    """
    text = np.unique(np.asarray(targets), return_inverse=True)[1]
    members_of = {name: np.flatnonzero(group == name) for name in np.unique(group).tolist()}
    columns = list[Ints]()
    for number in draws:
        column = np.full(len(targets), -1)
        for name, members in members_of.items():
            stream = generator(seed, "null", name, f"draw {number}", *purpose)
            column[members] = _draw(members, text, unit, stream)
        columns.append(column)
    return np.stack(columns, axis=1)


def _draw(members: Ints, text: Ints, unit: Ints, stream: np.random.Generator) -> Ints:
    """Return for each member another one of different unit and text, −1 where there is none."""
    drawn = np.full(len(members), -1)
    for _ in range(TRIES):
        missing = np.flatnonzero(drawn < 0)
        if not missing.size:
            return drawn
        samples = members[missing]
        others = members[stream.integers(0, len(members), size=len(missing))]
        fits = (unit[others] != unit[samples]) & (text[others] != text[samples])
        drawn[missing[fits]] = others[fits]
    # Hardly any member fits: list those that do.
    for place in np.flatnonzero(drawn < 0):
        sample = members[place]
        fitting = members[(unit[members] != unit[sample]) & (text[members] != text[sample])]
        if fitting.size:
            drawn[place] = fitting[stream.integers(0, len(fitting))]
    return drawn
