"""One encoder's classified sentences, and the metrics of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.core.result import Estimate
from embassay.diagnostics.localization.scores import codes
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.stats.resample import too_few
from embassay.stats.units import Bools, Floats, Ints

NAME = "localization"


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


def _by_fold(view: LocalizationView) -> Iterator[tuple[str, Bools]]:
    """Yield the name of each fold, and (n,) which sentences it tests."""
    for number in np.unique(view.fold).tolist():
        yield f"fold{number}", view.fold == number


def _by_group(view: LocalizationView) -> dict[str, Estimate]:
    """Return the accuracy in each group; a group is one unit, so it has no interval."""
    # A group has no undefined sentence: either all are classified or none.
    if view.unconverged:
        return {}
    sizes = np.bincount(view.group)
    numbers_right = np.bincount(view.group, weights=view.values("accuracy"))
    accuracies = numbers_right / sizes
    return {
        f"group:{name}": Estimate(float(accuracies[group]), None, None, int(sizes[group]), 1, 0, too_few(1))
        for group, name in enumerate(view.group_names)
    }


def _unconverged(view: LocalizationView, inside: Bools, estimate: Estimate) -> str | None:
    """Return why the classifier's accuracy is undefined where its training stopped early."""
    return "the classifier did not converge" if view.unconverged else None


# The accuracy of the classifier depends on the folds, that of cosines does not. So a change of the folds must change
# the signatures of the first only: each has its own part of the scores.
CLASSIFIER, COSINES = ("accuracy", "fold"), ("centroid_accuracy", "map_at_r")
METRICS = (
    Metric(
        "accuracy",
        of=lambda view: view.values("accuracy"),
        # The paper's accuracy is the mean over folds. These differ in size, so it is not that over sentences.
        kind="mean over folds",
        folds=lambda view: view.fold,
        better="higher",
        headline=True,
        margin=0.02,
        chance=lambda view: view.chance,
        says="the classifier places {value} of the sentences in their group",
        values=CLASSIFIER,
        reason=_unconverged,
        meaning="share of sentences that the classifier places in their own group, mean over three folds",
    ),
    Metric(
        "centroid_accuracy",
        of=lambda view: view.values("centroid_accuracy"),
        kind="share",
        better="higher",
        compared="on request",
        similarity_function="cosine",
        values=COSINES,
        term="Nearest centroid",
        explanation=("A sentence is assigned to the group whose mean vector is nearest. No classifier is trained."),
        meaning="share of sentences nearer to the centroid of their own group than to any other",
    ),
    Metric(
        "map_at_r",
        of=lambda view: view.values("map_at_r"),
        kind="mean",
        better="higher",
        low=0,
        high=1,
        compared="on request",
        similarity_function="cosine",
        values=COSINES,
        term="MAP@R",
        explanation=(
            "Whether the nearest neighbours of a sentence belong to the sentence's group. 1 means that all of them do."
        ),
        meaning="mean average precision at R of a sentence's own group among its nearest sentences",
        source="Musgrave, Belongie & Lim (2020)",
    ),
    Metric(
        "accuracy",
        "fold*",
        of=lambda view: view.values("accuracy"),
        subsets=_by_fold,
        kind="share",
        better="higher",
        values=CLASSIFIER,
        reason=_unconverged,
        meaning="accuracy on the sentences of one fold",
    ),
    Metric(
        "accuracy",
        "group:*",
        of=_by_group,
        kind="computed",
        better="higher",
        low=0,
        high=1,
        format="percent",
        values=CLASSIFIER,
        meaning="accuracy on the sentences of one group",
    ),
)
