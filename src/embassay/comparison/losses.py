"""The tests of a check: which metrics of a run are worse than those of a baseline, corrected for their number.

Each metric is decided on its own, in this order; the first that applies is the reason of its outcome:

1. *regression*, if more than 5 % of the items lost their value.
2. *regression*, if the loss is significant after Holm's correction over all tests of the check. Where the user set the
   margin and the limit of the loss is within it, a significant loss passes.
3. *regression*, if more is lost on these documents than the margin, and more than the test set can rule out.
4. *pass*, if no item got worse. Under ``strict`` the limit of the loss must be within the margin, too.
5. *pass*, if the limit of the loss is within the margin.
6. *inconclusive*.

No item that gets better makes an outcome worse: p and limit move with every single item (:mod:`embassay.stats.gate`),
and how many tests Holm's correction counts depends on the encoders only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.result import ALPHA
from embassay.core.types import Draws
from embassay.stats.gate import loss_limit, loss_p, most_lost, resolution
from embassay.stats.permutation import holm
from embassay.stats.units import Bools, Floats, Ints, unit_codes

Outcome = Literal["pass", "regression", "inconclusive"]
Reason = Literal[
    "no value",
    "significant",
    "above the margin",
    "nothing lost",
    "within the margin",
    "significant within the margin",
    "not significant",
    "not excluded",
]
OUTCOMES: dict[Reason, Outcome] = {
    "no value": "regression",
    "significant": "regression",
    "above the margin": "regression",
    "nothing lost": "pass",
    "within the margin": "pass",
    "significant within the margin": "pass",
    "not significant": "pass",
    "not excluded": "inconclusive",
}
MOST_UNDEFINED = 0.05
"""The largest share of the items that may lose their value."""
NARROW = 1.0
"""A range of a mean is narrow up to this span: then an item can lose all of it. RR and nDCG have it."""
ROUNDING = 1e-9
"""A loss is larger than the margin by more than this."""


@dataclass(frozen=True)
class PairedMetric:
    """A metric of one candidate in two runs, item by item.

    Attributes
    ----------
    encoder, diagnostic, corpus, metric
        What it is; the metric by the name that users write.
    margin
        The smallest loss that matters, above 0.
    old, new
        (n,) item values whose mean is the metric; NaN is undefined.
    unit
        (n,) unit codes from 0.
    item
        (n,) ids.
    texts
        The text of each item by its id, as far as they are known.
    ends
        The lowest and the highest value of an item; None where there is no such end.
    of_shares
        Whether the values are yes and no, or shares of them.
    lower_is_better
        Whether a rise is a loss.
    same_encoder
        Whether both have the same fingerprint.
    is_headline
        Whether it is the headline of its diagnostic.
    set_by_user
        Whether the margin is the user's; by default it is what the test set can rule out, or what the metric declares.
    sampled
        Whether the items are a sample, unit by unit, and not all that is asked of these documents.
    since
        Empty for the baseline; ``the anchor of 2026-03-14`` for the first baseline.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    margin: float
    old: Floats
    new: Floats
    unit: Ints
    item: NDArray[np.str_]
    texts: Mapping[str, str] = field(default_factory=dict)
    ends: tuple[float | None, float | None] = (0.0, 1.0)
    of_shares: bool = True
    lower_is_better: bool = False
    same_encoder: bool = False
    is_headline: bool = True
    set_by_user: bool = False
    sampled: bool = False
    since: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether the same encoder has the same value on every item, which is no test."""
        return self.same_encoder and np.array_equal(self.old, self.new, equal_nan=True)

    @cached_property
    def counted(self) -> Bools:
        """(n,) whether an item has a value in one of the runs; the others are left out."""
        return np.asarray(~(np.isnan(self.old) & np.isnan(self.new)))

    @property
    def lost_value(self) -> Bools:
        """(n,) whether an item has a value in the old run only."""
        return np.asarray(np.isnan(self.new) & ~np.isnan(self.old))

    @property
    def worst_end(self) -> float | None:
        """The worst value that an item can have; None where there is no such end."""
        low, high = self.ends
        return high if self.lower_is_better else low

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """The old and the new (m,) values of the items that count, all defined.

        An encoder that gives no vector to some texts must not pass because they are left out. So an item that has lost
        its value has the worst one, or the worst that was seen. One that had none before has gained nothing.
        """
        old, new = self.old[self.counted], self.new[self.counted]
        worst = self.worst_end
        if worst is None and len(old):
            seen = np.concatenate([old, new])
            worst = float(np.nanmax(seen) if self.lower_is_better else np.nanmin(seen))
        new = np.where(np.isnan(new), np.nan if worst is None else worst, new)
        return np.where(np.isnan(old), new, old), new

    @cached_property
    def gains(self) -> Floats:
        """(m,) by how much each item that counts became better."""
        old, new = self.values
        return old - new if self.lower_is_better else new - old

    @property
    def unit_of_gains(self) -> Ints:
        """(m,) the units of the items that count."""
        return unit_codes(self.unit[self.counted])

    @property
    def span(self) -> float | None:
        """What an item can lose, where the range says it: all of a share, or of a narrow range."""
        if self.of_shares:
            return 1.0
        low, high = self.ends
        if low is None or high is None or high - low > NARROW:
            return None
        return high - low

    @cached_property
    def resolution(self) -> float:
        """The loss of a share that these items can rule out; 0 of other metrics."""
        return resolution(self.unit_of_gains) if self.of_shares and len(self.gains) else 0.0


@dataclass(frozen=True)
class LossTest:
    """The change of one metric of one candidate against the baseline.

    Attributes
    ----------
    metric
        Its name, with the subset in brackets: ``accuracy[part_of_speech:noun]``.
    reason
        What decided its outcome.
    margin
        The smallest loss that matters.
    old, new
        The metric in the baseline and in the run, on the common items; None where none has a value.
    limit
        The loss is below this (95 % confidence); None where no item has a value.
    p
        Of a loss, one-sided, after Holm's correction over all tests of the check; None where the same encoder has the
        same values.
    items
        Those that have a value in one of the runs.
    lost, gained
        The items of a share that became worse and better: their texts by their ids.
    undefined
        How many items have lost their value.
    of_shares
        Whether the figures are shares.
    since
        What it is compared with, as in :class:`PairedMetric`.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    reason: Reason
    margin: float
    old: float | None = None
    new: float | None = None
    limit: float | None = None
    p: float | None = None
    items: int = 0
    lost: Mapping[str, str] = field(default_factory=dict)
    gained: Mapping[str, str] = field(default_factory=dict)
    undefined: int = 0
    of_shares: bool = True
    since: str = ""

    @property
    def name(self) -> str:
        """The metric, and whether it is compared with the anchor: ``Success@5 (anchor)``."""
        return f"{self.metric} (anchor)" if self.since else self.metric

    @property
    def outcome(self) -> Outcome:
        """``pass``, ``regression`` or ``inconclusive``."""
        return OUTCOMES[self.reason]


def changes_of(pairs: Sequence[PairedMetric], draws: Draws, *, strict: bool = False) -> tuple[LossTest, ...]:
    """Test all metrics of a check, in their order.

    Parameters
    ----------
    strict
        Whether a metric of which no item got worse passes only where a loss of the margin is excluded.
    """
    # By the place of the pair. The same encoder with the same values has lost nothing, and needs no correction.
    p_values = {}
    for place, pair in enumerate(pairs):
        if not pair.unchanged and len(pair.gains):
            p = loss_p(pair.gains, pair.unit_of_gains, draws, pair.diagnostic, pair.corpus)
            # The anchor is asked at every release, and so at half the level.
            p_values[place] = min(2 * p, 1.0) if pair.since else p
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return tuple(_test(pair, corrected.get(place), strict=strict) for place, pair in enumerate(pairs))


def _test(pair: PairedMetric, p: float | None, *, strict: bool) -> LossTest:
    """Return the test of a metric, with the p-value corrected for all tests of the check."""
    gains = pair.gains
    limit = old = new = None
    if len(gains):
        of_old, of_new = pair.values
        limit = loss_limit(gains, pair.unit_of_gains, most_lost(of_old, pair.span))
        old, new = float(of_old.mean()), float(of_new.mean())
    # Every item of a mean or a correlation is a little better or worse: only answers are lost and gained.
    ids = pair.item[pair.counted] if pair.of_shares else np.array([], dtype=np.str_)
    changed = gains if pair.of_shares else np.array([])
    return LossTest(
        encoder=pair.encoder,
        diagnostic=pair.diagnostic,
        corpus=pair.corpus,
        metric=pair.metric,
        reason=_reason(pair, p, limit, strict=strict),
        margin=pair.margin,
        old=old,
        new=new,
        limit=limit,
        p=p,
        items=len(gains),
        lost={item: pair.texts.get(item, "") for item in ids[changed < 0].tolist()},
        gained={item: pair.texts.get(item, "") for item in ids[changed > 0].tolist()},
        undefined=int(pair.lost_value.sum()),
        of_shares=pair.of_shares,
        since=pair.since,
    )


def _reason(pair: PairedMetric, p: float | None, limit: float | None, *, strict: bool) -> Reason:
    """Return what decides the outcome of a metric; the order is that of this module."""
    if limit is None:
        return "not excluded"
    gains = pair.gains
    undefined = pair.lost_value.sum()
    if undefined > MOST_UNDEFINED * len(gains):
        return "no value"
    is_significant = p is not None and p <= ALPHA
    is_within = limit <= pair.margin
    if is_significant and not (is_within and pair.set_by_user):
        return "significant"
    largest_allowed = max(pair.margin, pair.resolution) + ROUNDING
    if pair.of_shares and not pair.sampled and -gains.mean() > largest_allowed:
        return "above the margin"
    # What has lost its value may be worse than the worst that was seen.
    can_pass = not undefined or pair.worst_end is not None
    if can_pass and not (gains < 0).any() and (is_within or not strict):
        return "nothing lost"
    if can_pass and is_within:
        return "significant within the margin" if is_significant else "within the margin"
    return "not significant" if pair.since else "not excluded"
