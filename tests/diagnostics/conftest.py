"""The search of retrieval and shift, written down naively: every pair one by one in float64."""

from dataclasses import replace

import numpy as np
import pytest

from embassay.core.vectors import Neighbours
from embassay.stats.geometry.closeness import paired


def matrix_of(queries, passages, similarity_function, starts):
    """The similarity of every query to every document, and the row of the document's nearest passage."""
    total = passages.shape[0]
    ends = np.append(starts[1:], total)
    matrix = np.full((queries.shape[0], len(starts)), np.nan)
    best = np.full(matrix.shape, -1)
    for q in range(queries.shape[0]):
        every = paired(queries[[q] * total], passages, [similarity_function])[similarity_function]
        for d, (a, b) in enumerate(zip(starts, ends, strict=True)):
            if not np.isnan(every[a:b]).all():
                matrix[q, d], best[q, d] = np.nanmax(every[a:b]), a + np.nanargmax(every[a:b])
    return matrix, best


def search(queries, passages, *, k, similarity_function, starts=None, pairs=None):
    """See ``types.Search``."""
    matrix, best = matrix_of(
        queries, passages, similarity_function, np.arange(passages.shape[0]) if starts is None else starts
    )
    documents, rows = np.full((len(matrix), k), -1), np.full((len(matrix), k), -1)
    similarity = np.full((len(matrix), k), np.nan)
    for q, line in enumerate(matrix):
        order = sorted(np.flatnonzero(~np.isnan(line)), key=lambda d: (-line[d], d))
        for place, d in enumerate(order[:k]):
            documents[q, place], rows[q, place], similarity[q, place] = d, best[q, d], line[d]
    places = [_place(matrix[q], d) for q, d in (() if pairs is None else pairs)]
    own, greater, tied = zip(*places, strict=True) if places else ((), (), ())
    whole = [np.array(x, dtype=np.int64) for x in (greater, tied)]
    own_rows = np.array([best[q, d] for q, d in (() if pairs is None else pairs)], dtype=np.int64)
    return Neighbours(documents, rows, similarity, np.array(own, dtype=np.float64), own_rows, *whole)


def _place(line, document):
    """The similarity of one document, how many are nearer, and how many as near."""
    own = line[document]
    if np.isnan(line).all():
        return own, -1, -1
    if np.isnan(own):
        return own, int((~np.isnan(line)).sum()), int(np.isnan(line).sum())
    return own, int((line > own).sum()), int((line == own).sum())


def of_pools(rows):
    """The rows whose limits rest on the other encoders."""
    return [row for row in rows if "|pool:" in row.signature]


@pytest.fixture(scope="session")
def assert_same_but_for_pools():
    """Check that rows are the same, but for limits that rest on the other encoders; these move with the pool only."""

    def check(rows, others):
        rows, others = list(rows), list(others)
        assert len(rows) == len(others)
        moved = of_pools(rows) + of_pools(others)
        keys = {(r.encoder, r.metric, r.subset, r.condition, r.similarity_function) for r in moved}
        for one, other in zip(rows, others, strict=True):
            key = (one.encoder, one.metric, one.subset, one.condition, one.similarity_function)
            if key in keys:
                ends = {"low": None, "high": None, "signature": "", "interval": ""}
                assert replace(one, **ends) == replace(other, **ends)
                assert (one.low is None) is (other.low is None)
            else:
                assert one == other
        assert moved, "nothing rests on the others: the check has no point"

    return check


@pytest.fixture(scope="session")
def naive_search():
    """A search that compares every pair, one by one."""
    return search
