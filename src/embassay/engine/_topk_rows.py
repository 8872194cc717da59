"""All similarities of a query at once: for sparse vectors, and for queries that a fast product cannot settle.

Dense vectors get the float64 similarities themselves. Sparse ones go through one sparse product, whose sums are in
another order than those that decide; so what is within its rounding of a decision is computed again. A similarity
of exactly 0, because nothing is shared, needs no second look: most pairs of bags of words are like that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_task import ONE_BY_ONE, Answer, Floats, Ints, Task, count
from embassay.geometry.closeness import cosine_of, dense_blocks, paired_dot

ROOM = 2_000_000
"""Similarities held at once."""


def settle(answer: Answer, ids: Ints) -> None:
    """Work out some queries whole."""
    step = max(1, ROOM // max(answer.task.passages.shape[0], 1))
    blocks = _sparse(answer.task, ids, step) if answer.task.sparse else _dense(answer.task, ids, step)
    for queries, scores, errors in blocks:
        rows = [_Row.of(answer, query, row) for query, row in zip(queries.tolist(), scores, strict=True)]
        rows = [row for row in rows if len(row.defined)]
        _make_sure(answer.task, rows, dict(zip(queries.tolist(), errors.tolist(), strict=True)))
        _fill_in(answer, rows)


@dataclass
class _Row:
    """One query: its documents that have a similarity, the scores of these, and the pairs that ask about it."""

    query: int
    defined: Ints
    value: Floats
    pairs: Ints
    own: Floats
    k: int

    @classmethod
    def of(cls, answer: Answer, query: int, scores: Floats) -> _Row:
        """Take (P,) scores, NaN where undefined; settle the pairs whose document has no similarity."""
        task, pairs = answer.task, answer.pairs_of(query)
        best = scores if task.starts is None else np.fmax.reduceat(scores, task.starts)
        defined = np.flatnonzero(~np.isnan(best))
        own = answer.own[pairs]
        lost = np.isnan(own) | (len(defined) == 0)
        answer.greater[pairs[lost]] = len(defined) or -1
        answer.tied[pairs[lost]] = task.documents - len(defined) if len(defined) else -1
        return cls(query, defined, best[defined], pairs[~lost], own[~lost], min(task.k, len(defined)))


def _make_sure(task: Task, rows: list[_Row], errors: Mapping[int, float]) -> None:
    """Compute in float64 what scores that are off by at most ``errors`` leave open; a score of 0 is exactly that."""
    open_still = [
        np.flatnonzero(_unsure(row.value, row.own, row.k, errors[row.query]) & (row.value != 0))
        if errors[row.query]
        else np.empty(0, np.int64)
        for row in rows
    ]
    sizes = [len(places) for places in open_still]
    if not sum(sizes):
        return
    documents = np.concatenate([row.defined[places] for row, places in zip(rows, open_still, strict=True)])
    values = task.of_documents(np.repeat([row.query for row in rows], sizes), documents)
    for row, places, value in zip(rows, open_still, np.split(values, np.cumsum(sizes)[:-1]), strict=True):
        row.value[places] = value


def _fill_in(answer: Answer, rows: list[_Row]) -> None:
    """Place the nearest documents, and count those nearer than the ones asked about."""
    if not rows:
        return
    task, nearest = answer.task, []
    for row in rows:
        bar = np.partition(row.value, len(row.value) - row.k)[len(row.value) - row.k]
        # Of documents exactly at the bar the first k are enough: they may be all there are.
        near = np.concatenate([row.defined[row.value > bar], row.defined[row.value == bar][: row.k]])
        nearest.append(task.rows(near)[0])
        if len(row.pairs):
            above, least = count(row.value, row.own, row.own)
            answer.greater[row.pairs], answer.tied[row.pairs] = above, least - above
    queries = np.repeat([row.query for row in rows], [len(passages) for passages in nearest])
    passages = np.concatenate(nearest)
    answer.place(queries, passages, task.similarity(queries, passages))


def _unsure(value: Floats, own: Floats, k: int, error: float) -> NDArray[np.bool_]:
    """Say which documents may be among the k nearest, or as near as one that is asked about, but for rounding."""
    unsure = value >= np.partition(value, len(value) - k)[len(value) - k] - 2 * error
    if len(own) <= ONE_BY_ONE:
        for each in own:
            unsure |= np.abs(value - each) <= error
        return np.asarray(unsure)
    order = np.argsort(value)
    opened = np.zeros(len(value) + 1, dtype=np.int64)
    np.add.at(opened, np.searchsorted(value, own - error, side="left", sorter=order), 1)
    np.add.at(opened, np.searchsorted(value, own + error, side="right", sorter=order), -1)
    unsure[order] |= np.cumsum(opened)[:-1] > 0
    return np.asarray(unsure)


def _dense(task: Task, ids: Ints, step: int) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Yield blocks of queries with their (b, P) similarities, exactly those of ``paired_cosine`` or ``paired_dot``."""
    for start in range(0, len(ids), step):
        part = ids[start : start + step]
        queries = np.asarray(task.queries[part], dtype=np.float64, order="C")
        out = np.empty((len(part), task.passages.shape[0]))
        with np.errstate(all="ignore"):
            for rows, (block,) in dense_blocks(task.passages):
                product = np.empty_like(block)
                for i, query in enumerate(queries):
                    out[i, rows] = np.multiply(block, query, out=product).sum(axis=1)
                if task.measure == "cosine":
                    out[:, rows] = cosine_of(out[:, rows], task.squares[part, None], (block * block).sum(axis=1))
        yield part, out, np.zeros(len(part))


def _sparse(task: Task, ids: Ints, step: int) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Yield blocks of queries with their (b, P) similarities, up to rounding."""
    turned = task.passages.T.tocsr().astype(np.float64)
    squares = paired_dot(task.passages, task.passages)
    lengths = np.sqrt(squares)
    tiny = np.finfo(np.float64).tiny
    # Where signs differ, a passage of exactly 0 may hide another of its document that is 0 but for rounding.
    signed = task.starts is not None and min(m.data.min(initial=0) for m in (task.queries, task.passages)) < 0
    usual = (lengths == 0) | ((lengths > 1e-100) & (lengths < 1e100))
    longest = float(lengths.max(initial=0.0)) if usual.all() else np.inf
    for start in range(0, len(ids), step):
        part = ids[start : start + step]
        rows = task.queries[part].astype(np.float64)
        products = (rows @ turned).tocsr()
        # Something is shared here, and it cancels out but for rounding: no sure zero.
        products.data[products.data == 0] = tiny
        out, used = np.asarray(products.toarray()), np.diff(rows.indptr) > 0
        if signed:
            out[(out == 0) & used[:, None]] = tiny
        error = np.full(len(part), 2.0**-51 * (task.passages.shape[1] + 16))
        norms = np.sqrt(task.squares[part])
        if task.measure == "cosine":
            out = cosine_of(out, task.squares[part, None], squares)
        else:
            error = error * norms * (longest if np.isfinite(longest) else 1.0) + 2 * tiny
        error[~((norms > 1e-100) & (norms < 1e100) & np.isfinite(longest))] = np.inf
        error[~used] = 0.0
        yield part, out, error
