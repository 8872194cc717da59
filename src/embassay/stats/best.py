"""The best list and rank intervals: what the verdicts on pairs say about several systems together.

It is no procedure of its own: a system is *out* if some verdict shows it to be worse than another one. So the list
never contradicts a printed verdict, and what joins a run moves it only by its own verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from embassay.stats.families import PairedDifference

ROUNDING = 1e-12


@dataclass(frozen=True)
class Standings:
    """Which systems may be the best.

    Attributes
    ----------
    out
        Each system that is shown to be worse than another one, with the highest such other.
    may_be_best
        The systems that are not out, and whose value is at least that of every system that is; highest first.
    undecided
        Those that are neither: some system that is out has a higher value.
    rank_low, rank_high
        By system 1 + the number of verdicts against it, and the number of systems less the verdicts for it.
    """

    out: Mapping[str, str] = field(default_factory=dict)
    may_be_best: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    rank_low: Mapping[str, int] = field(default_factory=dict)
    rank_high: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, values: Mapping[str, float], differences: Sequence[PairedDifference]) -> Standings:
        """Return the standings of systems.

        Parameters
        ----------
        values
            The value of each system; higher is better.
        differences
            All of them: verdicts on other systems are ignored.
        """
        worse_than = worse_systems(differences)
        ranked = sorted(values, key=lambda name: -values[name])
        out = dict[str, str]()
        rank_low, rank_high = dict[str, int](), dict[str, int]()
        for name in ranked:
            better = [other for other in ranked if other in worse_than.get(name, ())]
            beaten = [other for other in ranked if name in worse_than.get(other, ())]
            rank_low[name], rank_high[name] = 1 + len(better), len(ranked) - len(beaten)
            if better:
                out[name] = better[0]
        highest_out = max((values[name] for name in out), default=float("-inf"))
        remaining = [name for name in ranked if name not in out]
        may_be_best = tuple(name for name in remaining if values[name] >= highest_out - ROUNDING)
        undecided = tuple(name for name in remaining if name not in may_be_best)
        return cls(out, may_be_best, undecided, rank_low, rank_high)


def worse_systems(differences: Sequence[PairedDifference]) -> dict[str, frozenset[str]]:
    """Return by system those that it is shown to be worse than."""
    better = dict[str, set[str]]()
    for one in differences:
        if one.significant and one.difference:
            winner, loser = (one.a, one.b) if one.difference > 0 else (one.b, one.a)
            better.setdefault(loser, set()).add(winner)
    return {name: frozenset(winners) for name, winners in better.items()}
