"""The verdict of a diagnostic: which candidates may be the best, and how they compare with their opponents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from embassay.metrics.scoreboard import Scoreboard
from embassay.result import MIN_UNITS, Difference, Estimate, Opponent, Role, Verdict
from embassay.stats.best import Standings
from embassay.stats.detectable import precision_of, precision_of_pair
from embassay.stats.families import PairedDifference
from embassay.stats.noninferiority import Headline


def verdict(
    board: Scoreboard,
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
    board
        The scores of all encoders.
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
    candidates = board.roles().candidates
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
    too_high = interval_as_first = lead = None
    if standings.first is not None and best_estimate.value is not None:
        too_high, lead = standings.first.too_high, standings.first.lead
        if best_estimate.low is not None and best_estimate.high is not None:
            low, high = standings.first.interval(best_estimate.value, best_estimate.low, best_estimate.high)
            interval_as_first = max(low, 0.0) if headline.of_shares else low, high
    return Verdict(
        board.diagnostic,
        board.corpus,
        headline.metric,
        items=len(board.unit),
        units=len(np.unique(board.unit)),
        subset=headline.subset,
        similarity_function=board[0].similarity_function,
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
        first_too_high=too_high,
        interval_as_first=interval_as_first,
        lead=lead,
        reason=standings.reason,
        opponents=tuple(_opponents(differences, headline)),
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


def _opponents(differences: Sequence[PairedDifference], headline: Headline) -> Iterator[Opponent]:
    """Yield the opponents that candidates were compared with, each with the differences from it."""
    for role in get_args(Role):
        of_role = [pair for pair in differences if pair.family == role]
        # Only parts differ from one candidate to the next.
        for name in dict.fromkeys(pair.b for pair in of_role):
            compared = [pair for pair in of_role if pair.b == name]
            yield Opponent(role, name, tuple(_difference(pair, headline) for pair in compared))


def _difference(pair: PairedDifference, headline: Headline) -> Difference:
    """Return a pair as a verdict has it, with the difference that could be detected."""
    difference = Difference(pair.a, pair.difference, pair.low, pair.high, pair.p_adjusted)
    if headline.of_shares:
        gaps = headline.values[pair.a] - headline.values[pair.b]
        won, tied, lost = (int(items.sum()) for items in (gaps > 0, gaps == 0, gaps < 0))
        difference = replace(difference, won=won, tied=tied, lost=lost)
    # Under MIN_UNITS units nothing is called better or worse, so no difference can be detected.
    if pair.units < MIN_UNITS:
        return difference
    precision = precision_of_pair(pair, headline.values, headline.unit, of_shares=headline.of_shares)
    if precision is None:
        return difference
    smallest_difference = precision.minimum_detectable_difference
    return replace(difference, smallest_difference=smallest_difference, **precision.next_target(headline.margin))


def unranked(board: Scoreboard) -> Verdict:
    """Return the verdict of a diagnostic that does not rank encoders."""
    unit = board.unit
    return Verdict(
        board.diagnostic,
        board.corpus,
        "",
        items=len(unit),
        units=len(np.unique(unit)),
        candidates=board.roles().candidates,
    )
