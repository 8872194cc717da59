"""Differences between two encoders, as a verdict holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from embassay.errors import SpecError
from embassay.metrics.metric import direction_of
from embassay.metrics.scoreboard import roles_of
from embassay.result import MIN_UNITS, Estimate, Verdict
from embassay.stats.best import Standings
from embassay.stats.detectable import precision_of, precision_of_pair
from embassay.stats.families import Family, PairedDifference
from embassay.stats.noninferiority import Headline
from embassay.types import ItemScores

ALPHA = 0.05


@dataclass(frozen=True)
class Difference:
    """The difference of a candidate from an opponent, with its interval and p-value.

    Attributes
    ----------
    value
        The candidate's value minus that of the opponent.
    low, high
        The ends of the 95 % interval.
    p
        The p-value after Holm's correction.
    """

    value: float
    low: float | None
    high: float | None
    p: float

    @property
    def is_significant(self) -> bool:
        """Whether one of the two is significantly better."""
        return self.p <= ALPHA


def read_difference(entry: Mapping[str, float | None]) -> Difference | None:
    """Return the difference in an entry of ``Verdict.against_reference`` and the like; None where it was not tested."""
    value = entry["difference"]
    p = entry["p"]
    # With too few units, nothing is called better or worse.
    if value is None or p is None:
        return None
    return Difference(value, entry["low"], entry["high"], p)


def read_differences(entries: Mapping[str, Mapping[str, float | None]]) -> dict[str, Difference]:
    """Return the tested differences by candidate; those that were not tested are left out."""
    differences = {}
    for name, entry in entries.items():
        difference = read_difference(entry)
        if difference is not None:
            differences[name] = difference
    return differences


def verdict(
    scores: Sequence[ItemScores],
    headline: Headline,
    estimates: Mapping[str, Estimate],
    differences: Sequence[PairedDifference],
    standings: Standings,
    *,
    chance: float | None = None,
    leader: str = "Best",
) -> Verdict:
    """Return which candidates may be the best on the headline, and how they stand to reference and baseline.

    Parameters
    ----------
    scores
        Those of all encoders on one corpus.
    estimates
        The headline's estimate by encoder.
    differences
        The paired differences of all families on the headline.
    standings
        The ranking of the candidates on the headline.
    chance
        What blind choice would reach, where that is known.
    leader
        ``Best``, or ``Highest`` where higher is not always better.
    """
    diagnostic = scores[0].origin.diagnostic
    if direction_of(diagnostic, headline.metric, headline.subset, headline.condition) != "higher":
        raise SpecError(f"diagnostic {diagnostic!r}: a headline must be a metric of which higher values are better")
    candidates = roles_of(scores).candidates
    defined = [name for name in candidates if estimates[name].value is not None]
    best: str | None = None
    best_estimate = Estimate(None, None, None, 0, 0, reason="no candidate is ranked")
    if standings.best_set:
        best = standings.best_set[0]
        best_estimate = estimates[best]
    values = {name: headline.values[name] for name in defined}
    precision = precision_of(differences, values, headline.unit, of_shares=headline.of_shares)
    smallest_difference, smallest_units = None, None
    # Under MIN_UNITS units nothing is called better or worse, so no difference can be detected.
    if precision is not None and precision.units >= MIN_UNITS:
        smallest_difference, smallest_units = precision.minimum_detectable_difference, precision.units
    reference, against_reference = _against("reference", differences, headline)
    baseline, against_baseline = _against("baseline", differences, headline)
    second_baseline, against_second_baseline = _against("second_baseline", differences, headline)
    return Verdict(
        diagnostic,
        scores[0].origin.corpus,
        headline.metric,
        items=len(scores[0].unit),
        units=len(np.unique(scores[0].unit)),
        subset=headline.subset,
        similarity_function=scores[0].similarity_function,
        condition=headline.condition,
        candidates=_ordered(defined, standings, estimates),
        undefined=tuple(name for name in candidates if name not in defined),
        best=best,
        value=best_estimate.value,
        low=best_estimate.low,
        high=best_estimate.high,
        best_set=standings.best_set,
        rank_low=dict(standings.rank_low),
        rank_high=dict(standings.rank_high),
        left_out=tuple(name for name in standings.left_out if name in defined),
        undefined_as_wrong=dict(standings.undefined_as_wrong),
        reason=standings.reason,
        reference=reference,
        against_reference=against_reference,
        baseline=baseline,
        against_baseline=against_baseline,
        second_baseline=second_baseline,
        against_second_baseline=against_second_baseline,
        chance=chance,
        smallest_difference=smallest_difference,
        smallest_units=smallest_units,
        leader=leader,
    )


def _ordered(names: Sequence[str], standings: Standings, estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Return encoders by their values on the common items, highest first; then those that are not ranked."""
    ranked = [name for name in standings.values if name in names]
    others = [name for name in names if name not in standings.values]
    others.sort(key=lambda name: -(estimates[name].value or 0.0))
    return (*ranked, *others)


def _against(
    family: Family, differences: Sequence[PairedDifference], headline: Headline
) -> tuple[str | None, dict[str, dict[str, float | None]]]:
    """Return the opponent of a family, and by candidate the difference from it."""
    opponent: str | None = None
    gaps = dict[str, dict[str, float | None]]()
    for pair in differences:
        if pair.family == family:
            opponent = pair.b
            gaps[pair.a] = {
                "difference": pair.difference,
                "low": pair.low,
                "high": pair.high,
                "p": pair.p_adjusted,
                "smallest_difference": None,
            }
            # Under MIN_UNITS units nothing is called better or worse, so no difference can be detected.
            if pair.units >= MIN_UNITS:
                precision = precision_of_pair(pair, headline.values, headline.unit, of_shares=headline.of_shares)
                if precision is not None:
                    gaps[pair.a]["smallest_difference"] = precision.minimum_detectable_difference
                    gaps[pair.a] |= precision.next_target()
    return opponent, gaps


def unranked(scores: Sequence[ItemScores]) -> Verdict:
    """Return the verdict of a diagnostic that does not rank encoders."""
    unit = scores[0].unit
    return Verdict(
        scores[0].origin.diagnostic,
        scores[0].origin.corpus,
        "",
        items=len(unit),
        units=len(np.unique(unit)),
        candidates=roles_of(scores).candidates,
    )
