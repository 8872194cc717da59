"""How a diagnostic states a finding about an encoder: a sentence, the figure behind it, and what it means in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from embassay.core.claims import COUNT, INTERVAL, Template
from embassay.core.formatting import names, with_interval
from embassay.core.layout import Format
from embassay.core.result import Finding, Row
from embassay.core.types import Origin

NOT_REPRODUCED = Template(
    "{encoder}: {paper} print {published}% for {what}; measured here: {measured}, an interval that does not "
    "contain it.",
    "the published share lies outside the interval",
    INTERVAL,
    title="A published figure is not reproduced",
    consequence="Compare with figures measured here, not with the published one.",
)
PUBLISHED = Template(
    "{paper} print {figures}.",
    "the paper has encoders of the run on this corpus",
    COUNT,
    title="Published figures beside those measured here",
    question="Published",
)


def written(row: Row, style: Format = "percent") -> str:
    """Write a row's value with its interval, if it has one: ``87.2% [85.0, 89.1]``."""
    return with_interval(row.value, row.low, row.high, style)


@dataclass(frozen=True)
class PublishedShare:
    """A share that a paper prints, and the one measured here.

    Attributes
    ----------
    row
        The share measured here, of the same model on the same corpus.
    published
        In percent, in the paper's digits.
    model
        As the paper calls it.
    """

    row: Row
    published: str
    model: str

    @property
    def is_outside(self) -> bool:
        """Whether the published share lies outside the 95 % interval of the one measured here."""
        if self.row.low is None or self.row.high is None:
            return False
        return not self.row.low <= float(self.published) / 100 <= self.row.high

    def __str__(self) -> str:
        """Write it: ``31.9% for all-mpnet-base-v2 (here 31.9% [29.3, 34.6], ./mpnet)``."""
        label = "" if self.row.encoder == self.model else f", {self.row.encoder}"
        return f"{self.published}% for {self.model} (here {written(self.row)}{label})"


def beside_paper(origin: Origin, shares: Sequence[PublishedShare], corpus: str, paper: str) -> Iterator[Finding]:
    """Yield the published shares beside those measured here, and those that differ.

    Parameters
    ----------
    origin
        Of any encoder.
    corpus
        As the paper calls it.
    paper
        Its authors and year.
    """
    if shares:
        yield PUBLISHED.finding(origin, paper=paper, figures=names([str(share) for share in shares]))
    for share in shares:
        if share.is_outside:
            yield NOT_REPRODUCED.finding(
                share.row,
                encoder=share.row.encoder,
                paper=paper,
                published=share.published,
                what=f"{share.model} on {corpus}",
                measured=written(share.row),
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
