"""Which texts may go through a model together: those that do not change each other's vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]


def groups(ids: Sequence[Ids], alike: bool, border: int | None) -> Iterator[list[int]]:
    """Yield places of tokenised texts that go together, the shortest first.

    Parameters
    ----------
    alike
        Only texts of the same length go together.
    border
        Texts of up to so many tokens and longer ones do not; None for no such border.
    """
    order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
    if not alike and border is None:
        yield order
        return
    for _, same in groupby(order, key=lambda n: len(ids[n]) if alike else len(ids[n]) > (border or 0)):
        yield list(same)


def border_of(config: Any) -> int | None:
    """Return after how many tokens a model turns every position of a batch otherwise; None where it never does.

    LongRoPE (Ding et al. 2024), as Phi-3 has it, takes other frequencies for a batch whose longest text is longer than
    those of its first training: short texts in it would change.
    """
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    found = [
        part.get("original_max_position_embeddings") or getattr(config, "original_max_position_embeddings", None)
        for part in (rope, *rope.values())
        if isinstance(part, Mapping) and "longrope" in (part.get("rope_type"), part.get("type"))
    ]
    return min((int(n) for n in found if n), default=None)
