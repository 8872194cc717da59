"""How many documents are nearer than a given one: counted by fast scores, computed where these leave it open.

For a document of similarity s, scores above s by more than their bound are of nearer documents, and those below it by
more are not. The rest are kept and computed in float64: the document itself, its equals, and few others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_lanes import CROWD, LINES, Block, Lane
from embassay.engine._topk_products import Product, down
from embassay.engine._topk_task import Answer, Floats, Ints, count, new_runs, spread, within

NONE = (np.empty(0, np.int64), np.empty(0, np.int64))


def tally(lane: Lane, product: Product, block: Block) -> None:
    """Count the documents of a block that are nearer than those asked about."""
    error, most = block.bound.most(lane.queries), product.maxima().max(axis=1)
    rows = np.flatnonzero((most >= lane.floor - 2 * error) & ~lane.given_up)
    single = lane.single[rows] >= 0
    for part, work in ((rows[single], _tally_singles), (rows[~single], _tally_others)):
        for start in range(0, len(part), LINES):
            some = part[start : start + LINES]
            work(lane, some, error, product.lines(some), block)


def _tally_singles(lane: Lane, rows: Ints, error: Floats, lines: NDArray[Any], block: Block) -> None:
    """Count for rows of one pair each."""
    scores, pairs = block.of_documents(lines), lane.single[rows]
    low = down(lane.floor[rows] - error[rows], lines.dtype)[:, None]
    high = -down(-lane.floor[rows] - error[rows], lines.dtype)[:, None]
    over, reached = scores > high, scores >= low
    above = _true(over)
    unclear = np.flatnonzero(_true(reached) > above)
    for at in block.cut:
        above -= over[:, at]
        _mark(lane, pairs[over[:, at]], block.first + at)
    block.answer.greater[pairs] += above
    inside = reached[unclear] & ~over[unclear]
    more = _true(inside).tolist()
    allowed = np.array([_allow(lane, int(rows[i]), n, 1) for i, n in zip(unclear, more, strict=True)], dtype=bool)
    if block.starts is None:
        # numpy finds what is true in one long row much faster than in many.
        which, column = np.divmod(np.flatnonzero(inside[allowed]), inside.shape[1])
        lane.unsure.append((pairs[unclear[allowed]][which], block.start + column))
        return
    for i in unclear[allowed]:
        _leave(lane, pairs[i : i + 1], block, lines[i], scores[i], low[i], high[i])


def _tally_others(lane: Lane, rows: Ints, error: Floats, lines: NDArray[Any], block: Block) -> None:
    """Count for rows of several pairs each."""
    for row, line, scores in zip(rows.tolist(), lines, block.of_documents(lines), strict=True):
        pairs, own = lane.asked[row]
        low, high = down(own - error[row], lines.dtype), -down(-own - error[row], lines.dtype)
        above, least = count(scores, low, high)
        if (least > above).any() and _allow(lane, row, int((least - above).sum()), len(pairs)):
            _leave(lane, pairs, block, line, scores, low, high)
        for at in block.cut:
            over = scores[at] > high
            above -= over
            _mark(lane, pairs[over], block.first + at)
        block.answer.greater[pairs] += above


def _true(mask: NDArray[np.bool_]) -> Ints:
    """Return how many are true in each row."""
    whole = mask.shape[1] // 8 * 8
    if not whole or not mask.flags.c_contiguous:
        return np.asarray(np.count_nonzero(mask, axis=1), dtype=np.int64)
    # Eight at a time: numpy's own count is ten times slower along an axis.
    eights = np.ascontiguousarray(mask[:, :whole]).view(np.uint64)
    return np.asarray(np.bitwise_count(eights).sum(axis=1, dtype=np.int64) + mask[:, whole:].sum(axis=1))


def _allow(lane: Lane, row: int, more: int, pairs: int) -> bool:
    """Say whether a row may leave so many more open; give it up if not."""
    lane.unsure_of[row] = lane.unsure_of.get(row, 0) + more
    lane.given_up[row] |= lane.unsure_of[row] > CROWD + 4 * pairs
    return not lane.given_up[row]


def _mark(lane: Lane, pairs: Ints, document: int) -> None:
    """Remember that a document is surely nearer; another block may say so again."""
    lane.surely.append((pairs, np.full(len(pairs), document)))


def _leave(
    lane: Lane,
    pairs: Ints,
    block: Block,
    line: NDArray[Any],
    scores: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
) -> None:
    """Leave the documents whose scores are inside an interval to be computed."""
    which, inside = within(scores, low, high)
    if block.starts is None:
        lane.unsure.append((pairs[which], block.start + inside))
        return
    sizes = np.diff(np.append(block.starts, block.size))[inside]
    columns, which = spread(block.starts[inside], sizes), np.repeat(which, sizes)
    # Passages below the interval cannot be as near, even if others of their document are.
    kept = line[columns] >= low[which]
    lane.unsure.append((pairs[which[kept]], block.start + columns[kept]))


def resolve(answer: Answer, lane: Lane) -> None:
    """Count the documents whose scores left it open whether they are nearer."""
    total = answer.task.documents
    surely = np.unique(np.concatenate([pair * total + document for pair, document in [*lane.surely, NONE]]))
    np.add.at(answer.greater, surely // total, 1)
    pair, passage = (np.concatenate(a) for a in zip(*lane.unsure, NONE, strict=True))
    query = answer.pairs[pair, 0]
    # Pairs of one query may leave the same passages open.
    keys, back = np.unique(query * answer.task.passages.shape[0] + passage, return_inverse=True)
    value = answer.task.similarity(*np.divmod(keys, answer.task.passages.shape[0]))[back]
    document = answer.task.document(passage)
    order = np.lexsort((-value, document, pair))
    order = order[new_runs(pair[order], document[order])]
    pair, document, value = pair[order], document[order], value[order]
    open_still = ~np.isin(pair * total + document, surely)
    pair, value = pair[open_still], value[open_still]
    np.add.at(answer.greater, pair[value > answer.own[pair]], 1)
    np.add.at(answer.tied, pair[value == answer.own[pair]], 1)
