"""Ranking metrics, each the expected value over all orders of documents that are exactly as near.

So an encoder that finds everything equally near gets what blind choice gets, not a full score. Where nothing is tied
the figures are those of ``ir-measures`` of the same names. Ties after McSherry & Najork (2008), "Computing Information
Retrieval Performance Measures Efficiently in the Presence of Tied Scores".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from embassay.stats.units import Floats, Ints


@dataclass(frozen=True)
class Places:
    """Where the right documents of n questions stand.

    Attributes
    ----------
    questions
        n.
    question
        (R,) the question of each right document, from 0, ascending.
    greater
        (R,) how many documents are strictly nearer to the question than the right one.
    tied
        (R,) how many are exactly as near, itself included; 0 where it was not found at all: it then counts as right,
        and adds nothing.
    gains
        (R,) how good each is, above 0.
    """

    questions: int
    question: Ints
    greater: Ints
    tied: Ints
    gains: Ints

    def success(self, k: int) -> Floats:
        """Return (n,) the probability that a right document is among the first k: ``Success@k``.

        One right document: clip((k − g)/t, 0, 1), g strictly nearer, t tied.
        """
        groups = self._groups
        first = groups.first
        slots = np.clip(k - groups.greater[first], 0, groups.tied[first])
        missed = np.ones(len(first))
        for place in range(int(groups.right[first].max(initial=0))):
            left = np.maximum(groups.tied[first] - slots - place, 0) / np.maximum(groups.tied[first] - place, 1)
            missed *= np.where(place < groups.right[first], left, 1.0)
        return self._spread(groups.question[first], 1 - missed)

    def recall(self, k: int) -> Floats:
        """Return (n,) the expected share of the right documents that are among the first k: ``R@k``."""
        groups = self._groups
        inside = np.clip(k - groups.greater, 0, groups.tied) / groups.tied
        return self._spread(groups.question, groups.right * inside) / self._number

    def reciprocal_rank(self) -> Floats:
        """Return (n,) the expected 1/rank of the first right document: ``RR``."""
        groups = self._groups
        first = groups.first
        keys = np.stack([groups.greater[first], groups.tied[first], groups.right[first]], axis=1)
        distinct, place = np.unique(keys, axis=0, return_inverse=True)
        values = np.array([_first_of(*map(int, key)) for key in distinct])
        return self._spread(groups.question[first], values[place.ravel()] if len(distinct) else np.zeros(0))

    def average_precision(self) -> Floats:
        """Return (n,) the expected mean, over the right documents, of the precision at each one's rank: ``AP``.

        A group of t tied documents, r of them right, with g before it, R of them right, adds
        (r/t) Σᵢ (R + 1 + (i − 1)(r − 1)/(t − 1)) / (g + i), i = 1 … t.
        """
        groups = self._groups
        harmonic = _harmonic(groups.greater, groups.tied)
        others = (groups.right - 1) / np.maximum(groups.tied - 1, 1)
        tail = others * (groups.tied - (groups.greater + 1) * harmonic)
        added = groups.right / groups.tied * ((groups.before + 1) * harmonic + tail)
        return self._spread(groups.question, added) / self._number

    def average_precision_at_r(self) -> Floats:
        """Return (n,) the expected average precision at R, R the number of right documents: ``MAP@R`` is its mean.

        1/R Σ precision at k over the ranks k = 1 … R that hold a right document (Musgrave et al. 2020, "A Metric
        Learning Reality Check", section 3.2): 1 if the first R are the right ones, 0 if none is. Of a group of tied
        documents the first m = clip(R − g, 0, t) places count; each adds as in :meth:`average_precision`.
        """
        groups = self._groups
        counted = np.clip(self._number[groups.question].astype(np.int64) - groups.greater, 0, groups.tied)
        harmonic = _harmonic(groups.greater, counted)
        others = (groups.right - 1) / np.maximum(groups.tied - 1, 1)
        tail = others * (counted - (groups.greater + 1) * harmonic)
        added = groups.right / groups.tied * ((groups.before + 1) * harmonic + tail)
        return self._spread(groups.question, added) / self._number

    def ndcg(self, k: int) -> Floats:
        """Return (n,) the expected ``nDCG@k``: gains as they are, discounted by log₂(1 + rank)."""
        groups = self._groups
        discount = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
        start, end = (np.minimum(x, k) for x in (groups.greater, groups.greater + groups.tied))
        found = self._spread(groups.question, groups.gains / groups.tied * (discount[end] - discount[start]))
        order = np.lexsort((-self.gains, self.question))
        rank = np.arange(len(order)) - np.searchsorted(self.question[order], self.question[order])
        inside = rank < k
        weights = (self.gains[order] / np.log2(np.maximum(rank, 0) + 2))[inside]
        return found / self._spread(self.question[order][inside], weights)

    def _spread(self, question: Ints, values: Floats) -> Floats:
        """Add values up by question: NaN where a question has no right document."""
        total = np.bincount(question, weights=values, minlength=self.questions)[: self.questions]
        return np.where(self._number > 0, total, np.nan)

    @cached_property
    def _number(self) -> Floats:
        """(n,) how many right documents each question has; NaN where it has none."""
        number = np.bincount(self.question, minlength=self.questions)[: self.questions].astype(np.float64)
        return np.where(number > 0, number, np.nan)

    @cached_property
    def _groups(self) -> _Groups:
        """The right documents that were found, those that are tied with each other put together."""
        found = self.tied > 0
        keys = np.stack([self.question[found], self.greater[found]], axis=1)
        distinct, start, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        place = place.ravel()
        right = np.bincount(place, minlength=len(distinct)).astype(np.int64)
        question = distinct[:, 0]
        total = np.cumsum(right) - right
        first = np.flatnonzero(np.diff(question, prepend=-1))
        before = total - np.repeat(total[first], np.diff(np.append(first, len(question))))
        return _Groups(
            question,
            distinct[:, 1],
            self.tied[found][start],
            right,
            before,
            np.bincount(place, weights=self.gains[found], minlength=len(distinct)).astype(np.float64),
            first,
        )


@dataclass(frozen=True)
class _Groups:
    """Groups of tied documents that hold right ones, ordered by question and nearness.

    Attributes
    ----------
    right, before, gains
        How many right documents are in the group, how many stand in groups before it, the sum of their gains.
    first
        The place of each question's nearest group.
    """

    question: Ints
    greater: Ints
    tied: Ints
    right: Ints
    before: Ints
    gains: Floats
    first: Ints


def _harmonic(greater: Ints, tied: Ints) -> Floats:
    """Return Σ 1/(g + i), i = 1 … t; exactly 1/(g + 1) for t = 1."""
    from scipy.special import digamma

    several = digamma(greater + tied + 1.0) - digamma(greater + 1.0)
    return np.where(tied == 1, 1 / (greater + 1.0), several)


def _first_of(greater: int, tied: int, right: int) -> float:
    """Return the expected reciprocal rank of the first of r right documents among t tied ones with g before them.

    P(the first stands at i) = C(t − i, r − 1)/C(t, r), by the ratio of one to the next.
    """
    if tied == 1:
        return 1 / (greater + 1)
    i = np.arange(1, tied - right + 2)
    odds = np.concatenate([[1.0], np.cumprod((tied - i[:-1] - right + 1) / np.maximum(tied - i[:-1], 1))])
    return float((right / tied * odds / (greater + i)).sum())
