"""Ranking metrics under ties: each value is the expected value over all orders of tied documents.

So an encoder that gives all documents the same similarity gets the score of a random order, not a full score. Without
ties the values equal those of ``ir-measures`` under the same names. The formulas for ties follow McSherry & Najork
(2008), "Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embassay.stats.units import Floats, Ints


@dataclass(frozen=True)
class RightPlaces:
    """The places of the right documents of n questions in the order of all documents, nearest first.

    Attributes
    ----------
    questions
        n.
    question
        (R,) the question of each right document, from 0, ascending.
    greater
        (R,) g, the number of documents that are strictly nearer to the question than the right one.
    tied
        (R,) t, the number of documents that are exactly as near, itself included; 0 or less for a right document that
        was not retrieved. That one counts as a right document and adds nothing.
    gains
        (R,) the gain (graded relevance) of each, above 0.
    """

    questions: int
    question: Ints
    greater: Ints
    tied: Ints
    gains: Ints

    def success(self, k: int) -> Floats:
        """Return (n,) the probability that a right document is among the first k: ``Success@k``.

        Take the nearest group of tied documents that holds right ones: t documents, r of them right, g documents before
        it. s = clip(k − g, 0, t) of them are among the first k, and none of these is right with probability
        C(t − s, r)/C(t, r). With one right document the result is clip((k − g)/t, 0, 1).
        """
        nearest = self._groups.nearest()
        slots = np.clip(k - nearest.greater, 0, nearest.tied)
        missed = np.ones(len(slots))
        # C(t − s, r)/C(t, r), as the product over i < r of (t − s − i)/(t − i).
        most_right = int(nearest.right.max(initial=0))
        for i in range(most_right):
            outside = np.maximum(nearest.tied - slots - i, 0)
            remaining = np.maximum(nearest.tied - i, 1)
            factor = outside / remaining
            missed *= np.where(i < nearest.right, factor, 1.0)
        return self._by_question(nearest.question, 1 - missed)

    def recall(self, k: int) -> Floats:
        """Return (n,) the expected share of the right documents that are among the first k: ``R@k``."""
        groups = self._groups
        share_inside = np.clip(k - groups.greater, 0, groups.tied) / groups.tied
        expected = self._by_question(groups.question, groups.right * share_inside)
        return expected / self._right_documents

    def reciprocal_rank(self) -> Floats:
        """Return (n,) the expected 1/rank of the first right document: ``RR``."""
        nearest = self._groups.nearest()
        keys = np.stack([nearest.greater, nearest.tied, nearest.right], axis=1)
        # Many questions have the same three numbers; each combination is computed once.
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        values = np.zeros(len(distinct))
        for row, (greater, tied, right) in enumerate(distinct.tolist()):
            values[row] = _expected_reciprocal_rank(greater, tied, right)
        # Some versions of numpy return the inverse with the shape of the keys.
        place = place.ravel()
        return self._by_question(nearest.question, values[place])

    def average_precision(self) -> Floats:
        """Return (n,) the expected mean, over the right documents, of the precision at each one's rank: ``AP``.

        A group of t tied documents, r of them right, with g documents before it, R of them right, adds

            (r/t) Σᵢ (R + 1 + (i − 1)(r − 1)/(t − 1)) / (g + i),  i = 1 … t
        """
        return self._average_precision(self._groups.tied)

    def average_precision_at_r(self) -> Floats:
        """Return (n,) the expected average precision at R, R the number of right documents: ``MAP@R`` is its mean.

        1/R Σ precision at k over the ranks k = 1 … R that hold a right document (Musgrave et al. 2020, "A Metric
        Learning Reality Check", section 3.2): 1 if the first R are the right ones, 0 if none is. Of a group of tied
        documents the first clip(R − g, 0, t) places count; each adds as in :meth:`average_precision`.
        """
        groups = self._groups
        limit = self._right_documents[groups.question].astype(np.int64)
        return self._average_precision(np.clip(limit - groups.greater, 0, groups.tied))

    def _average_precision(self, counted: Ints) -> Floats:
        """Return (n,) the average precision if only the first (groups,) ``counted`` places of each group count.

        With H = Σᵢ 1/(g + i) over the m places that count, Σᵢ (i − 1)/(g + i) = m − (g + 1)H. So a group adds

            (r/t) ((R + 1)H + (r − 1)/(t − 1) (m − (g + 1)H))
        """
        groups = self._groups
        harmonic = _harmonic(groups.greater, counted)
        right_among_others = (groups.right - 1) / np.maximum(groups.tied - 1, 1)
        sum_of_earlier_places = counted - (groups.greater + 1) * harmonic
        precisions = (groups.before + 1) * harmonic + right_among_others * sum_of_earlier_places
        share_right = groups.right / groups.tied
        expected = self._by_question(groups.question, share_right * precisions)
        return expected / self._right_documents

    def ndcg(self, k: int) -> Floats:
        """Return (n,) the expected ``nDCG@k``, with linear gains and the discount log₂(1 + rank); in [0, 1].

        Järvelin & Kekäläinen (2002): Σ gain/log₂(1 + rank) over the first k documents, divided by the same sum for the
        documents in descending order of gain.
        """
        groups = self._groups
        discounts = 1 / np.log2(np.arange(2, k + 2))
        cumulative = np.concatenate([[0.0], np.cumsum(discounts)])
        # On average each document of a group gets the group's mean gain and one of its places.
        start = np.minimum(groups.greater, k)
        end = np.minimum(groups.greater + groups.tied, k)
        discounts_of_group = cumulative[end] - cumulative[start]
        mean_gain = groups.gains / groups.tied
        gain = self._by_question(groups.question, mean_gain * discounts_of_group)

        # The ideal order: the right documents of each question by descending gain.
        order = np.lexsort((-self.gains, self.question))
        question = self.question[order]
        first_of_question = np.searchsorted(question, question)
        best_rank = np.arange(len(order)) - first_of_question
        discounted = self.gains[order] / np.log2(best_rank + 2)
        inside = best_rank < k
        best_gain = self._by_question(question[inside], discounted[inside])
        return gain / best_gain

    def _by_question(self, question: Ints, values: Floats) -> Floats:
        """Return the (n,) sums of values over questions; NaN for a question without a right document."""
        total = np.bincount(question, weights=values, minlength=self.questions)[: self.questions]
        return np.where(self._right_documents > 0, total, np.nan)

    @cached_property
    def _right_documents(self) -> Floats:
        """(n,) the number of right documents of each question; NaN for none."""
        number = np.bincount(self.question, minlength=self.questions)[: self.questions].astype(np.float64)
        return np.where(number > 0, number, np.nan)

    @cached_property
    def _groups(self) -> _Groups:
        """The right documents that were retrieved, in groups of tied documents."""
        retrieved = self.tied > 0
        keys = np.stack([self.question[retrieved], self.greater[retrieved]], axis=1)
        distinct, start, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
        question = distinct[:, 0]
        right = np.bincount(group, minlength=len(distinct)).astype(np.int64)
        gains = np.bincount(group, weights=self.gains[retrieved], minlength=len(distinct)).astype(np.float64)
        # The right documents in earlier groups of all questions, less those of earlier questions.
        earlier = np.cumsum(right) - right
        first = np.searchsorted(question, question)
        return _Groups(
            question=question,
            greater=distinct[:, 1],
            tied=self.tied[retrieved][start],
            right=right,
            before=earlier - earlier[first],
            gains=gains,
        )


@dataclass(frozen=True)
class _Groups:
    """Groups of tied documents that hold right ones, ordered by question and nearness; (groups,) each.

    Attributes
    ----------
    question, greater, tied
        As in :class:`RightPlaces`.
    right, before, gains
        The number of right documents in the group, their number in earlier groups of the question, and the sum of the
        gains in the group.
    """

    question: Ints
    greater: Ints
    tied: Ints
    right: Ints
    before: Ints
    gains: Floats

    def nearest(self) -> _Groups:
        """Return the nearest group of each question."""
        first = np.flatnonzero(np.diff(self.question, prepend=-1))
        return _Groups(**{name: values[first] for name, values in vars(self).items()})


def _harmonic(greater: Ints, tied: Ints) -> Floats:
    """Return Σ 1/(g + i), i = 1 … t; exactly 1/(g + 1) for t = 1."""
    from scipy.special import digamma

    several = digamma(greater + tied + 1.0) - digamma(greater + 1.0)
    return np.where(tied == 1, 1 / (greater + 1.0), several)


def _expected_reciprocal_rank(greater: int, tied: int, right: int) -> float:
    """Return the expected reciprocal rank of the first of r right documents among t tied ones with g before them.

        Σᵢ P(i)/(g + i)        P(i) = C(t − i, r − 1)/C(t, r),  i = 1 … t − r + 1

    P(1) = r/t, and P(i + 1)/P(i) = (t − i − r + 1)/(t − i).
    """
    if tied == 1:
        return 1 / (greater + 1)
    i = np.arange(1, tied - right + 2)
    # The number of tied documents after the i-th.
    after = tied - i[:-1]
    # P(i + 1)/P(i).
    ratios = (after - right + 1) / np.maximum(after, 1)
    first = right / tied
    probabilities = first * np.concatenate([[1.0], np.cumprod(ratios)])
    return float((probabilities / (greater + i)).sum())
