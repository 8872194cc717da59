"""How a diagnostic states a finding about an encoder: a sentence, the figure behind it, and what it means in use."""

from __future__ import annotations

from dataclasses import replace

from embassay.core.claims import COUNT, INTERVAL, Template
from embassay.core.formatting import with_interval
from embassay.core.layout import Format
from embassay.core.result import Row


def written(row: Row, style: Format = "percent") -> str:
    """Write a row's value with its interval, if it has one: ``87.2% [85.0, 89.1]``."""
    return with_interval(row.value, row.low, row.high, style)


def against_chance(row: Row, chance: float | None) -> str:
    """Return where a row's 95 % interval lies: ``above`` chance, ``below`` it, ``both`` sides; empty without either."""
    if row.low is None or row.high is None or chance is None:
        return ""
    if row.low > chance:
        return "above"
    if row.high < chance:
        return "below"
    return "both"


def than_chance(
    text: str, question: str, *, above: str, both: str, below: str, consequence: str
) -> dict[str, Template]:
    """Return the sentences about a metric and its chance, by what :func:`against_chance` returns.

    Parameters
    ----------
    text
        The sentence of all; it may have the fields ``encoder``, ``value``, ``items``, ``chance`` and ``undefined``.
    above, both, below
        The titles where the interval lies above chance, contains it, or lies below.
    consequence
        What it means in use where the interval lies below chance.
    """
    better = Template(text, "the interval lies above chance", INTERVAL, title=above, kind="headline", question=question)
    not_shown = replace(better, when="the interval contains chance", claim="not shown", title=both, severity="medium")
    worse = replace(
        better, when="the interval lies below chance", title=below, severity="high", consequence=consequence
    )
    unknown = replace(better, when="there is no interval", procedure=COUNT, title="Too few units to tell")
    return {"above": better, "both": not_shown, "below": worse, "": unknown}
