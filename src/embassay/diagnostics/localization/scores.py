"""Compute the item scores of sentences from vectors: classified group, nearest centroid, precision at R."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.core.vectors import Neighbours, Search, VectorMatrix
from embassay.stats.geometry.closeness import all_pairs, paired_cosine, paired_dot
from embassay.stats.ranking import RightPlaces
from embassay.stats.units import Floats, Ints, ranges

FOLDS = 3
TIE = 1e-12
"""Cosines with centroids that differ by at most this are tied: the rounding error of a float64 cosine."""
ITERATIONS = 200_000
"""Maximum iterations of liblinear, of which the default is 1,000: sums of word vectors on MSRP need 120,000."""
FEWEST_ITERATIONS = 10_000
"""The maximum for a large corpus, on which the full number would take hours."""
MOST_WORK = 50_000_000_000
"""Iterations times numbers in the vectors, at most, unless that allows fewer iterations than the fewest."""
BLOCK = 4_000_000
"""Similarities held at once."""
VectorSums: TypeAlias = "Floats | csr_array"
"""Sums of the vectors of groups: sparse for sparse vectors."""


def codes(groups: Sequence[str]) -> Ints:
    """Return the (n,) integer code of each item's group; codes count from 0 in order of first appearance."""
    code_of = {group: code for code, group in enumerate(dict.fromkeys(groups))}
    return np.array([code_of[group] for group in groups], dtype=np.int64)


def stratified_folds(labels: Ints) -> Ints:
    """Return the (n,) test fold of each item, from scikit-learn's ``StratifiedKFold(3)`` without shuffling."""
    from sklearn.model_selection import StratifiedKFold

    fold = np.empty(len(labels), dtype=np.int64)
    for number, (_, test) in enumerate(StratifiedKFold(FOLDS).split(np.zeros(len(labels)), labels)):
        fold[test] = number
    return fold


def most_iterations(entries: int) -> int:
    """Return after how many iterations a classifier stops, from the number of entries of its matrix of vectors."""
    return max(FEWEST_ITERATIONS, min(ITERATIONS, MOST_WORK // max(entries, 1)))


def classify(
    matrix: VectorMatrix, labels: Ints, train: Ints, test: Ints, iterations: int = ITERATIONS
) -> tuple[Ints, bool]:
    """Predict the group of each test item with a linear support vector machine trained on the training items.

    The method of White et al. (2015, section 3.3): liblinear, one group against the rest, balanced class weights,
    other constants as in scikit-learn. The predicted group has the largest decision value.

    Parameters
    ----------
    matrix
        (n, d) dense or CSR, which stays sparse; zero vectors are not treated specially.
    labels
        (n,) group codes from 0.
    train, test
        (k,) and (m,) rows.

    Returns
    -------
    (m,) predicted group codes, and whether the classifier converged within ``iterations``.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC
    from threadpoolctl import threadpool_limits

    # The dual solver was scikit-learn's default in 2015; on dense vectors it is about thirty times faster.
    machine = LinearSVC(class_weight="balanced", random_state=0, dual=True, max_iter=iterations)
    # One thread in every process: the rounding of a decision value depends on the number of threads.
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(matrix[train], labels[train])
        blocks = _blocks(len(test), len(machine.classes_))
        predicted = [machine.predict(matrix[test[rows]]) for rows in blocks]
    converged = bool(np.max(machine.n_iter_) < iterations)
    return np.concatenate(predicted).astype(np.int64), converged


def centroids(matrix: VectorMatrix, labels: Ints) -> VectorSums:
    """Return the (groups, d) sum of the rows of each group; its cosines are those of the group's mean."""
    number = len(labels)
    groups = int(labels.max(initial=-1)) + 1
    # Entry (g, i) is 1 where item i belongs to group g, so the product adds up the rows of each group.
    membership = csr_array((np.ones(number), (labels, np.arange(number))), shape=(groups, number))
    if issparse(matrix):
        return membership @ matrix.astype(np.float64)
    return membership @ np.asarray(matrix, dtype=np.float64)


def nearest_centroid(matrix: VectorMatrix, labels: Ints, block: int = BLOCK) -> tuple[Floats, Floats]:
    """Return whether each item is nearest to the centroid of its own group, computed without the item itself.

    Centroids are means of unnormalised vectors; closeness is cosine.

    Parameters
    ----------
    matrix
        (n, d) dense or CSR.
    labels
        (n,) group codes from 0.
    block
        Similarities held at once; changes no value.

    Returns
    -------
    share
        (n,) 1 or 0, larger is better; 1/t where t centroids are tied as nearest and that of the item's group is one of
        them. NaN where the item's vector, or its group's centroid without it, is zero.
    margin
        (n,) the cosine with the own centroid less that with the nearest other one; NaN likewise, and where there is no
        other one.
    """
    sums = centroids(matrix, labels)
    share = np.empty(len(labels))
    margin = np.empty(len(labels))
    for rows in _blocks(len(labels), sums.shape[0], block):
        vectors = matrix[rows]
        own_group = labels[rows]
        # The entry of each item's own group in a (rows, groups) matrix.
        own_place = np.arange(len(own_group)), own_group
        cosine = all_pairs(vectors, sums)
        cosine_own = cosine_with_own(vectors, sums, own_group)
        cosine[own_place] = cosine_own
        # A zero centroid is never the nearest.
        cosine = np.where(np.isnan(cosine), -np.inf, cosine)
        largest = cosine.max(axis=1, keepdims=True)
        tied = cosine >= largest - TIE
        number_tied = tied.sum(axis=1)
        share_own = tied[own_place] / number_tied
        share[rows] = np.where(np.isnan(cosine_own), np.nan, share_own)
        # Without its own group, the largest cosine is that of the nearest other one.
        cosine[own_place] = -np.inf
        largest_other = cosine.max(axis=1)
        margin[rows] = np.where(np.isinf(largest_other), np.nan, cosine_own - largest_other)
    return share, margin


def cosine_with_own(matrix: VectorMatrix, sums: VectorSums, labels: Ints) -> Floats:
    """Return the (n,) cosine of each row with its group's centroid without that row; NaN where either is zero."""
    return paired_cosine(matrix, sums[labels] - matrix.astype(np.float64))


def cosine_with(matrix: VectorMatrix, labels: Ints, other: Ints, block: int = BLOCK) -> Floats:
    """Return the (n,) cosine of each row with the centroid of group ``other``; NaN where either is zero.

    Where that is the row's own group, the centroid is computed without the row.
    """
    sums = centroids(matrix, labels)
    cosine = np.empty(len(labels))
    for rows in _blocks(len(labels), sums.shape[1], block):
        vectors = matrix[rows]
        with_own = cosine_with_own(vectors, sums, labels[rows])
        with_other = paired_cosine(vectors, sums[other[rows]])
        is_own = labels[rows] == other[rows]
        cosine[rows] = np.where(is_own, with_own, with_other)
    return cosine


def precision_at_r(matrix: VectorMatrix, labels: Ints, search: Search, block: int = BLOCK) -> Floats:
    """Return the average precision at R of each item: do its R nearest neighbours belong to its group?

    R is the number of other members of its group. Neighbours are ranked by cosine; ties get the expected value over
    their orders (Musgrave et al. 2020, "A Metric Learning Reality Check", section 3.2).

    Parameters
    ----------
    matrix
        (n, d) dense or CSR.
    labels
        (n,) group codes from 0.
    search
        Counts, in float64, how many vectors are nearer to one than another is.
    block
        Approximate number of pairs (item, member of its group) ranked at once; changes no value.

    Returns
    -------
    (n,) in [0, 1], larger is better; NaN for a zero vector and for a group of one.
    """
    members_in_order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    precision = np.empty(len(labels))
    for rows in _blocks_of_pairs(sizes[labels], block):
        # Every pair of an item of the block and a member of its group, the item itself included.
        group = labels[rows]
        place, item = ranges(starts[group], starts[group] + sizes[group])
        member = members_in_order[place]
        pairs = np.stack([item, member], axis=1)
        ranked = search(matrix[rows], matrix, k=1, similarity_function="cosine", pairs=pairs)
        is_itself = rows[item] == member
        places = _without_itself(len(rows), item, is_itself, ranked)
        is_zero_vector = np.isnan(ranked.own[is_itself])
        precision[rows] = np.where(is_zero_vector, np.nan, places.average_precision_at_r())
    return precision


def _without_itself(items: int, item: Ints, is_itself: NDArray[np.bool_], ranked: Neighbours) -> RightPlaces:
    """Return the ranks of the other members of each item's group, with the item itself removed from the ranking.

    Parameters
    ----------
    item, is_itself
        (R,) the item of each pair, and whether its member is the item itself.
    ranked
        The search for these pairs.
    """
    similarity = ranked.own
    to_itself = similarity[is_itself][item]
    # The search also ranks the item itself: it is ahead of members less similar to it than it is to itself, and tied
    # with members of the same direction. Neither count may include it.
    before = np.isnan(similarity) | (to_itself > similarity)
    beside = ~before & (to_itself == similarity)
    others = ~is_itself & ~np.isnan(to_itself)
    greater = (ranked.greater - before)[others]
    tied = (ranked.tied - beside)[others]
    gains = np.ones(len(greater), dtype=np.int64)
    return RightPlaces(items, item[others], greater, tied, gains)


def count_zero_vectors(matrix: VectorMatrix) -> int:
    """Return how many rows are zero."""
    return int((paired_dot(matrix, matrix) == 0).sum())


def _blocks(rows: int, width: int, block: int = BLOCK) -> Iterator[slice]:
    """Yield slices of at least one row each, such that rows × width is otherwise at most ``block``."""
    step = max(1, block // max(width, 1))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def _blocks_of_pairs(pairs: Ints, block: int) -> list[Ints]:
    """Split the items into blocks of about ``block`` pairs, at least one item each; (n,) ``pairs`` counts per item."""
    number = np.cumsum(pairs) // block
    return np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(number)) + 1)
