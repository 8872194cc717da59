"""One encoder's placed sentences, and the figures made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import pools_of, row, share_row
from embassay.diagnostics.localization.scores import codes
from embassay.result import Estimate, Row
from embassay.stats.folds import shares_over_folds
from embassay.stats.resample import ABSENT, mean, too_few
from embassay.stats.shares import PooledShare, shares_of_encoders
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


@dataclass(frozen=True)
class Shares:
    """The shares of one encoder, with limits that may rest on the others.

    Attributes
    ----------
    accuracy
        The mean over folds.
    others
        The accuracy on each fold, and that of the nearest centroid, by quantity and subset.
    placed_pool, near_pool
        Names of the other encoders, for the signatures of what the classifier placed, and of what lies near.
    """

    accuracy: PooledShare
    others: Mapping[tuple[str, str], PooledShare]
    placed_pool: str
    near_pool: str


def shares_of(views: Sequence[View]) -> dict[str, Shares]:
    """Estimate the shares of all encoders."""
    one = views[0]
    over_folds = shares_over_folds([v.values("accuracy") for v in views], one.fold, one.scores.unit)
    others = shares_of_encoders((_figures(v) for v in views), one.scores.unit)
    placed, near = (pools_of([v.part(quantity) for v in views]) for quantity in QUANTITIES[:2])
    return {
        v.encoder: Shares(accuracy, shares, placed[v.encoder], near[v.encoder])
        for v, accuracy, shares in zip(views, over_folds, others, strict=True)
    }


def _figures(view: View) -> dict[tuple[str, str], Floats]:
    """Return the (n,) items of the shares that are no means over folds."""
    right = view.values("accuracy")
    folds = np.unique(view.fold).tolist()
    by_fold = {("accuracy", f"fold{number}"): np.where(view.fold == number, right, ABSENT) for number in folds}
    return {("centroid_accuracy", "all"): view.values("centroid_accuracy"), **by_fold}


def rows_of(view: View, shares: Shares, draws: Draws) -> Iterator[Row]:
    """Yield all rows of one encoder."""
    centroid, precision = QUANTITIES[1:]
    yield share_row(view.part("accuracy"), draws, "accuracy", "all", shares.accuracy, shares.placed_pool)
    near, pool = view.part(centroid), shares.near_pool
    yield share_row(near, draws, centroid, "all", shares.others[centroid, "all"], pool, measure=view.measure(centroid))
    mean_precision = mean(view.values(precision), view.scores.unit, draws, NAME, view.corpus_key)
    yield row(near, draws, precision, "all", mean_precision, measure=view.measure(precision))
    for (quantity, subset), found in shares.others.items():
        if quantity == "accuracy":
            yield share_row(view.part("accuracy"), draws, quantity, subset, found, shares.placed_pool)
    yield from _by_group(view, draws)


def _by_group(view: View, draws: Draws) -> Iterator[Row]:
    """Yield the accuracy in each group; a group is one unit, so it has no interval."""
    sizes = np.bincount(view.group)
    right = np.bincount(view.group, weights=view.values("accuracy"))
    for name, number, total in zip(view.names, sizes.tolist(), right.tolist(), strict=True):
        estimate = Estimate(total / number, None, None, number, 1, 0, too_few(1))
        yield row(view.part("accuracy"), draws, "accuracy", f"group:{name}", estimate)
