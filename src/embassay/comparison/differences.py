"""What is different between two encoders of merged runs: headline by headline, item by item, and across corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from embassay.comparison.merge import MergedRuns, has_same_scores
from embassay.comparison.runs import CommonTask
from embassay.diagnostics.base import HasHeadline, ShowsItems
from embassay.layout import Column, Format
from embassay.result import Comparison, Result, Verdict
from embassay.run.pages import headlines
from embassay.stats.meta import MIN_CORPORA, AcrossCorpora, across_corpora
from embassay.stats.noninferiority import Headline
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

    A pair has no difference where one of its encoders has no scores, or where the diagnostic has no headline for these
    two encoders.

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
        compared_pairs = []
        for pair in pairs:
            if pair.old not in scores or pair.new not in scores:
                continue
            compared = _ComparedPair.of(task, pair, scores[pair.old], scores[pair.new], merged.draws)
            if compared is not None:
                compared_pairs.append(compared)

        # Holm's correction is over the pairs of one diagnostic and corpus that have a p-value: pairs with fewer than 10
        # units or with the same scores are not tested.
        p_values = {compared.pair: compared.p for compared in compared_pairs if compared.p is not None}
        corrected = holm(list(p_values.values()))
        corrected_p_values = dict(zip(p_values, corrected, strict=True))
        for compared in compared_pairs:
            difference = compared.difference(corrected_p_values.get(compared.pair), column, merged.draws)
            differences.append(_with_flips(difference, task, compared, texts=texts))
    return tuple(differences)


@dataclass(frozen=True)
class _ComparedPair:
    """What a diagnostic says of the two encoders of a pair, before p-values are corrected for the number of pairs.

    Attributes
    ----------
    old, new
        The scores of both encoders.
    headline
        The item values of both.
    verdict
        On both, with the old one as the reference.
    comparison
        Of their headline values; None where no item has a value for both.
    old_value, new_value
        The headline values; None where undefined.
    is_same
        Whether both score all items in the same way.
    """

    pair: Pair
    old: ItemScores
    new: ItemScores
    headline: Headline
    verdict: Verdict
    comparison: Comparison | None
    old_value: float | None
    new_value: float | None
    is_same: bool

    @classmethod
    def of(cls, task: CommonTask, pair: Pair, old: ItemScores, new: ItemScores, draws: Draws) -> _ComparedPair | None:
        """Summarise two encoders alone, the old one as the reference; None where there is no headline."""
        if not isinstance(task.method, HasHeadline):
            return None
        old_label = old.origin.encoder
        is_same = has_same_scores(task, old, new)
        # The two need different labels, also where the merged result has them as one encoder.
        if pair.old == pair.new:
            old_label = f"{pair.old} (before)"
        # Both are candidates here, so that a lexical baseline can be compared with itself as well.
        old = replace(old, origin=replace(old.origin, encoder=old_label, baseline=False, reference=True))
        new = replace(new, origin=replace(new.origin, baseline=False, reference=False))
        headline = task.method.headline([old, new])
        if headline is None:
            return None
        result = task.method.summarise([old, new], draws)
        verdict = result.verdicts[0]
        comparison = None
        for candidate in result.comparisons:
            if candidate.family == "reference" and verdict.ranks_by(candidate):
                comparison = candidate
        return cls(
            pair,
            old,
            new,
            headline,
            verdict,
            comparison,
            old_value=_value(result, verdict, old_label),
            new_value=_value(result, verdict, new.origin.encoder),
            is_same=is_same,
        )

    @property
    def p(self) -> float | None:
        """The p-value of this pair alone; None where nothing changed, which needs no test."""
        if self.comparison is None or self.is_same:
            return None
        return self.comparison.p

    def difference(self, p: float | None, column: Column, draws: Draws) -> Difference:
        """Return the difference with its outcome, without flipped items.

        Parameters
        ----------
        p
            The p-value corrected for the number of pairs.
        column
            The name and format of the headline.
        """
        new_label = self.new.origin.encoder
        changes = self.headline.values[new_label] - self.headline.values[self.old.origin.encoder]
        defined = ~np.isnan(changes)
        unit = self.headline.unit[defined]
        units = len(np.unique(unit))
        error = None
        if units > 1:
            error = float(ratio_variance(changes[defined], unit) ** 0.5)

        against_reference = self.verdict.against_reference.get(new_label, {})
        difference = Difference(
            pair=self.pair,
            diagnostic=self.verdict.diagnostic,
            corpus=self.verdict.corpus,
            heading=column.heading,
            format=column.format,
            old_value=self.old_value,
            new_value=self.new_value,
            difference=None,
            low=None,
            high=None,
            p=p,
            outcome=UNCHANGED,
            margin=self.headline.margin,
            note="",
            smallest_difference=against_reference.get("smallest_difference"),
            error=error,
            items=int(defined.sum()),
            units=units,
        )
        compared = self.comparison
        if compared is not None:
            # The items of a correlation, for example, are not those of its item values.
            difference = replace(difference, difference=compared.difference, items=compared.items, units=compared.units)
        if self.is_same:
            # Where nothing changed there is nothing to estimate, so there is no interval.
            return difference
        if compared is not None:
            difference = replace(difference, low=compared.low, high=compared.high)
        outcome, note = self._outcome(p, draws)
        return replace(difference, outcome=outcome, note=note)

    def _outcome(self, p: float | None, draws: Draws) -> tuple[Outcome, str]:
        """Return the outcome, and a remark that may be empty, from the corrected p-value."""
        change = None
        if self.comparison is not None:
            change = self.comparison.difference
        is_significant = change is not None and p is not None and p <= ALPHA
        rose = change is not None and change > 0
        if is_significant and rose:
            return "better", ""
        if not self.headline.margin:
            # Without a margin there is no test of "not worse".
            if is_significant:
                return "worse", ""
            return "inconclusive", ""
        test = self.headline.not_worse(self.new.origin.encoder, self.old.origin.encoder, draws, p=p)
        return test.outcome, test.note


def _value(result: Result, verdict: Verdict, encoder: str) -> float | None:
    """Return the headline value of an encoder."""
    for row in result.rows:
        if row.encoder == encoder and verdict.ranks_by(row):
            return row.value
    return None


def _with_flips(difference: Difference, task: CommonTask, compared: _ComparedPair, *, texts: bool) -> Difference:
    """Return a difference with the items about which one encoder is right and the other is wrong."""
    if not isinstance(task.method, ShowsItems):
        return difference
    # (encoders, n) 1 where an encoder is right, 0 where it is wrong.
    correct = task.method.outcomes([compared.old, compared.new]).correct
    if len(correct) != 2:
        # Nothing is right or wrong, as with correlations.
        return difference
    before, after = correct
    # NaN is undefined, and a share is a tie: neither is right or wrong.
    decided = np.isin(before, (0, 1)) & np.isin(after, (0, 1))
    flips = []
    for place in np.flatnonzero(decided & (before != after)).tolist():
        item = str(compared.old.item[place])
        shown: Mapping[str, str] = {}
        if texts and task.items is not None:
            shown = task.items[place].texts
        gained = bool(after[place] == 1)
        flips.append(Flip(item, gained, shown))
    return replace(difference, flips=tuple(flips), decided=int(decided.sum()))


def summaries_of(differences: Sequence[Difference]) -> tuple[Summary, ...]:
    """Return a summary for each pair and diagnostic with a difference on several corpora.

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
        reason = _why_no_summary(of_pair)
        across = None
        if not reason:
            across = _across(of_pair)
        summaries.append(Summary(pair, diagnostic, tuple(of_pair), across, reason))
    return tuple(summaries)


def _why_no_summary(differences: Sequence[Difference]) -> str:
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
    without_error = [difference.corpus for difference in differences if difference.error is None]
    if without_error:
        return f"the error of the difference on {', '.join(without_error)} is unknown, because a single unit has none"
    few = [difference.corpus for difference in differences if difference.low is None]
    if few:
        return f"{', '.join(few)} has too few units for an interval"
    return ""


def _across(differences: Sequence[Difference]) -> AcrossCorpora | None:
    """Return the mean difference over corpora, from those with a difference and an error."""
    known = [one for one in differences if one.difference is not None and one.error is not None]
    values = np.array([one.difference for one in known], dtype=np.float64)
    errors = np.array([one.error for one in known], dtype=np.float64)
    return across_corpora(values, errors)
