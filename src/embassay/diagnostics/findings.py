"""How a diagnostic states a finding about an encoder: a sentence, the figure behind it, and what it means in use."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.claims import INTERVAL, Template
from embassay.formatting import interval, number
from embassay.layout import Format
from embassay.result import Finding, Row

NOT_REPRODUCED = Template(
    "{encoder}: {paper} print {published:.2f}% for {what}; measured here: {measured}, an interval that does not "
    "contain it.",
    "the published share lies outside the interval",
    INTERVAL,
    title="A published figure is not reproduced",
    consequence="Compare with figures measured here, not with the published one.",
)


def written(row: Row, style: Format = "percent") -> str:
    """Write a row's value with its interval, if it has one: ``87.2% [85.0, 89.1]``."""
    text = number(row.value, style)
    limits = interval(row.low, row.high, style)
    if limits:
        text += f" {limits}"
    return text


def not_reproduced(row: Row, value: float, what: str, paper: str) -> Iterator[Finding]:
    """Yield a finding if a published share lies outside the 95 % interval of the one measured here.

    Parameters
    ----------
    row
        The share measured here, of the same model on the same corpus.
    value
        The published share, a fraction.
    what
        The model and the corpus as the paper names them.
    paper
        Its authors and year.
    """
    if row.low is None or row.high is None or row.low <= value <= row.high:
        return
    yield NOT_REPRODUCED.finding(
        row, encoder=row.encoder, paper=paper, published=100 * value, what=what, measured=written(row)
    )


def against_chance(row: Row, chance: float) -> str:
    """Return where a row's 95 % interval lies: ``above`` chance, ``below`` it, ``both`` sides; empty without one."""
    if row.low is None or row.high is None:
        return ""
    if row.low > chance:
        return "above"
    if row.high < chance:
        return "below"
    return "both"
