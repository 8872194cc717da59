"""What the metrics of a diagnostic mean: which values are better, and how they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from embassay.errors import SpecError
from embassay.plugins import DIAGNOSTICS

Direction = Literal["higher", "lower", "neither"]
"""Which values of a metric are better."""


@dataclass(frozen=True)
class Meaning:
    """What the metrics of a diagnostic mean, for code that chooses between encoders: its ``MEANING``.

    Attributes
    ----------
    title
        What the headline metric says about a model, in a few words; empty where there is no headline.
    items
        What one item is called, in the plural.
    margin
        An encoder counts as worse from this loss of the headline metric on; 0 where there is no headline.
    points
        Whether the headline is a share, written in percentage points; otherwise it is written as a number.
    numbers
        Where the headline is a share: the other metrics with a direction that are none.
    """

    title: str = ""
    items: str = "items"
    margin: float = 0.0
    points: bool = True
    numbers: tuple[str, ...] = ()


def meaning_of(diagnostic: str) -> Meaning:
    """Return the ``MEANING`` of a diagnostic; without one, that of a diagnostic without a headline."""
    meaning: Meaning = getattr(DIAGNOSTICS.module(diagnostic), "MEANING", Meaning())
    return meaning


def direction_of(diagnostic: str, metric: str, subset: str, condition: str = "") -> Direction:
    """Return which values of a metric are better, as its diagnostic declares in ``DIRECTIONS``.

    ``DIRECTIONS`` maps patterns of names to directions, and the first pattern that matches counts. A name is written as
    in ``embassay check``: ``accuracy[all]``, ``contrast[synonym-antonym,raw]``. ``*`` stands for any text. There is no
    default: what is not declared has no direction.

    Raises
    ------
    SpecError
        If the diagnostic declares nothing for the metric.
    """
    name = f"{metric}[{subset},{condition}]" if condition else f"{metric}[{subset}]"
    directions: Mapping[str, Direction] = getattr(DIAGNOSTICS.module(diagnostic), "DIRECTIONS", {})
    for pattern, direction in directions.items():
        # A bracket in a pattern is a bracket, not the beginning of a set of characters.
        if fnmatchcase(name, pattern.replace("[", "[[]")):
            return direction
    raise SpecError(
        f"diagnostic {diagnostic!r} does not say whether higher or lower values of {name} are better: "
        "its DIRECTIONS lack it"
    )
