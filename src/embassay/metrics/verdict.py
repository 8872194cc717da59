"""Differences between two encoders, as a verdict holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
