"""How long the exact search for one question takes."""

from __future__ import annotations

from statistics import median
from timeit import repeat
from typing import Any

from scipy.sparse import issparse

from embassay.search.exact.exact import multiply


def search_milliseconds(queries: Any, passages: Any) -> float:
    """Return the median time in which one of (q, d) queries is compared with all (p, d) passages.

    It is one product in memory; of sparse vectors only the columns of the question's words are read, as in an inverted
    index. The search of many questions prepares all passages first, which takes many times as long as one question.
    """
    if issparse(passages):
        passages = passages.tocsc()
    rows = iter(range(queries.shape[0]))
    seconds = repeat(lambda: multiply(queries[[next(rows)]], passages).argmax(), number=1, repeat=queries.shape[0])
    return 1000 * median(seconds)
