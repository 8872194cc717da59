"""How many documents are nearer than a given one: counted by fast scores, computed where these leave it open.

For a document of similarity s, scores above s by more than their bound are of nearer documents, and those below it by
more are not. The rest are kept and computed in float64: the document itself, its equals, and few others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.engine._topk_lanes import CROWD, LINES, Block, Lane, down
from embassay.engine._topk_products import Product
from embassay.engine._topk_task import Answer, Floats, Ints, new_runs, places

NONE = (np.empty(0, np.int64), np.empty(0, np.int64))


def count(lane: Lane, product: Product, maxima: NDArray[Any], block: Block) -> None:
    """Count the documents of a block that are nearer than those asked about."""
    error, most = block.bound.most(lane.queries), maxima.max(axis=1)
    rows = np.flatnonzero((most >= lane.floor - 2 * error) & ~lane.given_up)
    if block.starts is None:
        single = lane.single[rows] >= 0
        for start in range(0, np.count_nonzero(single), LINES):
            _count_singles(lane, product, rows[single][start : start + LINES], error, block)
        rows = rows[~single]
    for start in range(0, len(rows), LINES):
        part = rows[start : start + LINES]
        for row, line in zip(part.tolist(), product.lines(part), strict=True):
            pairs, own = lane.asked[row]
            _count_row(lane, row, pairs, (own - error[row], own + error[row]), line, block)


def _count_singles(lane: Lane, product: Product, rows: Ints, error: Floats, block: Block) -> None:
    """Count for rows of one pair each, where every passage is a document."""
    lines, pairs = product.lines(rows), lane.single[rows]
    low = down(lane.floor[rows] - error[rows], lines.dtype)
    high = -down(-lane.floor[rows] - error[rows], lines.dtype)
    above, least = _true(lines > high[:, None]), _true(lines >= low[:, None])
    block.answer.greater[pairs] += above
    for i in np.flatnonzero(least > above):
        inside = np.flatnonzero((lines[i] >= low[i]) & (lines[i] <= high[i]))
        if _allow(lane, int(rows[i]), len(inside), 1):
            lane.unsure.append((np.full(len(inside), pairs[i]), block.start + inside))


def _true(mask: NDArray[np.bool_]) -> Ints:
    """Return how many are true in each row of a multiple of 8; numpy's own count is ten times slower along an axis."""
    return np.asarray(np.bitwise_count(mask.view(np.uint64)).sum(axis=1, dtype=np.int64))


def _allow(lane: Lane, row: int, more: int, pairs: int) -> bool:
    """Say whether a row may leave so many more open; give it up if not."""
    lane.unsure_of[row] = lane.unsure_of.get(row, 0) + more
    lane.given_up[row] |= lane.unsure_of[row] > CROWD + 4 * pairs
    return not lane.given_up[row]


def _count_row(
    lane: Lane, row: int, pairs: Ints, ends: tuple[Floats, Floats], line: NDArray[Any], block: Block
) -> None:
    low, high = down(ends[0], line.dtype), -down(-ends[1], line.dtype)
    scores = block.of_documents(line)
    if block.cut:
        whole = np.delete(np.arange(len(scores)), block.cut)
        above, inside = places(scores[whole], low, high)
        inside = [whole[i] for i in inside]
    else:
        above, inside = places(scores, low, high)
    block.answer.greater[pairs] += above
    for at in block.cut:
        over = pairs[scores[at] > high]
        lane.surely.append((over, np.full(len(over), block.first + at)))
        for i in np.flatnonzero((scores[at] >= low) & (scores[at] <= high)):
            inside[i] = np.append(inside[i], at)
    if not _allow(lane, row, sum(map(len, inside)), len(pairs)):
        return
    for pair, floor, documents in zip(pairs.tolist(), low, inside, strict=True):
        if len(documents):
            passages = _reaching(block, line, floor, documents)
            lane.unsure.append((np.full(len(passages), pair), passages))


def _reaching(block: Block, line: NDArray[Any], floor: Any, documents: Ints) -> Ints:
    """Return the passages of some documents of a block whose scores reach a floor."""
    if block.starts is None:
        return block.start + documents
    ends = np.append(block.starts[1:], block.size)
    columns = [np.arange(block.starts[d], ends[d]) for d in documents.tolist()]
    return np.asarray(block.start + np.concatenate([c[line[c] >= floor] for c in columns]))


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
