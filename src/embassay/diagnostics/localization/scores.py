"""Compute the item scores of sentences from vectors: classified group, nearest centroid, precision at R."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from embassay.core.vectors import Neighbours, VectorMatrix
from embassay.stats.geometry.closeness import all_cosines, paired_cosine
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
        predicted = machine.predict(matrix[test])
    return predicted.astype(np.int64), bool(np.max(machine.n_iter_) < iterations)


def centroid_cosines(matrix: VectorMatrix, labels: Ints) -> Floats:
    """Return the (n, groups) cosine of each item with each group's mean vector, that of its own group without itself.

    Means are of unnormalised vectors. NaN where either vector is zero.

    Parameters
    ----------
    matrix
        (n, d) dense or CSR.
    labels
        (n,) group codes from 0.
    """
    items = np.arange(len(labels))
    vectors = matrix.astype(np.float64)
    # Entry (g, i) is 1 where item i belongs to group g, so the product adds up the rows of each group. The cosine with
    # a sum is that with the mean.
    sums = csr_array((np.ones(len(labels)), (labels, items))) @ vectors
    cosines = all_cosines(matrix, sums)
    cosines[items, labels] = paired_cosine(matrix, sums[labels] - vectors)
    return cosines


def nearest_centroid(cosines: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """Return whether each item is nearest to the centroid of its own group, and by how much.

    Parameters
    ----------
    cosines
        (n, groups) as :func:`centroid_cosines` returns them.

    Returns
    -------
    share
        (n,) 1 or 0, larger is better; 1/t where t centroids are tied as nearest and that of the item's group is one of
        them. NaN where the item's vector, or its group's centroid without it, is zero.
    margin
        (n,) the cosine with the own centroid less that with the nearest other one; NaN likewise, and where there is no
        other one.
    """
    own_place = np.arange(len(labels)), labels
    own = cosines[own_place]
    # A zero centroid is never the nearest.
    others = np.where(np.isnan(cosines), -np.inf, cosines)
    tied = others >= others.max(axis=1, keepdims=True) - TIE
    share = np.where(np.isnan(own), np.nan, tied[own_place] / tied.sum(axis=1))
    others[own_place] = -np.inf
    largest = others.max(axis=1)
    return share, np.where(np.isinf(largest), np.nan, own - largest)


def precision_at_r(matrix: VectorMatrix, labels: Ints, search: Callable[..., Neighbours]) -> Floats:
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

    Returns
    -------
    (n,) in [0, 1], larger is better; NaN for a zero vector and for a group of one.
    """
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    # Every pair of an item and a member of its group, the item itself included.
    place, item = ranges(starts[labels], starts[labels] + sizes[labels])
    member = np.argsort(labels, kind="stable")[place]
    ranked = search(matrix, matrix, k=1, similarity_function="cosine", pairs=np.stack([item, member], axis=1))
    is_itself = item == member
    similarity = ranked.own
    to_itself = similarity[is_itself][item]
    # The search also ranks the item itself: it is ahead of members less similar to it than it is to itself, and tied
    # with members of the same direction. Neither count may include it.
    before = np.isnan(similarity) | (to_itself > similarity)
    beside = ~before & (to_itself == similarity)
    others = ~is_itself & ~np.isnan(to_itself)
    greater, tied = (ranked.greater - before)[others], (ranked.tied - beside)[others]
    places = RightPlaces(len(labels), item[others], greater, tied, np.ones(len(greater), dtype=np.int64))
    return np.where(np.isnan(similarity[is_itself]), np.nan, places.average_precision_at_r())
