"""The exact search: fast products propose, float64 similarities in a fixed order decide.

1. A block of passages is multiplied with many queries in float32. The error of a product has a proven bound.
2. A document is as near as its nearest passage, so the greatest product of its passages counts. Each query has a bar:
   the similarity of the k-th nearest document so far. A document below the bar by more than the error is dropped. Where
   the rank of a document is wanted, documents above or below its similarity by more than the error are counted so.
3. The other documents are *open*: their similarity of ``geometry.closeness`` in float64 is computed, and decides.

Threads share the answer. Which documents are open depends on the blocks, the threads and the device, but the answer
does not: the nearest documents are ordered by similarity and index, and each document is counted once.

For a cosine, vectors are divided by their lengths before they are multiplied. The product of two vectors of d numbers,
summed in any order, differs from the exact one by at most γ = du / (1 − du) times the product of their lengths, with
u = 2⁻²⁴ for float32 (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). Vectors of extreme lengths
are multiplied as NaN, which leaves their documents open. Sparse vectors are multiplied in float64.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, issparse

from embassay.core.cores import cores, single_threads
from embassay.core.vectors import Neighbours, Similarity
from embassay.stats.geometry.closeness import paired_dot, paired_similarity
from embassay.stats.units import ranges

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix: TypeAlias = "np.ndarray | csr_array"
"""Vectors, one per row: dense with any floating-point type, or sparse."""
PASSAGES, QUERIES = 8192, 512
"""The number of passages, and of queries, that are multiplied at once."""
STRIP = 64
"""The number of queries whose products are compared at once: the products should stay in the processor's cache."""
PAIRS = 512
"""The number of pairs of vectors that are copied at once: they should stay in the processor's cache."""
CHEAP = 32
"""The number of similarities that take about as long as finding the k-th greatest product of a block."""
SHORTEST, LONGEST = 1e-12, 1e12
"""Lengths between which products of float32 neither overflow nor lose digits."""


class ImpreciseProductError(Exception):
    """The error of a product exceeds its bound: some chips multiply with less precision than requested."""


@dataclass
class ExactSearch:
    """A search, and its answer so far.

    Attributes
    ----------
    queries, passages, measure, pairs
        Those of ``top.search``.
    edges
        (N + 1,) the first passage of each document, and the number of passages.
    k
        The number of documents wanted for each query, at least 1.
    device
        Where vectors are multiplied, as in :func:`multiply`.
    """

    queries: Matrix
    passages: Matrix
    edges: Ints
    k: int
    measure: Similarity
    pairs: Ints
    device: str

    def __post_init__(self) -> None:
        """Start without any document."""
        count = self.queries.shape[0]
        # The nearest passages of the nearest documents, the nearest first, and their similarities; −1 and −inf mark
        # empty places.
        self._nearest = np.full((count, self.k), -1)
        self._similarity = np.full((count, self.k), -np.inf)
        # How many documents are nearer than the document of each pair, and how many are as near.
        self._greater, self._tied = np.zeros((2, len(self.pairs)), dtype=np.int64)
        self._pairs_of = defaultdict[int, list[int]](list)
        for pair, query in enumerate(self.pairs[:, 0].tolist()):
            self._pairs_of[query].append(pair)

        query, document = self.pairs.T
        passages, pairs = ranges(self.edges[document], self.edges[document + 1])
        self._own, self._own_passages = nearest_passages(
            pairs, self._exact(query[pairs], self.passages, passages), passages
        )
        # Sparse vectors of numbers so far above 0 that no product of two becomes 0.
        self._are_bags = issparse(self.passages) and all(
            csr_array(rows).data.min(initial=1) > 1e-100 for rows in (self.queries, self.passages)
        )
        # A query that has no similarity to itself has none.
        every = np.arange(count)
        self._active = np.flatnonzero(self._exact(every, self.queries, every) > -np.inf)
        self._rows, reach = self._scaled(self.queries)
        self._error = rounding(self.queries.shape[1], self._rows.dtype) * reach

    def run(self, k: int) -> Neighbours:
        """Search all documents; return the k nearest ones and the ranks of the pairs.

        Raises
        ------
        ImpreciseProductError
            If the error of a product is seen to exceed its bound.
        """
        queries, passages = len(self._active), int(self.edges[-1])
        # Small searches are not worth a thread.
        threads = min(cores(), 1 + passages // 2048, 1 + queries * passages // 2_000_000)
        size = min(PASSAGES, passages // threads + 1)
        # A block has whole documents, even if a document is longer than a block should be.
        edges = np.unique(np.searchsorted(self.edges, np.append(np.arange(0, passages, size), passages)))
        parts = [(self._active[start : start + QUERIES], Lock()) for start in range(0, queries, QUERIES)]

        def work(block: tuple[int, int]) -> None:
            # Vectors of extreme lengths overflow here, and are open.
            with np.errstate(all="ignore"):
                self._search_block(*block, parts)

        with single_threads(threads) as pool:
            try:
                for _ in pool.map(work, pairwise(edges.tolist())):
                    pass
            except BaseException:
                # After an error or Ctrl-C, the blocks that are being searched end soon, because they are waited for.
                parts.clear()
                pool.shutdown(cancel_futures=True)
                raise
        undefined = np.isneginf(self._own)
        # If no document has a similarity, there is no order.
        rankless = undefined & (self._greater == 0)
        return Neighbours(
            documents=np.searchsorted(self.edges, self._nearest[:, :k], side="right") - 1,
            passages=self._nearest[:, :k],
            similarity=np.where(self._nearest < 0, np.nan, self._similarity)[:, :k],
            own=np.where(undefined, np.nan, self._own),
            own_passages=np.where(undefined, -1, self._own_passages),
            greater=np.where(rankless, -1, self._greater),
            tied=np.where(rankless, -1, self._tied),
        )

    def _exact(self, query: Ints, passages: Matrix, place: Ints) -> Floats:
        """Return the (n,) similarities of n queries and passages, −inf where undefined.

        They decide every rank and are returned to the user.
        """
        similarity = np.empty(len(query))
        for start in range(0, len(query), PAIRS):
            part = slice(start, start + PAIRS)
            vectors = self.queries[query[part]], passages[place[part]]
            similarity[part] = paired_similarity(*vectors, self.measure)
        return np.where(np.isnan(similarity), -np.inf, similarity)

    def _scaled(self, rows: Matrix) -> tuple[Matrix, Floats]:
        """Return (n, d) vectors as they are multiplied, and (n,) their lengths then: 1 for a cosine.

        Both are NaN for a vector of extreme length.
        """
        with np.errstate(all="ignore"):
            lengths = np.sqrt(paired_dot(rows, rows))
            scale = 1 / lengths if self.measure == "cosine" else np.ones(len(lengths))
            scale[~((lengths > SHORTEST) & (lengths < LONGEST))] = np.nan
            if issparse(rows):
                scaled = csr_array(csr_array(rows, dtype=np.float64).multiply(scale[:, None]))
            else:
                scaled = rows.astype(np.float32, copy=False) * scale.astype(np.float32)[:, None]
        return scaled, lengths * scale

    def _search_block(self, first: int, last: int, parts: list[tuple[Ints, Lock]]) -> None:
        """Compare queries with the passages of the documents first, …, last − 1."""
        edges = self.edges[first : last + 1]
        passages = self.passages[edges[0] : edges[-1]]
        if not issparse(passages):
            # A memory-mapped array would be read again in each step.
            passages = np.asarray(passages)
        rows, lengths = self._scaled(passages)
        unknown = np.isnan(lengths)
        error = self._error * lengths[~unknown].max(initial=0)
        for part, lock in parts:
            products = multiply(self._rows[part], rows, self.device)
            # Sparse vectors without a number have no NaN.
            products[:, unknown] = np.nan
            with lock:
                for start in range(0, len(part), STRIP):
                    queries = part[start : start + STRIP]
                    self._decide(queries, edges, passages, products[start : start + STRIP], error[queries])

    def _decide(self, queries: Ints, edges: Ints, passages: Matrix, products: np.ndarray, error: Floats) -> None:
        """Update the answer from the products of some queries with a block.

        Parameters
        ----------
        queries
            (n,) queries.
        edges
            (N + 1,) the first passage of each document of the block, and the end of the last one.
        passages
            (B, d) their passages.
        products
            (n, B) products, NaN if unknown. They are overwritten.
        error
            (n,) the most by which the products of a query differ from similarities.
        """
        begin = edges - edges[0]
        scores = products
        if len(begin) <= products.shape[1]:
            scores = np.maximum.reduceat(products, begin[:-1], axis=1)
        is_open = np.empty(scores.shape, dtype=np.bool_)
        for place, query in enumerate(queries.tolist()):
            # Python's numbers are compared as float32, which is twice as fast; the error has room for the conversion.
            row, margin = scores[place], float(error[place])
            bar = float(self._similarity[query, -1]) - margin
            # Not ">=": comparisons with NaN are false, and what is unknown is open.
            is_near = ~(row < bar)
            if np.count_nonzero(is_near) > self.k + CHEAP:
                # k documents of this block may reach a higher bar; their products and the compared one may be off.
                # What is unknown reaches none.
                reached = np.partition(np.fmax(row, -np.inf), -self.k)[-self.k]
                is_near = ~(row < max(bar, float(reached) - 2 * margin))
            for pair in self._pairs_of.get(query, ()):
                own = float(self._own[pair])
                # Both are false between the two, and for NaN.
                is_near |= (row < own - margin) == (row > own + margin)
            is_open[place] = is_near

        # Of each open document, its query and its number within the block.
        query_of, document = np.divmod(np.flatnonzero(is_open), scores.shape[1])
        passage, number = ranges(begin[document], begin[document + 1])
        # A passage whose product is lower than that of its document by more than two errors is not the nearest one.
        least = scores[query_of, document] - 2 * error[query_of]
        may_be_nearest = ~(products[query_of[number], passage] < least[number])
        number, passage = number[may_be_nearest], passage[may_be_nearest]
        product, compared = products[query_of[number], passage], queries[query_of[number]]
        # Most bags of words share no word. Then their product is 0, and so is their similarity.
        similarity = np.zeros(len(product))
        computed = np.flatnonzero(~((product == 0) & self._are_bags))
        similarity[computed] = self._exact(compared[computed], passages, passage[computed])
        if (np.abs(product - similarity) > error[query_of[number]]).any():
            raise ImpreciseProductError
        similarity, passage = nearest_passages(number, similarity, passage)
        self._add(queries[query_of], edges[0] + passage, similarity)

        # Open documents are counted by their similarity, all others by their products.
        scores[query_of, document] = -np.inf
        for place, query in enumerate(queries.tolist()):
            for pair in self._pairs_of.get(query, ()):
                own, opened = float(self._own[pair]), similarity[query_of == place]
                above = scores[place] > own + float(error[place])
                self._greater[pair] += np.count_nonzero(above) + np.count_nonzero(opened > own)
                self._tied[pair] += np.count_nonzero(opened == own)

    def _add(self, query: Ints, passage: Ints, similarity: Floats) -> None:
        """Add (n,) new documents by their nearest passages, each for a query, and keep the k nearest."""
        # The rows of the queries that get documents are made anew from their old content and the new documents.
        changed = np.unique(query)
        rows = np.append(np.repeat(changed, self.k), query)
        passages = np.append(self._nearest[changed], passage)
        similarities = np.append(self._similarity[changed], similarity)
        # By query, then the nearest first, then by index. Documents without a similarity come after all empty places.
        order = np.lexsort((passages, -similarities, rows))
        rank = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
        best = order[rank < self.k].reshape(-1, self.k)
        self._nearest[changed] = passages[best]
        self._similarity[changed] = similarities[best]


def multiply(queries: Matrix, passages: Matrix, device: str = "") -> np.ndarray:
    """Return the (n, m) products of vectors, by torch on a device, or by numpy and scipy without one."""
    if issparse(passages):
        return np.asarray(csr_array(queries @ passages.T).toarray())
    if not device:
        return np.asarray(queries @ passages.T)
    import torch

    on_device = [torch.from_numpy(rows).to(device) for rows in (queries, passages)]
    return np.asarray((on_device[0] @ on_device[1].T).cpu().numpy())


def torch_device() -> str:
    """Return the device on which torch multiplies; empty where numpy does.

    torch is used if something else has imported it, because the import takes longer than most searches, and likewise a
    GPU if something else uses it. A user may have allowed torch less than the full precision of float32.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return ""
    try:
        is_precise = torch.get_float32_matmul_precision() == "highest" and not torch.backends.cuda.matmul.allow_tf32
    except RuntimeError:
        # torch raises this if both its old and its new precision settings were used.
        is_precise = False
    if not is_precise:
        return ""
    return "cuda" if torch.cuda.is_initialized() else "cpu"


def rounding(width: int, dtype: DTypeLike) -> float:
    """Return the most that a product of vectors of length 1 may differ from their float64 similarity."""
    # 16 more roundings than the sum has, for conversions and scaling. The float64 term covers the lengths and the
    # similarity that decides; 1 % is a margin.
    relative = (width + 16) * float(np.finfo(dtype).eps) / 2
    return 1.01 * (relative / (1 - relative) + (3 * width + 64) * 2.0**-53)


def nearest_passages(document: Ints, similarity: Floats, passage: Ints) -> tuple[Floats, Ints]:
    """Return the greatest similarity of each document, and its first passage with it.

    Parameters
    ----------
    document, similarity, passage
        (n,) of passages in ascending order; documents are numbered from 0, and each has one or more.
    """
    # Sorting is stable, so of passages that are as near the first one stays first.
    order = np.lexsort((-similarity, document))
    nearest = order[np.flatnonzero(np.diff(document, prepend=-1))]
    return similarity[nearest], passage[nearest]
