"""One encoder's placed sentences, and the figures made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics._localization_scores import codes
from embassay.diagnostics._rows import row
from embassay.result import Estimate, Row
from embassay.stats.folds import means_over_folds
from embassay.stats.resample import mean, too_few
from embassay.stats.shares import share
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores

NAME = "localization"
QUANTITIES = ("accuracy", "centroid_accuracy", "map_at_r")
"""What encoders can be compared by, the headline first."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """What one encoder did with the sentences of one corpus."""

    scores: ItemScores

    @property
    def encoder(self) -> str:
        """The encoder's label."""
        return self.scores.origin.encoder

    @property
    def corpus_key(self) -> str:
        """What names the corpus's random streams: its content."""
        return self.scores.origin.corpus_fingerprint

    @cached_property
    def fold(self) -> Ints:
        """(n,) the fold that tests each sentence."""
        return self.scores.values["fold"].astype(np.int64)

    @cached_property
    def group(self) -> Ints:
        """(n,) the number of each sentence's group, in the order in which groups are first seen."""
        return codes(self.scores.labels["group"].tolist())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the groups by their numbers."""
        return tuple(dict.fromkeys(self.scores.labels["group"].tolist()))

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.names)

    @cached_property
    def wrong(self) -> NDArray[np.bool_]:
        """(n,) which sentences were placed in another group."""
        return np.asarray(self.values("accuracy") == 0)

    def values(self, quantity: str) -> Floats:
        """Return (n,) a quantity of each sentence; NaN is undefined."""
        return self.scores.values[quantity]

    def part(self, quantity: str) -> ItemScores:
        """Return the scores that a quantity is made of, for its signature."""
        return self._placed if quantity == "accuracy" else self._near

    @cached_property
    def _placed(self) -> ItemScores:
        return self.scores.part("accuracy", "fold")

    @cached_property
    def _near(self) -> ItemScores:
        return self.scores.part(*QUANTITIES[1:])

    def measure(self, quantity: str) -> str:
        """Return what a quantity rests on: the classifier, or cosines."""
        return self.scores.measure if quantity == "accuracy" else "cosine"


def accuracies(views: Sequence[View], draws: Draws) -> dict[str, Estimate]:
    """Estimate the accuracy of each encoder: the mean over folds, all with the same resamples."""
    one = views[0]
    values = [v.values("accuracy") for v in views]
    found = means_over_folds(values, one.fold, one.scores.unit, draws, NAME, one.corpus_key, "accuracy")
    return {v.encoder: estimate for v, estimate in zip(views, found, strict=True)}


def rows_of(view: View, accuracy: Estimate, draws: Draws) -> Iterator[Row]:
    """Yield all rows of one encoder."""
    unit = view.scores.unit
    right, centroid, precision = (view.values(name) for name in QUANTITIES)
    found = {
        "accuracy": accuracy,
        "centroid_accuracy": share(centroid, unit),
        "map_at_r": mean(precision, unit, draws, NAME, view.corpus_key, "map_at_r"),
    }
    for name, estimate in found.items():
        yield row(view.part(name), draws, name, "all", estimate, measure=view.measure(name))
    for number in np.unique(view.fold).tolist():
        inside = view.fold == number
        yield row(view.part("accuracy"), draws, "accuracy", f"fold{number}", share(right[inside], unit[inside]))
    yield from _by_group(view, draws)


def _by_group(view: View, draws: Draws) -> Iterator[Row]:
    """Yield the accuracy in each group; a group is one unit, so it has no interval."""
    sizes = np.bincount(view.group)
    right = np.bincount(view.group, weights=view.values("accuracy"))
    for name, number, total in zip(view.names, sizes.tolist(), right.tolist(), strict=True):
        estimate = Estimate(total / number, None, None, number, 1, 0, too_few(1))
        yield row(view.part("accuracy"), draws, "accuracy", f"group:{name}", estimate)
