"""One pass over the passages with a fast product: which can be among the k nearest, and how many are nearer.

Blocks of passages outside, blocks of queries inside. Each query keeps a bar: k documents are known to be at least as
near as that. What is surely below the bar is dropped; all else is kept with the interval that its similarity is in.
Where documents are counted, those surely above or below are counted by their scores, the others are kept. What is
kept is computed again in float64. A query that would have to keep too much is given up: it needs a better product.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_count import resolve, tally
from embassay.engine._topk_lanes import CROWD, LINES, Block, Lane, lane_of
from embassay.engine._topk_products import Product, down
from embassay.engine._topk_task import Answer, Floats, Ints, new_runs
from embassay.engine.cores import side_by_side

WAITING = 200_000
"""Candidates that are merged at the latest."""


def scan(answer: Answer, product: Product, ids: Ints) -> Ints:
    """Settle queries by one pass of a product; return those that it cannot settle.

    The lanes are shared among the members of the product's crew: each has queries, scores and a thread of its own.
    """
    task, crew = answer.task, product.crew(len(ids))
    # As many lanes for each member of the crew, and no larger ones than there is room for.
    rounds = -(-len(ids) // (product.data.sizes.queries * len(crew)))
    size = -(-len(ids) // max(rounds * len(crew), 1))
    lanes = [lane_of(answer, ids, start, size) for start in range(0, len(ids), size)]
    alive = np.zeros(task.documents, dtype=np.bool_)
    total, step = task.passages.shape[0], product.data.sizes.passages
    with side_by_side(len(crew)) as each:
        if total:
            product.data.begin(0)
            each(product.data.fill)
        for start in range(0, total, step):
            bound = product.turn()
            if bound is None:
                return ids
            block = Block.at(answer, start, step, bound)
            alive[task.document(start + np.flatnonzero(product.data.now.shown))] = True
            more = start + step < total
            if more:
                product.data.begin(start + step)
            each(partial(_meet, lanes, crew, block, more))
            if all(lane.given_up.all() for lane in lanes):
                return ids
        left = each(lambda n, of: [_finish(answer, lane, alive) for lane in lanes[n::of]])
    return np.sort(np.concatenate([ids[:0], *(part for parts in left for part in parts)]))


def _meet(lanes: Sequence[Lane], crew: Sequence[Product], block: Block, more: bool, member: int, of: int) -> None:
    """Look in a block for what the queries of one member's lanes want; fill in a part of the next one.

    Every other member fills in first, so that they do not get into each other's way.
    """
    if more and member % 2:
        crew[member].data.fill(member, of)
    for lane in lanes[member::of]:
        crew[member].multiply(lane.queries)
        _select(lane, crew[member], block)
        if len(lane.pairs):
            tally(lane, crew[member], block)
    if more and not member % 2:
        crew[member].data.fill(member, of)


def _select(lane: Lane, product: Product, block: Block) -> None:
    """Keep the passages of a block that may be among the k nearest."""
    k, error, seen = block.answer.task.k, block.bound.most(lane.queries), np.zeros(len(lane.ids), np.int64)
    lane.given_up |= block.bound.blind(lane.queries, lane.bar)
    raised = not block.bound.coarse and _raise(lane, product, block, error)
    for row, column, score in product.reaching(np.where(lane.given_up, np.inf, lane.bar - error)):
        if block.bound.coarse:
            seen += np.bincount(row, minlength=len(seen))
            lane.given_up |= seen > CROWD + 4 * k
        _keep(lane, product, block, row, column, score)
        if sum(len(w[0]) for w in lane.waiting) > WAITING:
            _compact(lane, block.answer)
    if raised or sum(len(w[0]) for w in lane.waiting) > len(lane.ids) * k // 2:
        _compact(lane, block.answer)


def _raise(lane: Lane, product: Product, block: Block, error: Floats) -> bool:
    """Raise the bars that too much reaches to what k documents of this block alone reach; say whether there were any.

    A query is given up whose bar is still reached too often.
    """
    k, maxima = block.answer.task.k, product.maxima()
    hit = maxima >= down(lane.bar - error, maxima.dtype)[:, None]
    counts = np.count_nonzero(hit, axis=1)
    rows = np.flatnonzero(((counts > 4 * k) | (np.isneginf(lane.bar) & (counts > 0))) & ~lane.given_up)
    if not rows.size:
        return False
    if block.starts is None and 2 * k <= maxima.shape[1]:
        # The members of different groups are different documents: their maxima do for all scores.
        lane.bar[rows] = np.fmax(lane.bar[rows], np.partition(maxima[rows], -k, axis=1)[:, -k] - error[rows])
    elif k <= (block.size if block.starts is None else len(block.starts)):
        for start in range(0, len(rows), LINES):
            part = rows[start : start + LINES]
            top = np.partition(block.of_documents(product.lines(part)), -k, axis=1)[:, -k]
            lane.bar[part] = np.fmax(lane.bar[part], top - error[part])
    left = np.count_nonzero(maxima[rows] >= down(lane.bar - error, maxima.dtype)[rows, None], axis=1)
    lane.given_up[rows] |= left > CROWD + 4 * k
    return True


def _keep(lane: Lane, product: Product, block: Block, row: Ints, column: Ints, score: Floats) -> None:
    """Put what surely reaches no bar aside, and the rest on the waiting list; coarse scores are looked at again."""
    error = block.bound.of(lane.queries.start + row, column)
    for better in (False, True):
        if better:
            found = product.again(lane.queries.start + row, column)
            if found is None:
                break
            score, error = found
        # What is not a number is kept, and shows in the end.
        kept = ~((score + error < lane.bar[row]) | np.isneginf(score) | lane.given_up[row])
        row, column, score, error = row[kept], column[kept], score[kept], error[kept]
    lane.waiting.append((row, block.start + column, score - error, score + error))


def _compact(lane: Lane, answer: Answer) -> None:
    """Merge the waiting candidates, raise the bars, drop what is below them."""
    row, passage, low, high = map(np.concatenate, zip(lane.kept, *lane.waiting, strict=True))
    lane.waiting.clear()
    best, first = low, np.arange(len(row))
    if answer.task.starts is not None:
        document = answer.task.document(passage)
        order = np.lexsort((-low, document, row))
        row, passage, low, high, document = (a[order] for a in (row, passage, low, high, document))
        new = new_runs(row, document)
        first = np.flatnonzero(new)
        best = low[first][np.cumsum(new) - 1]
    order = first[np.lexsort((-low[first], row[first]))]
    begin = np.searchsorted(row[order], np.arange(len(lane.ids) + 1))
    full = np.flatnonzero(np.diff(begin) >= answer.task.k)
    lane.bar[full] = np.fmax(lane.bar[full], low[order[begin[full] + answer.task.k - 1]])
    kept = ~((high < lane.bar[row]) | (high < best) | lane.given_up[row])
    lane.given_up |= np.bincount(row[kept], minlength=len(lane.ids)) > CROWD + 4 * answer.task.k
    kept &= ~lane.given_up[row]
    lane.kept = tuple(a[kept] for a in (row, passage, low, high))


def _finish(answer: Answer, lane: Lane, alive: NDArray[np.bool_]) -> Ints:
    """Compute what was kept in float64, and fill in the answer; return the queries that were given up."""
    _compact(lane, answer)
    row, passage, low, high = lane.kept
    query = lane.ids[row]
    value = answer.task.similarity(query, passage)
    ratio = value if answer.task.measure == "cosine" else value / np.sqrt(answer.task.squares[query])
    if not ((ratio >= low) & (ratio <= high)).all():
        # The product breaks its bound, so nothing that it says can be trusted: some chips multiply in less
        # precision than they are asked to.
        return lane.ids
    answer.place(query, passage, value)
    resolve(answer, lane)
    defined = int(np.count_nonzero(alive))
    answer.greater[lane.lost] = defined or -1
    answer.tied[lane.lost] = len(alive) - defined if defined else -1
    return lane.ids[lane.given_up]
