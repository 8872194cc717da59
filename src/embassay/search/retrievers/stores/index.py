"""What a vector store needs to know, and what it gives: a function that asks for the nearest rows of one question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from embassay.core.vectors import Indices, Similarity

Rows = NDArray[np.float32]
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "hnsw": ("m", "ef_construction", "ef_search"),
    "ivf": ("lists", "probes"),
    "ivf_pq": ("lists", "probes"),
    "none": (),
}
"""By index, the numbers that it has; ``none`` compares all rows."""


@dataclass(frozen=True)
class Collection:
    """The rows that a store is to hold, and the index over them.

    Attributes
    ----------
    rows
        (n, d) float32; without zero vectors where they are compared by cosine.
    similarity
        How a query is compared with them.
    index
        One of ``NUMBERS``.
    numbers
        Those that were set; the others are the store's own.
    """

    rows: Rows
    similarity: Similarity
    index: str
    numbers: Mapping[str, int]


Numbers: TypeAlias = Mapping[str, int]
"""What an open index is set to, as far as that is known."""
Nearest: TypeAlias = tuple[Indices, NDArray[np.float64]]
"""The places of rows in ``Collection.rows``, the nearest first, and their similarities."""
Ask: TypeAlias = Callable[[Rows, int], Nearest]
"""Takes a (d,) query, which is not zero where it is compared by cosine, and how many rows are asked for at most.

Returns the places of so many in ``Collection.rows``, the nearest first, and their similarities.
"""
