"""The differences between runs in words: one sentence each, the most important one first."""

from __future__ import annotations

from collections.abc import Sequence

from embassay.comparison.compare import RunComparison
from embassay.comparison.differences import Difference, Summary
from embassay.formatting import counted, interval, names, number, p_value
from embassay.layout import Format

ORDER = ("worse", "better", "inconclusive", "not worse", "nothing changed")
"""Outcomes by importance."""


def ordered(differences: Sequence[Difference]) -> list[Difference]:
    """Return the differences, the most important first."""
    return sorted(differences, key=lambda difference: ORDER.index(difference.outcome))


def change_format(style: Format) -> Format:
    """Return how a difference is written: that of two shares in points."""
    return "points" if style == "percent" else style


def change(difference: Difference) -> str:
    """Return a difference with its interval: ``−0.4 points [−1.3, 0.5]``."""
    style = change_format(difference.format)
    value = number(difference.difference, style, signed=True)
    return f"{value} {interval(difference.low, difference.high, style, signed=True)}".strip()


def _tested(difference: Difference) -> str:
    """Return a difference with its interval and its p, which is corrected for the number of pairs."""
    p = f", p (Holm) {p_value(difference.p)}" if difference.p is not None else ""
    return f"{change(difference)}{p}"


def place(difference: Difference) -> str:
    """Return what was measured on what: ``Success@5 on docs``."""
    return f"{difference.heading} on {difference.corpus}"


def sentence(difference: Difference) -> str:
    """Return a difference in one or two sentences that can be read alone."""
    label, style = difference.pair.label, change_format(difference.format)
    values = f"{number(difference.old_value, difference.format)} to {number(difference.new_value, difference.format)}"
    where = place(difference)
    if difference.outcome == "nothing changed":
        return f"{label}: nothing changed on {difference.corpus}: {_all_items(difference)} have the same scores."
    if difference.difference is None:
        return f"{label}: no item of {where} is defined before and after."
    if difference.outcome in ("worse", "better"):
        direction = "is worse" if difference.outcome == "worse" else "is better"
        text = f"{label} {direction}: {where} went from {values}, {_tested(difference)}."
        return f"{text}{_flipped(difference)}"
    if difference.outcome == "not worse":
        margin = number(difference.margin, style)
        text = f"{label} is not worse: {where} went from {values}, {_tested(difference)}."
        note = f" {difference.note[0].upper()}{difference.note[1:]}." if difference.note else ""
        return f"{text} A loss of {margin} or more is ruled out.{note}{_flipped(difference)}"
    text = f"{label}: no difference is shown: {where} went from {values}, {_tested(difference)}."
    if difference.smallest_difference is not None:
        text += f" Minimum detectable difference: {number(difference.smallest_difference, style)}."
    if difference.margin:
        reason = f" ({difference.note})" if difference.note else ""
        text += f" A loss of {number(difference.margin, style)} is not ruled out{reason}."
    return f"{text}{_flipped(difference)}"


def _all_items(difference: Difference) -> str:
    return f"all {counted(difference.items, 'item')}"


def _flipped(difference: Difference) -> str:
    """Return how many items flipped, as a sentence with a space before it; nothing where none is right or wrong."""
    if not difference.flips:
        return ""
    items = counted(difference.decided, "item")
    if difference.decided != difference.items:
        # Composition, for example, ranks encoders by its overlaps, and is right or wrong about unions, too.
        items = f"all {items} of {difference.diagnostic} that are right or wrong"
    return f" Of {items}, {difference.lost:,} were lost and {difference.gained:,} gained."


def summary_sentence(summary: Summary) -> str:
    """Return what several corpora say together."""
    first = summary.differences[0]
    style = change_format(first.format)
    title = f"{summary.pair.label}, {first.heading} over {len(summary.differences)} corpora"
    across = summary.across
    if across is None:
        return f"{title}: no summary: {summary.reason}."
    mean = f"{number(across.mean, style, signed=True)} {interval(across.low, across.high, style, signed=True)}"
    upcoming = interval(across.next_low, across.next_high, style, signed=True)
    return (
        f"{title}: mean difference {mean}. On a further corpus like these the true difference is expected in "
        f"{upcoming} (95% prediction interval)."
    )


def best_sets(comparison: RunComparison) -> list[str]:
    """Return for each headline which encoders of all runs may be the best."""
    sentences = []
    for verdict in comparison.result.verdicts:
        if verdict.best_set and len(verdict.candidates) > 1:
            best = names(verdict.best_set)
            sentences.append(
                f"{verdict.diagnostic} on {verdict.corpus}: of {len(verdict.candidates)} candidates, {best} may be "
                "the best (95% confidence)."
            )
    return sentences


def heading(comparison: RunComparison) -> str:
    """Return which runs are compared, and on how much."""
    tasks = dict.fromkeys((d.diagnostic, d.corpus) for d in comparison.differences)
    items = dict[tuple[str, str], int]()
    for difference in comparison.differences:
        task = (difference.diagnostic, difference.corpus)
        items[task] = max(items.get(task, 0), difference.items)
    count = sum(items.values())
    runs = " → ".join(comparison.runs)
    counts = [counted(len(comparison.pairs), "pair"), counted(len(tasks), "headline"), counted(count, "common item")]
    return f"{runs}: {', '.join(counts)}"
