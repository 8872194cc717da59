"""What is different between two encoders of merged runs: headline by headline, item by item, and across corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from embassay.comparison.merge import MergedRuns
from embassay.comparison.names import is_headline
from embassay.comparison.runs import CommonTask
from embassay.diagnostics.base import HasHeadline, ShowsItems
from embassay.layout import Format
from embassay.result import Comparison, Result, Verdict
from embassay.run.pages import headlines
from embassay.stats.meta import MIN_CORPORA, AcrossCorpora, across_corpora
from embassay.stats.noninferiority import Headline, NotWorse
from embassay.stats.permutation import ALPHA, holm
from embassay.stats.units import ratio_variance
from embassay.types import Draws, ItemScores

Outcome = Literal["better", "not worse", "worse", "inconclusive", "nothing changed"]
UNCHANGED: Outcome = "nothing changed"


@dataclass(frozen=True)
class Pair:
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
class Difference:
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
    note
        A remark on the outcome; may be empty.
    smallest_difference
        The minimum detectable difference of this pair (power 80 %).
    error
        The standard error of the difference over units.
    flips
        In the order of the corpus; empty where nothing is right or wrong.
    decided
        The number of items that both encoders are right or wrong about. It may differ from ``items``: composition, for
        example, ranks encoders by its overlaps, and is right or wrong about differences and unions too.
    """

    pair: Pair
    diagnostic: str
    corpus: str
    heading: str
    format: Format
    old_value: float | None
    new_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    outcome: Outcome
    margin: float
    note: str
    smallest_difference: float | None
    error: float | None
    items: int
    units: int
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
class Summary:
    """One diagnostic's differences of one pair over several corpora.

    Attributes
    ----------
    across
        None where there is no summary.
    reason
        Why there is none; empty where there is one.
    """

    pair: Pair
    diagnostic: str
    differences: tuple[Difference, ...]
    across: AcrossCorpora | None
    reason: str = ""


def differences_of(merged: MergedRuns, pairs: Sequence[Pair], *, texts: bool) -> tuple[Difference, ...]:
    """Return the difference of each pair on each diagnostic with a headline and each corpus.

    Parameters
    ----------
    texts
        Whether flipped items have their texts.
    """
    columns = headlines(merged.result)
    differences = []
    for task in merged.tasks:
        column = columns.get(task.diagnostic)
        if column is None or not isinstance(task.method, HasHeadline):
            continue
        scores = merged.scores[task.name]
        drafts = []
        for pair in pairs:
            if pair.old not in scores or pair.new not in scores:
                continue
            draft = _Draft.of(task, pair, scores[pair.old], scores[pair.new], merged.draws)
            if draft is not None:
                drafts.append(draft)

        # One family for each diagnostic and corpus: the pairs.
        p_values = {place: draft.p for place, draft in enumerate(drafts) if draft.p is not None}
        adjusted = holm(list(p_values.values()))
        adjusted_at = dict(zip(p_values, adjusted, strict=True))
        for place, draft in enumerate(drafts):
            difference = draft.judged(adjusted_at.get(place), merged.draws)
            difference = replace(difference, heading=column.heading, format=column.format)
            differences.append(_with_flips(difference, task, draft.scores, texts=texts))
    return tuple(differences)


@dataclass(frozen=True)
class _Draft:
    """A difference before p-values are corrected for the number of pairs.

    Attributes
    ----------
    scores
        Of the old and the new encoder.
    """

    pair: Pair
    scores: tuple[ItemScores, ItemScores]
    headline: Headline
    verdict: Verdict
    comparison: Comparison | None
    values: tuple[float | None, float | None]

    @classmethod
    def of(cls, task: CommonTask, pair: Pair, old: ItemScores, new: ItemScores, draws: Draws) -> _Draft | None:
        """Summarise two encoders alone, the old one as the reference; None where there is no headline."""
        if pair.old == pair.new:
            old = replace(old, origin=replace(old.origin, encoder=f"{pair.old} (before)"))
        # Both are candidates here, so that a lexical baseline can be compared with itself as well.
        before = replace(old, origin=replace(old.origin, baseline=False, reference=True))
        after = replace(new, origin=replace(new.origin, baseline=False, reference=False))
        if not isinstance(task.method, HasHeadline):
            return None
        headline = task.method.headline([before, after])
        if headline is None:
            return None
        part = task.method.summarise([before, after], draws)
        verdict = part.verdicts[0]
        old_value = _value(part, verdict, before.origin.encoder)
        new_value = _value(part, verdict, after.origin.encoder)
        comparison = None
        for candidate in part.comparisons:
            if candidate.family == "reference" and is_headline(candidate, verdict):
                comparison = candidate
        return cls(pair, (before, after), headline, verdict, comparison, (old_value, new_value))

    @property
    def p(self) -> float | None:
        """The p-value of this pair alone; None where nothing changed, which needs no test."""
        if self.comparison is None or self.is_same:
            return None
        return self.comparison.p

    @property
    def is_same(self) -> bool:
        """Whether both encoders score the items in the same way."""
        return self.pair.old == self.pair.new

    def judged(self, p: float | None, draws: Draws) -> Difference:
        """Return the difference with its outcome.

        Parameters
        ----------
        p
            The p-value after correction.
        """
        old, new = (scores.origin.encoder for scores in self.scores)
        gaps = self.headline.values[new] - self.headline.values[old]
        defined = ~np.isnan(gaps)
        gaps = gaps[defined]
        unit = self.headline.unit[defined]
        items = len(gaps)
        units = len(np.unique(unit))
        error = None
        if units > 1:
            error = float(ratio_variance(gaps, unit) ** 0.5)

        difference, low, high = None, None, None
        compared = self.comparison
        if compared is not None:
            items = compared.items
            units = compared.units
            difference = compared.difference
            # Where nothing changed there is nothing to estimate, so there is no interval.
            if not self.is_same:
                low = compared.low
                high = compared.high
        outcome, note = UNCHANGED, ""
        if not self.is_same:
            outcome, note = _outcome(self.headline, new, old, p, difference, draws)
        against_reference = self.verdict.against_reference.get(new, {})
        return Difference(
            pair=self.pair,
            diagnostic=self.verdict.diagnostic,
            corpus=self.verdict.corpus,
            heading=self.verdict.quantity,
            format="number",
            old_value=self.values[0],
            new_value=self.values[1],
            difference=difference,
            low=low,
            high=high,
            p=p,
            outcome=outcome,
            margin=self.headline.margin,
            note=note,
            smallest_difference=against_reference.get("smallest_difference"),
            error=error,
            items=items,
            units=units,
        )


def _outcome(
    headline: Headline, new: str, old: str, p: float | None, difference: float | None, draws: Draws
) -> tuple[Outcome, str]:
    """Return the outcome of a comparison, and a remark that may be empty."""
    is_significant = p is not None and p <= ALPHA and difference is not None
    if is_significant and difference is not None and difference > 0:
        return "better", ""
    if not headline.margin:
        # Without a margin there is no test of "not worse".
        if is_significant:
            return "worse", ""
        return "inconclusive", ""
    test: NotWorse = headline.not_worse(new, old, draws, p=p)
    return test.outcome, test.note


def _value(part: Result, verdict: Verdict, encoder: str) -> float | None:
    """Return the headline value of an encoder."""
    for row in part.rows:
        if row.encoder == encoder and is_headline(row, verdict):
            return row.value
    return None


def _with_flips(
    difference: Difference, task: CommonTask, scores: tuple[ItemScores, ItemScores], *, texts: bool
) -> Difference:
    """Return a difference with the items about which one encoder is right and the other is wrong."""
    if not isinstance(task.method, ShowsItems):
        return difference
    correct = task.method.outcomes(scores).correct
    if len(correct) != len(scores):
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
        flips.append(Flip(item, bool(after[place] == 1), shown))
    return replace(difference, flips=tuple(flips), decided=int(decided.sum()))


def summaries_of(differences: Sequence[Difference]) -> tuple[Summary, ...]:
    """Return the differences of each pair and diagnostic that ran on several corpora.

    Corpora on which nothing changed belong to it like all others: to leave them out would move the mean away from 0.
    """
    grouped: dict[tuple[Pair, str], list[Difference]] = {}
    for difference in differences:
        if difference.difference is not None:
            grouped.setdefault((difference.pair, difference.diagnostic), []).append(difference)
    summaries = []
    for (pair, diagnostic), of_pair in grouped.items():
        if len(of_pair) < 2:
            continue
        reason = _no_summary(of_pair)
        across = None if reason else _across(of_pair)
        summaries.append(Summary(pair, diagnostic, tuple(of_pair), across, reason))
    return tuple(summaries)


def _no_summary(differences: Sequence[Difference]) -> str:
    """Return why several corpora have no summary; empty where they have one."""
    if len(differences) < MIN_CORPORA:
        return f"it takes {MIN_CORPORA} corpora"
    unchanged = [difference.corpus for difference in differences if not difference.error]
    if unchanged:
        return f"nothing changed on {', '.join(unchanged)}, so the error of the difference there is unknown"
    few = [difference.corpus for difference in differences if difference.low is None]
    if few:
        return f"{', '.join(few)} has too few units for an interval"
    return ""


def _across(differences: Sequence[Difference]) -> AcrossCorpora | None:
    """Return the mean difference over corpora, from those with a difference and an error."""
    known = [(d.difference, d.error) for d in differences if d.difference is not None and d.error is not None]
    values, errors = np.array(known, dtype=np.float64).T
    return across_corpora(values, errors)
