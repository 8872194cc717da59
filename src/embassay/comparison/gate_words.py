"""The sentences of ``bless`` and ``check``: what was counted, and one figure that says how sure it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from embassay.core.formatting import counted, number, p_value, size_in_points, visible
from embassay.diagnostics.metrics.metric import meaning_of
from embassay.reports.findings import templates

if TYPE_CHECKING:
    from embassay.comparison.differences import Change, Pair
    from embassay.comparison.gate import Check, Floor
    from embassay.core.columns import ItemColumn
    from embassay.core.claims import Template

TEMPLATES: dict[str, Template] = {
    "no value": templates.VALUES_LOST,
    "significant": templates.LOSS_SIGNIFICANT,
    "above the margin": templates.LOSS_ABOVE_MARGIN,
    "nothing lost": templates.NOTHING_LOST,
    "within the margin": templates.LOSS_BELOW,
    "significant within the margin": templates.LOSS_ALLOWED,
    "not significant": templates.LOSS_NOT_SIGNIFICANT,
    "not excluded": templates.LOSS_NOT_EXCLUDED,
}
MEANINGS = {"regression": "worse", "inconclusive": "inconclusive", "pass": "passed"}
"""What the outcomes of tests are called where they are counted, the worst first."""
WARNING = "warning"
"""How the sentence of an inconclusive test begins."""


@dataclass(frozen=True)
class Line:
    """A metric or a floor of a check in words; all outputs are made of these.

    Attributes
    ----------
    name
        What is checked: ``Success@5``, ``floor Success@5``.
    """

    record: Change | Floor
    name: str
    sentence: str

    @property
    def passed(self) -> bool:
        """Whether the outcome is ``pass``."""
        return self.record.outcome == "pass"


def lines_of(check: Check) -> list[Line]:
    """Return a line for each metric, then one for each floor."""
    lines = [Line(change, change.name, _sentence(change, check.sampled)) for change in check.changes]
    return lines + [Line(floor, f"floor {floor.metric}", _floor_sentence(floor)) for floor in check.floors]


def shown_by_baseline(headline: ItemColumn, margin: float, *, sampled: bool, with_name: bool) -> str:
    """Return which loss of a headline a check can rule out.

    Parameters
    ----------
    with_name
        Whether the sentence names the headline: where there are several.
    """
    key = headline.key
    where = f"{key.short} on {visible(key.corpus)}: " if with_name else ""
    about = f" on {_like_these(key.diagnostic)}" if sampled else ""
    template = templates.BASELINE_SHOWS if headline.of_shares else templates.BASELINE_ALONE
    return template.sentence(where=where, margin=_size(margin, headline.of_shares), about=about)


def out_of_reach(pair: Pair, *, with_name: bool) -> str:
    """Return that a margin of a share is below what a test set can rule out; for ``with_name`` see above."""
    where = f" ({pair.metric} on {pair.old.key.corpus})" if with_name else ""
    items = _items(len(pair.gains), pair.old.key.diagnostic)
    return templates.OUT_OF_REACH.sentence(margin=_size(pair.margin), items=items, where=where)


def failures_of(check: Check) -> list[str]:
    """Return a sentence for each failure."""
    return [f"failed: {failure}" for failure in check.failures]


def summary(check: Check) -> str:
    """Return the outcome of a check and how often each outcome occurs, in one sentence."""
    return f"{check.outcome}: {'; '.join(_counts(check))}"


def _counts(check: Check) -> Iterator[str]:
    """Yield how many metrics and floors have each outcome, and how many failures there are."""
    if check.failures:
        yield counted(len(check.failures), "failure")
    tests = counted(len(check.changes), "test")
    outcomes = Counter[str](change.outcome for change in check.changes)
    for outcome, meaning in MEANINGS.items():
        if outcomes[outcome]:
            yield f"{outcomes[outcome]:,} of {tests} {meaning}"
    if check.floors:
        floors = counted(len(check.floors), "floor")
        missed = sum(floor.outcome == "regression" for floor in check.floors)
        yield f"{missed:,} of {floors} missed"


def _sentence(change: Change, sampled: tuple[str, ...]) -> str:
    """Return the sentence of a metric.

    Parameters
    ----------
    sampled
        The corpora whose documents are a sample.
    """
    outcome = WARNING if change.outcome == "inconclusive" else change.outcome
    since = f" since {change.since}" if change.since else ""
    start = f"{outcome}: {change.encoder}, {change.metric} on {change.corpus}{since}: "
    if change.limit is None:
        return start + templates.NOTHING_TO_COMPARE.sentence()
    is_sampled = change.corpus in sampled
    about = f" on {_like_these(change.diagnostic)}" if is_sampled else ""
    figures = _figures(change)
    if change.reason == "nothing lost":
        figures, about = _nothing_lost(change), _on_others(change.diagnostic, is_sampled=is_sampled)
    return start + TEMPLATES[change.reason].sentence(
        figures=figures,
        about=about,
        # Rounded up: the loss is below what is printed.
        limit=_size(math.ceil(1000 * change.limit) / 1000, change.of_shares),
        margin=_size(change.margin, change.of_shares),
        p=_p(change.p),
        read=_read(change),
        undefined=change.undefined,
        items=_items(change.items, change.diagnostic),
    )


def _figures(change: Change) -> str:
    """Return the old and the new value of a metric, and how many answers were lost and gained."""
    if not change.of_shares:
        return f"{number(change.old, 'number')} → {number(change.new, 'number')}"
    counts = f"{counted(len(change.lost), 'answer')} lost, {len(change.gained):,} gained of {change.items:,}"
    return f"{number(change.old)} → {number(change.new)}, {counts}"


def _nothing_lost(change: Change) -> str:
    """Return that no item got worse."""
    if not change.of_shares:
        return f"none of {_items(change.items, change.diagnostic)} got worse"
    return f"no answer of {change.items:,} was lost, {len(change.gained):,} gained"


def _on_others(diagnostic: str, *, is_sampled: bool) -> str:
    """Return what the limit of a loss is about: other items than those that were asked."""
    if "search" not in meaning_of(diagnostic).about:
        return f"on other {_like_these(diagnostic)}"
    return f"on other questions about {'documents like these' if is_sampled else 'these documents'}"


def _like_these(diagnostic: str) -> str:
    """Return what a sample is one of: ``documents like these``."""
    meaning = meaning_of(diagnostic)
    return f"{'documents' if 'search' in meaning.about else meaning.items} like these"


def _read(change: Change) -> str:
    """Return where the items that were lost stand, if there are any."""
    if not change.lost:
        return ""
    if len(change.lost) == 1:
        return " Read it below."
    return f" Read the {_items(len(change.lost), change.diagnostic)} below."


def _items(count: int, diagnostic: str) -> str:
    """Write a number of items by what the diagnostic calls them: ``60 questions``."""
    return counted(count, "item", meaning_of(diagnostic).items)


def _p(p: float | None) -> str:
    """Write a p-value with its name: ``p = 0.031``, ``p < 0.001``."""
    text = p_value(p)
    return f"p {text.replace('<', '< ')}" if text.startswith("<") else f"p = {text}"


def _size(size: float, of_shares: bool = True) -> str:
    """Write a loss or margin with its unit."""
    return size_in_points(size) if of_shares else number(size, "number")


def _floor_sentence(floor: Floor) -> str:
    """Return the sentence of a floor."""
    limit, verb = f"floor of {floor.floor:g}", "misses"
    if floor.lower_is_better:
        limit, verb = f"ceiling of {floor.floor:g} (lower is better)", "exceeds"
    if floor.outcome == "pass":
        verb = "keeps"
    sentence = f"{floor.outcome}: {floor.encoder}, {floor.metric} on {floor.corpus}: "
    if floor.value is None:
        return sentence + f"no value ({floor.reason}), so the {limit} is missed."
    return sentence + templates.FLOOR.sentence(value=number(floor.value, "number"), verb=verb, limit=limit)
