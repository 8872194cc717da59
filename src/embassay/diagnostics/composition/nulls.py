"""Null samples of the criteria: each sample keeps its A and B and gets the target of a sample of another unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from embassay.core.randomness import generator
from embassay.stats.units import Ints

TRIES = 64
"""Rounds of rejection sampling; samples still without a target then draw from the list of all that fit."""


def other_targets(
    targets: Sequence[str], unit: Ints, group: NDArray[np.str_], seed: int, *purpose: str, draws: Iterable[int]
) -> Ints:
    """Draw, for each sample, other samples of its group whose targets replace its own.

    Parameters
    ----------
    targets
        (n,) target texts; a sample with an equal target is never drawn.
    unit
        (n,) unit codes; a sample of the same unit is never drawn.
    group
        (n,) the kind of target, for example the operator; only samples of the same group are drawn.
    draws
        Numbers of the draws. Each has its own random stream, so more draws do not change the earlier ones.

    Returns
    -------
    (n, draws) indices of samples; −1 where no sample fits.
    """
    # Codes of the texts, which are compared faster than the texts themselves.
    _, text = np.unique(np.asarray(targets), return_inverse=True)
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
    """Draw, for each member, a member of another unit with another text; −1 where there is none."""
    drawn = np.full(len(members), -1)
    for _ in range(TRIES):
        missing = np.flatnonzero(drawn < 0)
        if not missing.size:
            return drawn
        samples = members[missing]
        others = members[stream.integers(0, len(members), size=len(missing))]
        fits = (unit[others] != unit[samples]) & (text[others] != text[samples])
        drawn[missing[fits]] = others[fits]
    # So few members fit that rejection sampling missed them; list them and draw one.
    for place in np.flatnonzero(drawn < 0):
        sample = members[place]
        fitting = members[(unit[members] != unit[sample]) & (text[members] != text[sample])]
        if fitting.size:
            drawn[place] = fitting[stream.integers(0, len(fitting))]
    return drawn
