"""Paired differences of item columns: all that ``check``, ``compare`` and ``adapt`` say is read off these.

Here alone stand the rules on differences of finished runs. There are two questions, each with its own test:

:func:`differences`
    What has changed? Two-sided, over units, with intervals, as in the verdict of a run.
:func:`losses`
    Has anything become worse? One-sided, about these items, for the gate. Each metric is decided on its own, in this
    order; the first that applies is the reason of its outcome:

    1. *regression*, if more than 5 % of the items lost their value.
    2. *regression*, if the loss is significant after Holm's correction over all tests of the check. Where the user set
       the margin and the limit of the loss is within it, a significant loss passes.
    3. *regression*, if more is lost on these documents than the margin, and more than the test set can rule out.
    4. *pass*, if no item got worse. Under ``strict`` the limit of the loss must be within the margin, too.
    5. *pass*, if the limit of the loss is within the margin.
    6. *inconclusive*.

    No item that gets better makes an outcome worse: p and limit move with every single item
    (:mod:`embassay.stats.gate`), and how many tests Holm's correction counts depends on the encoders only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from embassay.core.columns import ItemColumn
from embassay.core.layout import Format
from embassay.core.result import ALPHA, Comparison
from embassay.core.types import Draws
from embassay.diagnostics.metrics.verdict import compared, effective_items, item_values, labels_of, precision_of
from embassay.stats.families import Roles, consistent_interval
from embassay.stats.folds import mean_over_folds
from embassay.stats.gate import loss_limit, loss_p, most_lost, resolution
from embassay.stats.permutation import holm
from embassay.stats.units import Bools, Floats, Ints, unit_codes

OLD, NEW = "old", "new"
OUTCOMES = {
    "no value": "regression",
    "significant": "regression",
    "above the margin": "regression",
    "nothing lost": "pass",
    "within the margin": "pass",
    "significant within the margin": "pass",
    "not significant": "pass",
    "not excluded": "inconclusive",
}
"""The outcomes of the gate by their reasons."""
MOST_UNDEFINED = 0.05
"""The largest share of the items that may lose their value."""
NARROW = 1.0
"""A range of a mean is narrow up to this span: then an item can lose all of it. RR and nDCG have it."""
ROUNDING = 1e-9
"""A loss is larger than the margin by more than this."""


@dataclass(frozen=True)
class Change:
    """One metric of an encoder before and after.

    Attributes
    ----------
    encoder, metric
        As they are shown: a label or ``old → new``, and ``accuracy[part_of_speech:noun]`` or a heading.
    outcome
        Of the gate ``pass``, ``regression`` or ``inconclusive``; else ``better``, ``worse``, ``not worse``,
        ``inconclusive`` or ``nothing changed``.
    reason
        What decided the outcome of the gate; ``floor`` or ``ceiling`` where a value of the run is compared with its
        margin; empty elsewhere.
    old, new
        Its values; None where no item has one. The gate counts an item that has lost its value as the worst.
    difference, low, high
        New less old on the items with a value in both, with the 95 % interval; the gate has none.
    p
        Corrected for everything that is shown together: two-sided, of the gate one-sided. None where the items are too
        few, or the same encoder has the same values.
    limit
        The loss is below this (95 % confidence); None where the items are too few.
    items, units
        Items with a value in both runs, for the gate in one of them; and their label sets.
    undefined
        Items with a value in one run only, for the gate in the old one only.
    lost, gained
        Of a share, the items that became worse and better: their texts by their ids.
    smallest_difference
        The minimum detectable difference (power 80 %); the gate has none.
    sampled
        Whether the gate takes the documents for a sample.
    since
        Empty for the baseline; ``the anchor of 2026-03-14`` for the first baseline.
    """

    encoder: str
    diagnostic: str
    corpus: str
    metric: str
    format: Format
    of_shares: bool = False
    outcome: str = "inconclusive"
    margin: float = 0.0
    reason: str = ""
    old: float | None = None
    new: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    limit: float | None = None
    items: int = 0
    units: int = 0
    undefined: int = 0
    lost: Mapping[str, str] = field(default_factory=dict, repr=False)
    gained: Mapping[str, str] = field(default_factory=dict, repr=False)
    smallest_difference: float | None = None
    sampled: bool = False
    since: str = ""

    @property
    def name(self) -> str:
        """The metric, and whether it is compared with the anchor: ``Success@5 (anchor)``."""
        if self.reason in ("floor", "ceiling"):
            return f"floor {self.metric}"
        return f"{self.metric} (anchor)" if self.since else self.metric


@dataclass(frozen=True, eq=False)
class ColumnPair:
    """Two columns of the same items in the same order, with the same units; see :func:`~embassay.core.columns.paired`.

    Attributes
    ----------
    encoder, metric, since
        As in :class:`Change`.
    margin
        The smallest loss that matters.
    set_by_user
        Whether the margin is the user's.
    sampled
        Whether the documents are a sample of many more. Otherwise the gate takes each item for a unit of its own,
        however many are asked about one page, and near-duplicates for one.
    """

    old: ItemColumn
    new: ItemColumn
    encoder: str
    metric: str
    margin: float
    sampled: bool = False
    since: str = ""
    set_by_user: bool = False

    @property
    def columns(self) -> tuple[ItemColumn, ItemColumn]:
        """The old and the new column; correlations of both are with the same values."""
        return replace(self.old, against=self.new.against), self.new

    @cached_property
    def values(self) -> tuple[Floats, Floats]:
        """(n,) the old and the new item values, whose means are the metric: of a correlation its influences."""
        old, new = map(item_values, self.columns)
        return old, new

    @property
    def sign(self) -> float:
        """−1 where lower values are better, so that a rise is a loss; else 1."""
        return -1.0 if self.new.better == "lower" else 1.0

    @property
    def unchanged(self) -> bool:
        """Whether the same encoder has the same value on every item, which is no test."""
        same_encoder = self.old.fingerprint == self.new.fingerprint
        return same_encoder and np.array_equal(self.old.value, self.new.value, equal_nan=True)

    @cached_property
    def counted(self) -> Bools:
        """(n,) whether an item has a value in one of the runs; the others are left out."""
        return np.asarray(~np.isnan(self.values).all(axis=0))

    @property
    def lost_values(self) -> int:
        """How many items have a value in the old run only."""
        old, new = np.isnan(self.values)
        return int((new & ~old).sum())

    @property
    def worst(self) -> float | None:
        """The worst value of an item; None where there is no such end, as of influences."""
        if self.new.correlation:
            return None
        return self.new.high if self.sign < 0 else self.new.low

    @cached_property
    def filled(self) -> Floats:
        """(2, m) the old and the new values of the items that count, all defined.

        An encoder that gives no vector to some texts must not pass because they are left out. So an item that lost its
        value has the worst possible one in the new run, or the worst of these items. An item that gained a value was
        undefined in the old run, and counts as unchanged.
        """
        values = np.stack(self.values)[:, self.counted]
        worst = self.worst
        if worst is None:
            worst = self.sign * np.nanmin(self.sign * values, initial=np.inf)
        old, new = values
        # First what is lost, then what is gained: no item lacks both values.
        new = np.where(np.isnan(new), worst, new)
        old = np.where(np.isnan(old), new, old)
        return np.stack([old, new])

    @cached_property
    def gains(self) -> Floats:
        """(m,) by how much each item that counts became better."""
        old, new = self.sign * self.filled
        return np.asarray(new - old)

    @cached_property
    def unit(self) -> Ints:
        """(m,) the units of the items that count, for the gate."""
        return unit_codes(gate_units(self.new, sampled=self.sampled)[self.counted])

    @property
    def most_lost(self) -> float | None:
        """What an item can lose, where the range says it: all of a narrow range, such as that of a share."""
        low, high = self.new.low, self.new.high
        if low is None or high is None or high - low > NARROW or self.new.correlation:
            return None
        return high - low

    @cached_property
    def resolution(self) -> float:
        """The loss of a share that these items can rule out; 0 of other metrics."""
        return resolution(self.unit) if self.new.of_shares and len(self.gains) else 0.0

    def change(self, texts: Mapping[str, str], **figures: Any) -> Change:
        """Return a row with margin, the items of a share that got worse or better, and figures.

        Parameters
        ----------
        texts
            The text of each item by the hash of its content, as far as they are known.
        figures
            The other fields of the row.
        """
        ids, contents = (array[self.counted].tolist() for array in (self.old.item, self.new.content))
        # Every item of a mean or a correlation is a little better or worse: only answers are lost and gained.
        gains = self.gains.tolist() if self.new.of_shares else [0] * len(ids)
        items = [(gain, item, texts.get(content, "")) for gain, item, content in zip(gains, ids, contents, strict=True)]
        diagnostic, corpus = self.old.task
        return Change(
            encoder=self.encoder,
            diagnostic=diagnostic,
            corpus=corpus,
            metric=self.metric,
            format=self.new.format,
            of_shares=self.new.of_shares,
            sampled=self.sampled,
            margin=self.margin,
            lost={item: text for gain, item, text in items if gain < 0},
            gained={item: text for gain, item, text in items if gain > 0},
            since=self.since,
            **figures,
        )


def gate_units(column: ItemColumn, *, sampled: bool) -> Ints:
    """Return the (n,) units of a column's items for the gate; see :class:`ColumnPair`."""
    if sampled:
        return column.unit
    return np.asarray(np.unique(column.text, return_inverse=True)[1], dtype=np.int64)


# --- what has changed ------------------------------------------------------------------------------------


def differences(pairs: Sequence[ColumnPair], draws: Draws, texts: Mapping[str, str]) -> tuple[Change, ...]:
    """Return the difference of each pair, in their order; Holm's correction is over all that are tested.

    Parameters
    ----------
    texts
        See :meth:`ColumnPair.change`.
    """
    rows = [_tested(pair, draws) for pair in pairs]
    p_values = {place: row.p for place, row in enumerate(rows) if row.p is not None and not pairs[place].unchanged}
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    changes = []
    for place, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
        precision = None
        if row.p is not None:
            old, number = pair.columns[0], effective_items(pair.new, pair.values)
            precision = precision_of(pair.new, old, number, len(p_values))
        # Where nothing changed there is nothing to estimate or to test.
        low, high, p = None, None, corrected.get(place)
        if p is not None and row.difference is not None and row.low is not None and row.high is not None:
            low, high = consistent_interval(row.low, row.high, row.difference, p)
        smallest = precision.smallest_difference if precision else None
        row = replace(row, low=low, high=high, p_holm=p, smallest_difference=smallest)
        changes.append(difference_of(pair, row, texts))
    return tuple(changes)


def difference_of(pair: ColumnPair, row: Comparison, texts: Mapping[str, str] | None = None) -> Change:
    """Return the difference of a pair with what was tested: with the interval and the corrected p of a row.

    Parameters
    ----------
    row
        Of the two encoders of the pair, new less old.
    texts
        See :meth:`ColumnPair.change`.
    """
    (old, new), labels = pair.values, labels_of(pair.new)
    defined = ~np.isnan(new - old)
    labels, gaps, limit = labels.of_items(defined), (new - old)[defined], None
    if not labels.too_few:
        limit = loss_limit(pair.sign * gaps, labels.label_set, most_lost(old[defined], pair.most_lost))
    return pair.change(
        texts or {},
        outcome=_outcome(pair, row, limit),
        old=_value(pair.new, old),
        new=_value(pair.new, new),
        difference=row.difference,
        low=row.low,
        high=row.high,
        p=row.p_holm,
        limit=limit,
        items=len(gaps),
        units=labels.sets,
        undefined=int((np.isnan(old) != np.isnan(new)).sum()),
        smallest_difference=row.smallest_difference,
    )


def _tested(pair: ColumnPair, draws: Draws) -> Comparison:
    """Return the difference of a pair with the test of this pair alone."""
    columns = {NEW: pair.new, OLD: pair.old}
    rows = compared(pair.new.key, columns, Roles((NEW, OLD)), draws, *pair.old.stream)
    # There is no row where there are no items.
    return rows[0] if rows else Comparison(**vars(pair.new.key), a=NEW, b=OLD)


def _value(column: ItemColumn, values: Floats) -> float | None:
    """Return the metric from its (n,) item values; None where it is not defined."""
    if len(column.fold):
        return mean_over_folds(values, column.fold)
    return None if np.isnan(values).all() else float(np.nanmean(values))


def _outcome(pair: ColumnPair, row: Comparison, limit: float | None) -> str:
    """Return the outcome of a difference, from the corrected p-value and the limit of the loss."""
    if pair.unchanged:
        return "nothing changed"
    if row.difference is not None and row.is_significant:
        return "better" if pair.sign * row.difference > 0 else "worse"
    is_excluded = limit is not None and pair.margin > 0 and limit <= pair.margin
    return "not worse" if is_excluded else "inconclusive"


# --- has anything become worse ---------------------------------------------------------------------------


def losses(
    pairs: Sequence[ColumnPair], draws: Draws, texts: Mapping[str, str] | None = None, *, strict: bool = False
) -> tuple[Change, ...]:
    """Test whether anything became worse, in the order of the pairs; Holm's correction is over all that are tested.

    Parameters
    ----------
    texts
        See :meth:`ColumnPair.change`.
    strict
        Whether a metric of which no item got worse passes only where a loss of the margin is excluded.
    """
    # By the place of the pair. The same encoder with the same values has lost nothing, and needs no correction.
    p_values = {}
    for place, pair in enumerate(pairs):
        if not pair.unchanged and len(pair.gains):
            alone = loss_p(pair.gains, pair.unit, draws, *pair.old.task)
            # The anchor is asked at every release, and so at half the level.
            p_values[place] = min(2 * alone, 1.0) if pair.since else alone
    corrected = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    changes = []
    for place, pair in enumerate(pairs):
        figures: dict[str, float | None] = {"p": corrected.get(place), "limit": None}
        if len(pair.gains):
            old, new = pair.filled
            limit = loss_limit(pair.gains, pair.unit, most_lost(old, pair.most_lost))
            figures |= {"limit": limit, "old": float(old.mean()), "new": float(new.mean())}
        reason = _reason(pair, figures["p"], figures["limit"], strict=strict)
        counts = {"items": len(pair.gains), "undefined": pair.lost_values}
        changes.append(pair.change(texts or {}, reason=reason, outcome=OUTCOMES[reason], **counts, **figures))
    return tuple(changes)


def _reason(pair: ColumnPair, p: float | None, limit: float | None, *, strict: bool) -> str:
    """Return what decides the outcome of a metric; the order is that of this module."""
    gains, lost_values = pair.gains, pair.lost_values
    if limit is None:
        return "not excluded"
    if lost_values > MOST_UNDEFINED * len(gains):
        return "no value"
    is_significant = p is not None and p <= ALPHA
    is_within = limit <= pair.margin
    if is_significant and not (is_within and pair.set_by_user):
        return "significant"
    largest_allowed = max(pair.margin, pair.resolution) + ROUNDING
    if pair.new.of_shares and not pair.sampled and -gains.mean() > largest_allowed:
        return "above the margin"
    # What has lost its value may be worse than the worst that was seen.
    can_pass = not lost_values or pair.worst is not None
    if can_pass and not (gains < 0).any() and (is_within or not strict):
        return "nothing lost"
    if can_pass and is_within:
        return "significant within the margin" if is_significant else "within the margin"
    return "not significant" if pair.since else "not excluded"
