"""How a diagnostic states a finding about an encoder: a sentence, the figure behind it, and what it means in use."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.claims import INTERVAL, Template, figure_of
from embassay.formatting import interval, number
from embassay.layout import Format
from embassay.result import Finding, Row
from embassay.types import ItemScores

NOT_REPRODUCED = Template(
    "{encoder}: {paper} print {published:.2f}% for {what}; measured here: {measured}, an interval that does not "
    "contain it.",
    "the published share lies outside the interval",
    INTERVAL,
    title="A published figure is not reproduced",
    consequence="Compare with figures measured here, not with the published one.",
)


def finding(
    scores: ItemScores,
    title: str,
    sentence: str,
    *,
    severity: str = "low",
    row: Row | None = None,
    style: Format = "percent",
    consequence: str = "",
    action: str = "",
    about_all: bool = False,
) -> Finding:
    """Return a finding about the encoder of some scores.

    Parameters
    ----------
    title
        The finding in a few words, the same for every encoder that it is true of.
    sentence
        The whole finding; it names the encoder.
    severity
        ``high`` for a weakness that a test shows, ``medium`` for what is not shown or limits the result, else ``low``.
    row
        The figure behind it.
    style
        How that figure is written.
    consequence, action
        What it means in use, and what to do about it.
    about_all
        Whether it is about all encoders: then it names none.
    """
    encoder = scores.origin.encoder
    if about_all:
        encoder = ""
    return Finding(
        severity,
        sentence,
        title,
        diagnostic=scores.origin.diagnostic,
        corpus=scores.origin.corpus,
        encoder=encoder,
        consequence=consequence,
        action=action,
        format=style,
        **figure_of(row),
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
