"""All similarities of a query at once: for sparse vectors, and for queries that a fast product cannot settle.

Dense vectors get the float64 similarities themselves. Sparse ones go through one sparse product, whose sums are in
another order than those that decide; so what is within its rounding of a decision is computed again. A similarity
of exactly 0, because nothing is shared, needs no second look: most pairs of bags of words are like that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_task import FEW, Answer, Floats, Ints, Task, count
from embassay.geometry.closeness import dense_blocks, paired_dot

ROOM = 2_000_000
"""Similarities held at once."""


def settle(answer: Answer, ids: Ints) -> None:
    """Work out some queries whole."""
    step = max(1, ROOM // max(answer.task.passages.shape[0], 1))
    blocks = _sparse(answer.task, ids, step) if answer.task.sparse else _dense(answer.task, ids, step)
    for queries, scores, errors in blocks:
        for query, row, error in zip(queries.tolist(), scores, errors.tolist(), strict=True):
            _settle(answer, query, row, error)


def _settle(answer: Answer, query: int, scores: Floats, error: float) -> None:
    """Settle one query, given (P,) scores that are at most ``error`` from its similarities, NaN where undefined."""
    task, pairs = answer.task, answer.pairs_of(query)
    best = scores if task.starts is None else np.fmax.reduceat(scores, task.starts)
    defined = np.flatnonzero(~np.isnan(best))
    if not defined.size:
        answer.greater[pairs] = answer.tied[pairs] = -1
        return
    own = answer.own[pairs]
    lost = np.isnan(own)
    answer.greater[pairs[lost]] = len(defined)
    answer.tied[pairs[lost]] = task.documents - len(defined)
    pairs, own = pairs[~lost], own[~lost]
    value, k = best[defined], min(task.k, len(defined))
    if error:
        # A score of 0 is exactly that.
        unsure = np.flatnonzero(_unsure(value, own, k, error) & (value != 0))
        value[unsure] = task.of_documents(np.full(len(unsure), query), defined[unsure])
    bar = np.partition(value, len(value) - k)[len(value) - k]
    # Of documents exactly at the bar the first k are enough: they may be all there are.
    near = np.concatenate([defined[value > bar], defined[value == bar][:k]])
    rows, _ = task.rows(near)
    queries = np.full(len(rows), query)
    answer.place(queries, rows, task.similarity(queries, rows))
    if len(pairs):
        above, least = count(value, own, own)
        answer.greater[pairs], answer.tied[pairs] = above, least - above


def _unsure(value: Floats, own: Floats, k: int, error: float) -> NDArray[np.bool_]:
    """Say which documents may be among the k nearest, or as near as one that is asked about, but for rounding."""
    unsure = value >= np.partition(value, len(value) - k)[len(value) - k] - 2 * error
    if len(own) <= FEW:
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
                    out[:, rows] = _cosine(out[:, rows], task.squares[part], (block * block).sum(axis=1))
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
            out = _cosine(out, task.squares[part], squares)
        else:
            error = error * norms * (longest if np.isfinite(longest) else 1.0) + 2 * tiny
        error[~((norms > 1e-100) & (norms < 1e100) & np.isfinite(longest))] = np.inf
        error[~used] = 0.0
        yield part, out, error


def _cosine(dot: Floats, uu: Floats, vv: Floats) -> Floats:
    """Return (b, P) cosines; operation by operation what ``paired_cosine`` does."""
    with np.errstate(all="ignore"):
        cosine = dot / (np.sqrt(uu)[:, None] * np.sqrt(vv))
    return np.where(np.isfinite(cosine), np.clip(cosine, -1.0, 1.0), np.nan)
