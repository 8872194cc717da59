"""The search of retrieval, written down naively: every pair one by one in float64."""

import numpy as np

from embassay.geometry.closeness import paired
from embassay.types import Found


def search(queries, passages, *, k, measure, starts=None, pairs=None, route="auto"):
    """See ``types.Search``."""
    n, total = queries.shape[0], passages.shape[0]
    starts = np.arange(total) if starts is None else starts
    ends = np.append(starts[1:], total)
    matrix = np.empty((n, len(starts)))
    best = np.empty((n, len(starts)), dtype=np.int64)
    for q in range(n):
        every = paired(queries[[q] * total], passages, [measure])[measure]
        for d, (a, b) in enumerate(zip(starts, ends, strict=True)):
            values = every[a:b]
            matrix[q, d] = np.nanmax(values) if not np.isnan(values).all() else np.nan
            best[q, d] = a + np.nanargmax(values) if not np.isnan(values).all() else -1
    documents = np.full((n, k), -1)
    rows = np.full((n, k), -1)
    similarity = np.full((n, k), np.nan)
    for q in range(n):
        order = sorted((d for d in range(len(starts)) if not np.isnan(matrix[q, d])), key=lambda d: (-matrix[q, d], d))
        for place, d in enumerate(order[:k]):
            documents[q, place], rows[q, place], similarity[q, place] = d, best[q, d], matrix[q, d]
    own, greater, tied = [], [], []
    for q, d in np.zeros((0, 2), dtype=int) if pairs is None else pairs:
        line, mine = matrix[q], matrix[q, d]
        own.append(mine)
        if np.isnan(line).all():
            greater.append(-1)
            tied.append(-1)
        elif np.isnan(mine):
            greater.append(int((~np.isnan(line)).sum()))
            tied.append(int(np.isnan(line).sum()))
        else:
            greater.append(int((line > mine).sum()))
            tied.append(int((line == mine).sum()))
    whole = [np.array(x, dtype=np.int64) for x in (greater, tied)]
    return Found(documents, rows, similarity, np.array(own, dtype=np.float64), *whole, route="naive")
