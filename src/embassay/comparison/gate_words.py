"""The sentences of ``bless`` and ``check``: what was counted, and one figure that says how sure it is."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from embassay.core.formatting import counted, number, p_value, size_in_points, visible
from embassay.diagnostics.metrics.metric import Meaning, meaning_of
from embassay.reports.findings import templates

if TYPE_CHECKING:
    from embassay.comparison.differences import Change, ColumnPair
    from embassay.comparison.gate import Check
    from embassay.core.claims import Template
    from embassay.core.columns import ItemColumn

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


def shown_by_baseline(headline: ItemColumn, margin: float, *, sampled: bool) -> str:
    """Return which loss of a headline a check can rule out."""
    key = headline.key
    where = f"{key.short} on {visible(key.corpus)}"
    about = f" on {_like_these(meaning_of(key.diagnostic))}" if sampled else ""
    template = templates.BASELINE_SHOWS if headline.of_shares else templates.BASELINE_ALONE
    return template.sentence(where=where, margin=_size(margin, headline.of_shares), about=about)


def out_of_reach(pair: ColumnPair) -> str:
    """Return that a margin of a share is below what a test set can rule out."""
    where = f"{pair.metric} on {pair.old.key.corpus}"
    items = counted(len(pair.gains), "item", meaning_of(pair.old.key.diagnostic).items)
    return templates.OUT_OF_REACH.sentence(margin=_size(pair.margin), items=items, where=where)


def summary(check: Check) -> str:
    """Return the outcome of a check and how often each outcome occurs, in one sentence."""
    parts = [counted(len(check.failures), "failure")] if check.failures else []
    outcomes = Counter[str](change.outcome for change in check.changes)
    tests = counted(len(check.changes), "test")
    parts += [
        f"{outcomes[outcome]:,} of {tests} {meaning}" for outcome, meaning in MEANINGS.items() if outcomes[outcome]
    ]
    if check.floors:
        missed = sum(floor.outcome == "regression" for floor in check.floors)
        parts.append(f"{missed:,} of {counted(len(check.floors), 'floor')} missed")
    return f"{check.outcome}: {'; '.join(parts)}"


def sentence(change: Change) -> str:
    """Return the sentence of a metric or a floor."""
    outcome = "warning" if change.outcome == "inconclusive" else change.outcome
    since = f" since {change.since}" if change.since else ""
    start = f"{outcome}: {change.encoder}, {change.metric} on {change.corpus}{since}: "
    if change.reason in ("floor", "ceiling"):
        return start + _of_floor(change)
    if change.limit is None:
        return start + templates.NOTHING_TO_COMPARE.sentence()
    meaning = meaning_of(change.diagnostic)
    items = counted(change.items, "item", meaning.items)
    figures = f"{number(change.old, 'number')} → {number(change.new, 'number')}"
    if change.of_shares:
        counts = f"{counted(len(change.lost), 'answer')} lost, {len(change.gained):,} gained of {change.items:,}"
        figures = f"{number(change.old)} → {number(change.new)}, {counts}"
    about = f" on {_like_these(meaning)}" if change.sampled else ""
    if change.reason == "nothing lost":
        figures = f"none of {items} got worse"
        if change.of_shares:
            figures = f"no answer of {change.items:,} was lost, {len(change.gained):,} gained"
        about = f"on other {_like_these(meaning)}"
        if "search" in meaning.about:
            about = f"on other questions about {'documents like these' if change.sampled else 'these documents'}"
    p = p_value(change.p)
    return start + TEMPLATES[change.reason].sentence(
        figures=figures,
        about=about,
        # Rounded up: the loss is below what is printed.
        limit=_size(math.ceil(1000 * change.limit) / 1000, change.of_shares),
        margin=_size(change.margin, change.of_shares),
        p=f"p {p.replace('<', '< ')}" if p.startswith("<") else f"p = {p}",
        undefined=change.undefined,
        items=items,
    )


def _of_floor(floor: Change) -> str:
    """Return whether a floor or a ceiling is kept."""
    is_floor = floor.reason == "floor"
    limit = f"floor of {floor.margin:g}" if is_floor else f"ceiling of {floor.margin:g} (lower is better)"
    if floor.new is None:
        return f"no value, so the {limit} is missed."
    verb = "keeps" if floor.outcome == "pass" else "misses" if is_floor else "exceeds"
    return templates.FLOOR.sentence(value=number(floor.new, "number"), verb=verb, limit=limit)


def _like_these(meaning: Meaning) -> str:
    """Return what a sample is one of: ``documents like these``."""
    return f"{'documents' if 'search' in meaning.about else meaning.items} like these"


def _size(size: float, of_shares: bool = True) -> str:
    """Write a loss or margin with its unit."""
    return size_in_points(size) if of_shares else number(size, "number")
