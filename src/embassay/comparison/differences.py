"""What is different between two encoders of merged runs: headline by headline, item by item, and across corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from embassay.comparison.merge import MergedRuns, has_same_scores
from embassay.comparison.runs import CommonTask
from embassay.core.layout import Column, Format
from embassay.core.result import ALPHA
from embassay.core.types import Diagnostic, Draws, ItemScores
from embassay.diagnostics.base import DeclaresMetrics, ShowsItems
from embassay.diagnostics.metrics.item_metric import Headline
from embassay.diagnostics.metrics.metric import headline_columns
from embassay.stats.detectable import Precision
from embassay.stats.families import consistent_interval
from embassay.stats.meta import MIN_CORPORA, AcrossCorpora, across_corpora
from embassay.stats.permutation import holm
from embassay.stats.units import ratio_variance

Outcome = Literal["better", "not worse", "worse", "inconclusive", "nothing changed"]


class RankingDiagnostic(Diagnostic, DeclaresMetrics, Protocol):
    """A diagnostic with a headline."""


@dataclass(frozen=True)
class EncoderPair:
    """Two encoders of the merged result.

    Attributes
    ----------
    label
        What the pair is called.
    old, new
        Labels in the merged result; the same where all item scores are the same.
    old_run, new_run
        The names of their runs.
    """

    label: str
    old: str
    new: str
    old_run: str = ""
    new_run: str = ""


@dataclass(frozen=True)
class Flip:
    """An item that one of two encoders is right about and the other is not.

    Attributes
    ----------
    gained
        Whether the new encoder is right; otherwise the old one is.
    texts
        By name; empty where they are not stored or not to be shown.
    """

    item: str
    gained: bool
    texts: Mapping[str, str]


@dataclass(frozen=True)
class HeadlineChange:
    """A headline of one pair of encoders: the new value less the old one.

    Attributes
    ----------
    heading, format
        How the headline is called and written.
    old_value, new_value
        Of the headline on the common items.
    difference, low, high
        With its 95 % interval; None where it is undefined, or the interval under 10 units.
    p
        After Holm's correction over the pairs on this corpus; None under 10 units.
    outcome
        ``worse`` and ``better`` are significant; ``not worse`` rules out a loss of ``margin`` or more.
    margin
        The smallest loss that matters; 0 where the headline has none.
    smallest_difference
        The minimum detectable difference of this pair (power 80 %).
    left_out
        How many items have a value for one of the two encoders only: the difference is without them.
    error
        The standard error of the difference over units.
    flips
        In the order of the corpus; empty where nothing is right or wrong.
    decided
        The number of items that both encoders are right or wrong about. It may differ from ``items``: composition, for
        example, ranks encoders by its overlaps, and is right or wrong about differences and unions too.
    """

    pair: EncoderPair
    diagnostic: str
    corpus: str
    heading: str
    format: Format
    old_value: float | None
    new_value: float | None
    margin: float
    smallest_difference: float | None
    error: float | None
    items: int
    units: int
    left_out: int = 0
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    outcome: Outcome = "nothing changed"
    flips: tuple[Flip, ...] = field(default=(), repr=False)
    decided: int = 0

    @property
    def gained(self) -> int:
        """The number of items that only the new encoder is right about."""
        return sum(flip.gained for flip in self.flips)

    @property
    def lost(self) -> int:
        """The number of items that only the old encoder is right about."""
        return len(self.flips) - self.gained


@dataclass(frozen=True)
class DifferencesSummary:
    """One diagnostic's differences of one pair over several corpora.

    Attributes
    ----------
    across
        None where there is no summary.
    reason
        Why there is none; empty where there is one.
    """

    pair: EncoderPair
    diagnostic: str
    differences: tuple[HeadlineChange, ...]
    across: AcrossCorpora | None
    reason: str = ""


def differences_of(merged: MergedRuns, pairs: Sequence[EncoderPair], *, texts: bool) -> tuple[HeadlineChange, ...]:
    """Return the difference of each pair on each diagnostic with a headline and each corpus.

    A pair has no difference where one of its encoders has no scores, or where the diagnostic has no headline for these
    two encoders.

    Parameters
    ----------
    texts
        Whether flipped items have their texts.
    """
    columns = headline_columns(merged.result)
    compared_pairs: list[tuple[CommonTask, _Compared]] = []
    for task in merged.tasks:
        column = columns.get(task.diagnostic)
        if column is None or not isinstance(task.method, DeclaresMetrics):
            continue
        scores = merged.scores[task.name]
        for pair in pairs:
            if pair.old in scores and pair.new in scores:
                compared = _compared(task, task.method, pair, scores, column, merged.draws)
                if compared is not None:
                    compared_pairs.append((task, compared))

    # Holm's correction is over everything that is shown, as in a check. Pairs with the same scores are not tested.
    tested = [place for place, (_, compared) in enumerate(compared_pairs) if compared.difference.p is not None]
    p_values = [compared_pairs[place][1].difference.p or 0.0 for place in tested]
    corrected_p_values = dict(zip(tested, holm(p_values), strict=True))
    differences = []
    for place, (task, compared) in enumerate(compared_pairs):
        difference = _with_corrected_p(compared.difference, corrected_p_values.get(place))
        if compared.precision is not None:
            smallest = replace(compared.precision, tests=max(len(tested), 1)).smallest_difference
            difference = replace(difference, smallest_difference=smallest)
        if not compared.is_same:
            difference = replace(difference, outcome=_outcome(difference, compared.headline))
        differences.append(_with_flips(difference, task, compared.scores, texts=texts))
    return tuple(differences)


def _with_corrected_p(difference: HeadlineChange, p: float | None) -> HeadlineChange:
    """Return a difference with the p that is corrected for all tests, and an interval that agrees with it."""
    change, low, high = difference.difference, difference.low, difference.high
    if p is None or change is None or low is None or high is None:
        return replace(difference, p=p)
    low, high = consistent_interval(low, high, change, p)
    return replace(difference, p=p, low=low, high=high)


OLD, NEW = "old", "new"


@dataclass(frozen=True)
class _Compared:
    """What a diagnostic says of the two encoders of a pair, before p-values are corrected for the number of pairs.

    Attributes
    ----------
    difference
        With the p of this pair alone, without an outcome and flipped items.
    scores
        Those of the encoder before and after, under the labels ``old`` and ``new``.
    headline
        The item values of both.
    is_same
        Whether both score all items in the same way.
    precision
        With which these items estimate the difference; None where they are too few.
    """

    difference: HeadlineChange
    scores: Sequence[ItemScores]
    headline: Headline
    is_same: bool
    precision: Precision | None


def _compared(
    task: CommonTask,
    method: RankingDiagnostic,
    pair: EncoderPair,
    scores: Mapping[str, ItemScores],
    column: Column,
    draws: Draws,
) -> _Compared | None:
    """Compare two encoders alone; None where there is no headline.

    Parameters
    ----------
    column
        The name and format of the headline.
    """
    is_same = has_same_scores(task, scores[pair.old], scores[pair.new])
    both = []
    for label, encoder in ((OLD, pair.old), (NEW, pair.new)):
        # Both are models of their own here, so that a lexical baseline can be compared with itself as well.
        origin = replace(scores[encoder].origin, encoder=label, baseline=False, parts=(), step="", reference=False)
        both.append(replace(scores[encoder], origin=origin))
    figures = method.figures(both)
    headline, figure = figures.headline(), figures.headline_figure
    if headline is None or figure is None:
        return None
    values = {row.encoder: row.value for row in figures.rows(draws) if headline.key.covers(row.key)}
    gaps = headline.values[NEW] - headline.values[OLD]
    defined = ~np.isnan(gaps)
    unit = headline.unit[defined]
    verdict = figures.summarise(draws).verdict
    compared = next((one.of(NEW) for one in verdict.differences), None)
    difference = HeadlineChange(
        pair=pair,
        diagnostic=task.diagnostic,
        corpus=task.corpus,
        heading=column.heading,
        format=column.format,
        old_value=values.get(OLD),
        new_value=values.get(NEW),
        margin=headline.margin,
        smallest_difference=None,
        error=float(ratio_variance(gaps[defined], unit) ** 0.5) if len(np.unique(unit)) > 1 else None,
        items=int(defined.sum()),
        units=len(np.unique(unit)),
        left_out=int(np.logical_xor(*map(np.isnan, headline.values.values())).sum()),
    )
    precision = None
    if compared is not None:
        difference = replace(difference, difference=compared.difference)
        if compared.smallest_difference is not None:
            precision = Precision.of(gaps, headline.labels, verdict.effective_items)
        # Where nothing changed there is nothing to estimate or to test, so there is no interval and no p-value.
        if not is_same:
            difference = replace(difference, low=compared.low, high=compared.high, p=compared.p)
    return _Compared(difference, both, headline, is_same, precision)


def _outcome(difference: HeadlineChange, headline: Headline) -> Outcome:
    """Return the outcome of a difference, from the corrected p-value and the limit of the loss."""
    change, p = difference.difference, difference.p
    if change is not None and p is not None and p <= ALPHA:
        return "better" if change > 0 else "worse"
    limit = headline.loss_limit(NEW, OLD)
    if limit is not None and headline.margin and limit <= headline.margin:
        return "not worse"
    return "inconclusive"


def _with_flips(
    difference: HeadlineChange, task: CommonTask, scores: Sequence[ItemScores], *, texts: bool
) -> HeadlineChange:
    """Return a difference with the items about which one encoder is right and the other is wrong."""
    if not isinstance(task.method, ShowsItems):
        return difference
    # (encoders, n) 1 where an encoder is right, 0 where it is wrong.
    correct = task.method.outcomes(scores).correct
    if len(correct) != 2:
        # Nothing is right or wrong, as with correlations.
        return difference
    before, after = correct
    # NaN is undefined, and a share is a tie: neither is right or wrong.
    decided = np.isin(before, (0, 1)) & np.isin(after, (0, 1))
    flips = []
    for place in np.flatnonzero(decided & (before != after)).tolist():
        item = str(scores[0].item[place])
        shown: Mapping[str, str] = {}
        if texts and task.items is not None:
            shown = task.items[place].texts
        gained = bool(after[place] == 1)
        flips.append(Flip(item, gained, shown))
    return replace(difference, flips=tuple(flips), decided=int(decided.sum()))


def summaries_of(differences: Sequence[HeadlineChange]) -> tuple[DifferencesSummary, ...]:
    """Return a summary for each pair and diagnostic with a difference on several corpora.

    Corpora on which nothing changed belong to it like all others: to leave them out would move the mean away from 0.
    """
    grouped: dict[tuple[EncoderPair, str], list[HeadlineChange]] = {}
    for difference in differences:
        if difference.difference is not None:
            grouped.setdefault((difference.pair, difference.diagnostic), []).append(difference)
    summaries = []
    for (pair, diagnostic), of_pair in grouped.items():
        if len(of_pair) < 2:
            continue
        reason = _why_no_summary(of_pair)
        across = None
        if not reason:
            values = np.array([one.difference for one in of_pair], dtype=np.float64)
            errors = np.array([one.error for one in of_pair], dtype=np.float64)
            across = across_corpora(values, errors)
        summaries.append(DifferencesSummary(pair, diagnostic, tuple(of_pair), across, reason))
    return tuple(summaries)


def _why_no_summary(differences: Sequence[HeadlineChange]) -> str:
    """Return why a pair has no summary over its corpora for a diagnostic; empty where it has one.

    Parameters
    ----------
    differences
        Those of one pair and diagnostic, one for each corpus.
    """
    if len(differences) < MIN_CORPORA:
        return f"it takes {MIN_CORPORA} corpora"
    # The mean over corpora weights each by its error. Where nothing changed the error is 0; a single unit has none.
    unchanged = [difference.corpus for difference in differences if difference.error == 0]
    if unchanged:
        return f"nothing changed on {', '.join(unchanged)}, so the error of the difference there is unknown"
    few = [difference.corpus for difference in differences if difference.error is None or difference.low is None]
    if few:
        return f"{', '.join(few)} has too few units for an interval"
    return ""
