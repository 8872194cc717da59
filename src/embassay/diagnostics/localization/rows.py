"""One encoder's classified sentences, and the rows made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.localization.scores import codes
from embassay.metrics.scoreboard import View, pools_of
from embassay.metrics.summary import row, share_row
from embassay.result import Estimate, Row
from embassay.stats.folds import shares_over_folds
from embassay.stats.resample import ABSENT, mean, too_few
from embassay.stats.shares import PooledShare, shares_of_encoders
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores

NAME = "localization"
METRICS = ("accuracy", "centroid_accuracy", "map_at_r")
"""What encoders can be compared by, the headline first."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LocalizationView(View):
    """One encoder's n sentences, each in one group and tested in one fold."""

    @cached_property
    def fold(self) -> Ints:
        """(n,) the fold that tests each sentence."""
        return self.scores.values["fold"].astype(np.int64)

    @cached_property
    def group(self) -> Ints:
        """(n,) the code of each sentence's group, in the order in which groups are first seen."""
        return codes(self.scores.labels["group"].tolist())

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """The names of the groups by their codes."""
        return tuple(dict.fromkeys(self.scores.labels["group"].tolist()))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.group_names)

    @property
    def chance(self) -> float:
        """The accuracy of a guess among the groups, 1/groups, in [0, 1]."""
        return 1 / self.groups

    @property
    def predicted(self) -> NDArray[np.str_]:
        """(n,) the name of the group that the classifier places each sentence in."""
        return self.scores.labels["named"]

    @property
    def unconverged(self) -> int:
        """The number of folds in which the classifier stopped early; then the accuracy is undefined."""
        return int(self.scores.scalars["unconverged"])

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """(n,) which sentences the classifier places in another group."""
        return np.asarray(self.values("accuracy") == 0)

    def values(self, metric: str) -> Floats:
        """Return (n,) a metric of each sentence, in [0, 1] with 1 the best; NaN is undefined."""
        return self.scores.values[metric]

    def scores_behind(self, metric: str) -> ItemScores:
        """Return the part of the scores that a metric is computed from, for its signature."""
        if metric == "accuracy":
            return self._classifier_scores
        return self._cosine_scores

    # Cached, because each part computes a digest of its arrays, and there are many rows.
    @cached_property
    def _classifier_scores(self) -> ItemScores:
        return self.scores.part("accuracy", "fold")

    @cached_property
    def _cosine_scores(self) -> ItemScores:
        return self.scores.part("centroid_accuracy", "map_at_r")

    def similarity_function(self, metric: str) -> str:
        """Return what a metric is based on: the classifier, or cosines."""
        if metric == "accuracy":
            return self.scores.similarity_function
        return "cosine"


@dataclass(frozen=True)
class LocalizationShares:
    """The shares of one encoder, with limits that may depend on the other encoders.

    Attributes
    ----------
    accuracy
        The mean over folds.
    centroid_accuracy
        Over all sentences.
    by_fold
        The accuracy on each fold, by subset.
    classifier_pool, cosine_pool
        Hashes of the other encoders' scores, for the signatures of the classifier's metrics and of the others.
    """

    accuracy: PooledShare
    centroid_accuracy: PooledShare
    by_fold: Mapping[str, PooledShare]
    classifier_pool: str
    cosine_pool: str


def shares_of(views: Sequence[LocalizationView]) -> dict[str, LocalizationShares]:
    """Estimate the shares of all encoders."""
    fold, unit = views[0].fold, views[0].scores.unit
    accuracies = shares_over_folds([view.values("accuracy") for view in views], fold, unit)
    centroid_accuracies = shares_of_encoders(({"all": view.values("centroid_accuracy")} for view in views), unit)
    by_fold = shares_of_encoders((_right_by_fold(view) for view in views), unit)
    classifier_pools = pools_of([view.scores_behind("accuracy") for view in views])
    cosine_pools = pools_of([view.scores_behind("centroid_accuracy") for view in views])
    shares = dict[str, LocalizationShares]()
    for place, view in enumerate(views):
        shares[view.encoder] = LocalizationShares(
            accuracies[place],
            centroid_accuracies[place]["all"],
            by_fold[place],
            classifier_pools[view.encoder],
            cosine_pools[view.encoder],
        )
    return shares


def _right_by_fold(view: LocalizationView) -> dict[str, Floats]:
    """Return by fold (n,) which sentences are placed right; ABSENT for those of other folds."""
    right = view.values("accuracy")
    right_by_fold = dict[str, Floats]()
    for number in np.unique(view.fold).tolist():
        right_by_fold[f"fold{number}"] = np.where(view.fold == number, right, ABSENT)
    return right_by_fold


def rows_of(view: LocalizationView, shares: LocalizationShares, draws: Draws) -> Iterator[Row]:
    """Yield all rows of one encoder."""
    # The accuracy of the classifier also depends on the folds, that of cosines does not. So a change of the folds must
    # change the signatures of the first only: each has its own part of the scores.
    classifier = view.scores_behind("accuracy")
    cosines = view.scores_behind("centroid_accuracy")
    accuracy = _with_reason(view, shares.accuracy)
    yield share_row(classifier, draws, "accuracy", "all", accuracy, shares.classifier_pool)
    yield share_row(
        cosines,
        draws,
        "centroid_accuracy",
        "all",
        shares.centroid_accuracy,
        shares.cosine_pool,
        similarity_function="cosine",
    )
    precision = mean(view.values("map_at_r"), view.scores.unit, draws, *view.stream)
    yield row(cosines, draws, "map_at_r", "all", precision, similarity_function="cosine")
    for subset, share in shares.by_fold.items():
        yield share_row(classifier, draws, "accuracy", subset, _with_reason(view, share), shares.classifier_pool)
    # A group has no undefined sentence: either all are classified or none.
    if not view.unconverged:
        yield from _by_group(view, draws)


def _with_reason(view: LocalizationView, share: PooledShare) -> PooledShare:
    """Return a share of the classifier, with the reason where it is undefined because training stopped early."""
    if not view.unconverged:
        return share
    return replace(share, estimate=replace(share.estimate, reason="the classifier did not converge"))


def _by_group(view: LocalizationView, draws: Draws) -> Iterator[Row]:
    """Yield the accuracy in each group; a group is one unit, so it has no interval."""
    scores = view.scores_behind("accuracy")
    sizes = np.bincount(view.group)
    numbers_right = np.bincount(view.group, weights=view.values("accuracy"))
    accuracies = numbers_right / sizes
    for group, name in enumerate(view.group_names):
        estimate = Estimate(
            value=float(accuracies[group]),
            low=None,
            high=None,
            items=int(sizes[group]),
            units=1,
            undefined=0,
            reason=too_few(1),
        )
        yield row(scores, draws, "accuracy", f"group:{name}", estimate)
