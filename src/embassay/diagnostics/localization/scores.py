"""From vectors to what is kept of each sentence: the group it is placed in, by a classifier and without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from embassay.geometry.closeness import all_pairs, paired_cosine, paired_dot
from embassay.stats.ranking import Places
from embassay.stats.units import Floats
from embassay.vectors import Search

FOLDS = 3
TIE = 1e-12
"""Cosines with centroids this near are tied: the rounding of a float64 cosine."""
ITERATIONS = 10_000
"""How long liblinear may take; scikit-learn's 1,000 are too few for vectors that are not of unit length."""
ROOM = 4_000_000
"""Similarities held at once."""
Ints = NDArray[np.int64]


def codes(groups: Sequence[str]) -> Ints:
    """Return (n,) the number of each group, from 0, in the order in which groups are first seen."""
    number: dict[str, int] = {}
    return np.array([number.setdefault(group, len(number)) for group in groups], dtype=np.int64)


def stratified_folds(labels: Ints) -> Ints:
    """Return (n,) the fold that tests each item, as scikit-learn's ``StratifiedKFold(3)`` without shuffling has it."""
    from sklearn.model_selection import StratifiedKFold

    fold = np.empty(len(labels), dtype=np.int64)
    for number, (_, test) in enumerate(StratifiedKFold(FOLDS).split(np.zeros(len(labels)), labels)):
        fold[test] = number
    return fold


def named(matrix: Any, labels: Ints, train: Ints, test: Ints) -> tuple[Ints, bool]:
    """Name the group of each test item by a linear support vector machine that has seen the training items.

    White et al. (2015, section 3.3): liblinear's machine for each group against the rest, classes balanced, constants
    as in scikit-learn; the group with the largest decision value.

    Parameters
    ----------
    matrix
        (n, d) dense or CSR, which stays sparse; zero vectors are vectors like others here.
    labels
        (n,) group codes from 0.
    train, test
        (k,) and (m,) rows.

    Returns
    -------
    (m,) group codes, and whether the machine has converged within ``ITERATIONS``.
    """
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC
    from threadpoolctl import threadpool_limits

    # The dual solver, scikit-learn's default of that time: on dense vectors some thirty times faster than the primal.
    machine = LinearSVC(class_weight="balanced", random_state=0, dual=True, max_iter=ITERATIONS)
    # One thread, whatever process this is in: the sums behind a decision value depend on their number.
    with warnings.catch_warnings(), threadpool_limits(1, "blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(matrix[train], labels[train])
        found = [machine.predict(matrix[test[rows]]) for rows in _blocks(len(test), len(machine.classes_))]
    converged = bool(np.max(machine.n_iter_) < ITERATIONS)
    return np.concatenate(found).astype(np.int64), converged


def centroids(matrix: Any, labels: Ints) -> Any:
    """Return the (groups, d) sums of the rows of each group, which point where their means do."""
    size = int(labels.max(initial=-1)) + 1
    inside = csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))), shape=(size, len(labels)))
    return inside @ (matrix.astype(np.float64) if issparse(matrix) else np.asarray(matrix, dtype=np.float64))


def nearest_centroid(matrix: Any, labels: Ints) -> Floats:
    """Say whether the nearest centroid is that of the own group, the item itself left out of it.

    Centroids are means of vectors as they are; they are compared by cosine.

    Parameters
    ----------
    matrix
        (n, d) dense or CSR.
    labels
        (n,) group codes from 0.

    Returns
    -------
    (n,) 1 or 0, 1/t where t centroids are as near and the own one is among them. NaN where the item's vector, or the
    own centroid without it, is zero.
    """
    sums = centroids(matrix, labels)
    found = np.empty(len(labels))
    for rows in _blocks(len(labels), sums.shape[0]):
        cosine = all_pairs(matrix[rows], sums)
        own = own_cosine(matrix[rows], sums, labels[rows])
        places = np.arange(len(own)), labels[rows]
        cosine[places] = own
        cosine = np.where(np.isnan(cosine), -np.inf, cosine)
        tied = cosine >= cosine.max(axis=1, keepdims=True) - TIE
        found[rows] = np.where(np.isnan(own), np.nan, tied[places] / tied.sum(axis=1))
    return found


def own_cosine(matrix: Any, sums: Any, labels: Ints) -> Floats:
    """Return (n,) the cosine of each row with the centroid of its group without that row; NaN where one is zero."""
    return paired_cosine(matrix, sums[labels] - matrix.astype(np.float64))


def cosine_with(matrix: Any, labels: Ints, other: Ints) -> Floats:
    """Return (n,) the cosine of each row with the centroid of a group, without that row where it is its own; or NaN."""
    sums = centroids(matrix, labels)
    found = np.empty(len(labels))
    for rows in _blocks(len(labels), sums.shape[1]):
        own = own_cosine(matrix[rows], sums, labels[rows])
        found[rows] = np.where(labels[rows] == other[rows], own, paired_cosine(matrix[rows], sums[other[rows]]))
    return found


def precision_at_r(matrix: Any, labels: Ints, search: Search) -> Floats:
    """Return the average precision at R of each item: do its R nearest neighbours belong to its group?

    R is the number of other members of its group; neighbours are ranked by cosine, those exactly as near count by
    their expectation (Musgrave et al. 2020, "A Metric Learning Reality Check", section 3.2).

    Parameters
    ----------
    matrix
        (n, d) dense or CSR.
    labels
        (n,) group codes from 0.
    search
        Counts, in float64, how many vectors are nearer to one than another is.

    Returns
    -------
    (n,) in [0, 1], larger is better; NaN for a zero vector and for a group of one.
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    found = np.empty(len(labels))
    for rows in _rows(sizes[labels]):
        number = sizes[labels[rows]]
        item = np.repeat(np.arange(len(rows)), number)
        within = np.arange(len(item)) - np.repeat(np.cumsum(number) - number, number)
        member = order[np.repeat(starts[labels[rows]], number) + within]
        place = search(matrix[rows], matrix, k=1, measure="cosine", pairs=np.stack([item, member], axis=1))
        found[rows] = _precision(rows, item, member, place.own, place.greater, place.tied)
    return found


def _precision(rows: Ints, item: Ints, member: Ints, own: Floats, greater: Ints, tied: Ints) -> Floats:
    """Take the item itself out of what stands before or beside the other members of its group."""
    itself = rows[item] == member
    mine = own[itself]
    same = mine[item]
    before = np.isnan(own) | (same > own)
    lost = np.isnan(mine)
    others = ~itself & ~lost[item]
    greater, tied = greater - before, tied - (~before & (same == own))
    gains = np.ones(int(others.sum()), dtype=np.int64)
    places = Places(len(rows), item[others], greater[others], tied[others], gains)
    return np.where(lost, np.nan, places.average_precision_at_r())


def _rows(pairs: Ints) -> list[Ints]:
    """Cut the items into blocks of so many pairs, one item at least."""
    block = np.cumsum(pairs) // ROOM
    return np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(block)) + 1)


def zero_vectors(matrix: Any) -> int:
    """Return how many rows are zero."""
    return int((paired_dot(matrix, matrix) == 0).sum())


def _blocks(total: int, width: int) -> Iterator[slice]:
    """Yield slices of so many rows that each holds no more than there is room for."""
    step = max(1, ROOM // max(width, 1))
    for start in range(0, total, step):
        yield slice(start, start + step)
