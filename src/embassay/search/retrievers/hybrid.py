"""The lists of two or three candidates of the run in one: ``hybrid:A+B``, reciprocal rank fusion.

Cormack, Clarke & Büttcher (2009), weighted: score(d) = w/(60 + rank in A) + (1 − w)/(60 + rank in B), over the first
100 documents of each; a document that a list does not have adds 0. Equal scores share the mean of their ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from embassay.core.errors import SpecError
from embassay.core.types import Runtime, content_hash
from embassay.models.base import changed_options, spec_of
from embassay.models.limits import Count, Share
from embassay.search.retrievers.base import DEPTH, PARTS_HINT, Lists, Questions, Retriever

TARGET = "A+B[+C]"
OPTIONS_HINT = PARTS_HINT
CONSTANT = 60
WEIGHT = 0.5
STEPS = 20
"""``weight=auto`` chooses from 0, 1/20 … 1."""
DIGITS = 12
"""Decimals of a score: documents that are tied stay tied, in whatever order their terms are added."""


def create(
    target: str, runtime: Runtime, *, weight: Share | Literal["auto"] | None = None, depth: Count = DEPTH
) -> Hybrid:
    """Fuse the lists of two or three candidates.

    Parameters
    ----------
    weight
        The weight of the first of two parts, 0 to 1, by default 0.5; the second has the rest. Three parts have equal
        weights. ``auto``: the one with the highest mean reciprocal rank on the questions of the corpus.
    depth
        How many documents of each list count.

    Raises
    ------
    SpecError
        For another number of parts, or a part that is named twice.
    """
    parts = tuple(part.strip() for part in target.split("+"))
    what = "encoder 'hybrid'"
    if len(parts) not in (2, 3) or len(set(parts)) < len(parts):
        raise SpecError(f"{what}: give the labels of two or three different candidates, A+B or A+B+C; is {target!r}")
    if weight is not None and len(parts) == 3:
        raise SpecError(f"{what}, option 'weight': three parts have equal weights; leave it out, or give two parts")

    weights = (1 / len(parts),) * len(parts)
    choices: dict[float, Retriever] = {}
    if weight == "auto":
        for step in range(STEPS + 1):
            choices[step / STEPS] = create(target, runtime, weight=step / STEPS, depth=depth)
    elif weight is not None:
        weights = (weight, round(1 - weight, DIGITS))
    options = {
        "weight": "" if weight in (None, WEIGHT) else str(weight),
        **changed_options(create, depth=depth),
    }
    return Hybrid(
        name=target,
        spec=spec_of(f"hybrid:{target}", options),
        fingerprint=content_hash(["hybrid", list(choices) or weights, depth]),
        parts=parts,
        step="fusion",
        depth=depth,
        weights=weights,
        choices=choices,
    )


@dataclass(frozen=True, kw_only=True)
class Hybrid(Retriever):
    """Reciprocal rank fusion.

    Attributes
    ----------
    weights
        One for each part; they sum to 1.
    """

    weights: tuple[float, ...]

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the fused lists: all documents of all parts' lists."""
        yield fused(list(questions.parts.values()), self.weights)


def fused(parts: Sequence[Lists], weights: Sequence[float]) -> Lists:
    """Return the fused lists of the parts' lists."""
    documents = np.concatenate([part.documents for part in parts], axis=1)
    passages = np.concatenate([np.asarray(part.passages) for part in parts], axis=1)
    terms = [weight / (CONSTANT + mean_ranks(part.scores)) for part, weight in zip(parts, weights, strict=True)]
    # Equal documents beside each other, in the order of the parts; each group of them is one document.
    order = np.argsort(documents, axis=1, kind="stable")
    documents = np.take_along_axis(documents, order, axis=1)
    is_first = np.ones(documents.shape, dtype=np.bool_)
    is_first[:, 1:] = documents[:, 1:] != documents[:, :-1]
    sums = sums_of_groups(is_first, np.take_along_axis(np.concatenate(terms, axis=1), order, axis=1))
    sums = np.round(sums, DIGITS)
    is_listed = is_first & (documents >= 0)
    # What is not listed comes last.
    by_score = np.argsort(np.where(is_listed, -sums, np.inf), axis=1, kind="stable")

    def in_order(values: NDArray[Any], filler: float) -> NDArray[Any]:
        return np.take_along_axis(np.where(is_listed, values, filler), by_score, axis=1)

    return Lists(
        np.arange(len(documents)),
        in_order(documents, -1),
        in_order(sums, np.nan),
        in_order(np.take_along_axis(passages, order, axis=1), -1),
    )


def mean_ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (m, depth) ranks from 1 of scores that never rise, the mean of their places for equal ones.

    Without scores (NaN), the place is the rank.
    """
    places = np.arange(1.0, scores.shape[1] + 1)
    unknown = np.isnan(scores)
    return np.where(unknown, places, rankdata(np.where(unknown, np.inf, -scores), axis=1))


def sums_of_groups(starts: NDArray[np.bool_], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each of the (m, width) values the sum over its group.

    Parameters
    ----------
    starts
        (m, width) whether a value is the first of a group; the first of each row is.
    """
    group = np.cumsum(starts.ravel()) - 1
    sums: NDArray[np.float64] = np.bincount(group, weights=values.ravel())[group]
    return sums.reshape(values.shape)
