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

SCATTERED = 4
"""Scores of a group lie apart: to look at those of one takes as long as at so many in a line."""
NONE = (np.empty(0, np.int64), np.empty(0, np.int64))


def tally(lane: Lane, product: Product, block: Block) -> None:
    """Count the documents of a block that are nearer than those asked about."""
    error, maxima, asked = block.bound.most(lane.queries), product.maxima(), np.diff(lane.begin)
    least = np.where(lane.given_up, np.inf, lane.floor - error)
    groups = np.count_nonzero(maxima >= down(least, maxima.dtype)[:, None], axis=1)
    few = groups * (SCATTERED + asked) <= maxima.shape[1]
    if (groups[few] > 0).any():
        _tally_few(lane, product, np.where(few, least, np.inf), error, block)
    many = np.flatnonzero(~few)
    for rows, work in ((many[asked[many] == 1], _tally_singles), (many[asked[many] > 1], _tally_others)):
        for start in range(0, len(rows), LINES):
            part = rows[start : start + LINES]
            work(lane, part, error[part], product.lines(part), block)


def _tally_few(lane: Lane, product: Product, least: Floats, error: Floats, block: Block) -> None:
    """Count for rows that few groups of scores matter to: by these alone."""
    sides = [_sides(lane, error, *part) for part in product.reaching(least)]
    over, inside = (tuple(np.concatenate(a) for a in zip(*side, strict=True)) for side in zip(*sides, strict=True))
    (nearer, beside), (row, at, column) = over, inside
    kept = np.ones(len(at), np.bool_)
    if block.starts is not None:
        # Several passages of a document count once; where one is surely nearer the others do not matter.
        surely = np.unique(_of_document(nearer, beside, block.starts))
        kept = ~np.isin(_of_document(at, column, block.starts), surely)
        nearer, document = np.divmod(surely, len(block.starts))
        cut = np.isin(document, block.cut)
        _mark(lane, lane.pairs[nearer[cut]], block.first + document[cut])
        nearer = nearer[~cut]
    block.answer.greater[lane.pairs] += np.bincount(nearer, minlength=len(lane.pairs))
    kept &= _allow(lane, np.arange(len(lane.ids)), np.bincount(row[kept], minlength=len(lane.ids)))[row]
    lane.unsure.append((lane.pairs[at[kept]], block.start + column[kept]))


def _sides(
    lane: Lane, error: Floats, row: Ints, column: Ints, score: Floats
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints, Ints]]:
    """Compare scores with the pairs that their rows ask about: (pair, column) above, (row, pair, column) inside."""
    which, at = lane.asked_of(row)
    row, column, score = row[which], column[which], score[which]
    over = score > lane.own[at] + error[row]
    inside = ~over & (score >= lane.own[at] - error[row])
    return (at[over], column[over]), (row[inside], at[inside], column[inside])


def _of_document(pair: Ints, column: Ints, starts: Ints) -> Ints:
    """Return a number for each pair and document of a block."""
    return np.asarray(pair * len(starts) + np.searchsorted(starts, column, side="right") - 1)


def _tally_singles(lane: Lane, rows: Ints, error: Floats, lines: NDArray[Any], block: Block) -> None:
    """Count for rows of one pair each."""
    scores, pairs, own = block.of_documents(lines), lane.pairs[lane.begin[rows]], lane.floor[rows]
    low, high = down(own - error, lines.dtype)[:, None], -down(-own - error, lines.dtype)[:, None]
    over, reached = scores > high, scores >= low
    above = _true(over)
    more = _true(reached) - above
    for at in block.cut:
        above -= over[:, at]
        _mark(lane, pairs[over[:, at]], np.full(int(over[:, at].sum()), block.first + at))
    block.answer.greater[pairs] += above
    kept = np.flatnonzero(_allow(lane, rows, more) & (more > 0))
    inside = reached[kept] & ~over[kept]
    if block.starts is None:
        # numpy finds what is true in one long row much faster than in many.
        which, column = np.divmod(np.flatnonzero(inside), inside.shape[1])
        lane.unsure.append((pairs[kept[which]], block.start + column))
        return
    for i in kept:
        _leave(lane, pairs[i : i + 1], block, lines[i], scores[i], low[i], high[i])


def _tally_others(lane: Lane, rows: Ints, error: Floats, lines: NDArray[Any], block: Block) -> None:
    """Count for rows of several pairs each."""
    for i, (row, line, scores) in enumerate(zip(rows, lines, block.of_documents(lines), strict=True)):
        asked = slice(lane.begin[row], lane.begin[row + 1])
        pairs, own = lane.pairs[asked], lane.own[asked]
        low, high = down(own - error[i], lines.dtype), -down(-own - error[i], lines.dtype)
        above, least = count(scores, low, high)
        if _allow(lane, rows[i : i + 1], (least - above).sum(keepdims=True)).all() and (least > above).any():
            _leave(lane, pairs, block, line, scores, low, high)
        for at in block.cut:
            over = scores[at] > high
            above -= over
            _mark(lane, pairs[over], np.full(int(over.sum()), block.first + at))
        block.answer.greater[pairs] += above


def _true(mask: NDArray[np.bool_]) -> Ints:
    """Return how many are true in each row."""
    whole = mask.shape[1] // 8 * 8
    if not whole or not mask.flags.c_contiguous:
        return np.asarray(np.count_nonzero(mask, axis=1), dtype=np.int64)
    # Eight at a time: numpy's own count is ten times slower along an axis.
    eights = np.ascontiguousarray(mask[:, :whole]).view(np.uint64)
    return np.asarray(np.bitwise_count(eights).sum(axis=1, dtype=np.int64) + mask[:, whole:].sum(axis=1))


def _allow(lane: Lane, rows: Ints, more: Ints) -> NDArray[np.bool_]:
    """Say which rows may leave so many more open; give up those that may not."""
    lane.left[rows] += more
    asked = lane.begin[rows + 1] - lane.begin[rows]
    lane.given_up[rows] |= lane.left[rows] > CROWD + 4 * asked
    return ~lane.given_up[rows]


def _mark(lane: Lane, pairs: Ints, documents: Ints) -> None:
    """Remember documents that are surely nearer; another block may say so again."""
    lane.surely.append((pairs, documents))


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
