"""The differences between runs in words: one sentence each, the most important one first."""

from __future__ import annotations

from collections.abc import Sequence

from embassay.comparison.compare import RunComparison
from embassay.comparison.differences import DifferencesSummary, HeadlineChange
from embassay.core.formatting import counted, difference_format, interval, names, number, p_value, with_interval
from embassay.reports.findings import templates

ORDER = ("worse", "better", "inconclusive", "not worse", "nothing changed")
"""Outcomes by importance."""


def ordered(differences: Sequence[HeadlineChange]) -> list[HeadlineChange]:
    """Return the differences, the most important first."""
    return sorted(differences, key=lambda difference: ORDER.index(difference.outcome))


def change(difference: HeadlineChange) -> str:
    """Return a difference with its interval: ``−0.4 points [−1.3, 0.5]``."""
    style = difference_format(difference.format)
    return with_interval(difference.difference, difference.low, difference.high, style, signed=True)


def _change_and_p(difference: HeadlineChange) -> str:
    """Return a difference with its interval and its p, which is corrected for the number of pairs."""
    if difference.p is None:
        return change(difference)
    return f"{change(difference)}, p {p_value(difference.p)}"


def place(difference: HeadlineChange) -> str:
    """Return what was measured on what: ``Success@5 on docs``."""
    return f"{difference.heading} on {difference.corpus}"


def sentence(difference: HeadlineChange) -> str:
    """Return a difference in one or two sentences that can be read alone."""
    label = difference.pair.label
    style = difference_format(difference.format)
    where = place(difference)
    old_value = number(difference.old_value, difference.format)
    new_value = number(difference.new_value, difference.format)
    course = f"{where} went from {old_value} to {new_value}, {_change_and_p(difference)}."
    if difference.left_out:
        items = counted(difference.left_out, "item")
        course += f" The difference leaves out {items} with a value for one of the two only."
    if difference.outcome == "nothing changed":
        items = counted(difference.items, "item")
        return templates.NOTHING_CHANGED.sentence(label=label, corpus=difference.corpus, items=items)
    if difference.difference is None:
        return templates.NOTHING_DEFINED.sentence(label=label, where=where)
    fields = {"label": label, "course": course, "flipped": _flipped(difference)}
    margin = number(difference.margin, style)
    if difference.outcome in ("worse", "better"):
        return templates.CHANGED.sentence(outcome=difference.outcome, **fields)
    if difference.outcome == "not worse":
        return templates.CHANGE_NOT_WORSE.sentence(margin=margin, **fields)
    # What remains is inconclusive.
    detectable = not_ruled_out = ""
    if difference.smallest_difference is not None:
        detectable = f" Minimum detectable difference: {number(difference.smallest_difference, style)}."
    if difference.margin:
        not_ruled_out = f" A loss of {margin} is not ruled out."
    return templates.NO_CHANGE_SHOWN.sentence(detectable=detectable, not_ruled_out=not_ruled_out, **fields)


def _flipped(difference: HeadlineChange) -> str:
    """Return how many items flipped, as a sentence with a space before it; nothing where none did."""
    if not difference.flips:
        return ""
    items = counted(difference.decided, "item")
    if difference.decided != difference.items:
        # The headline may be of other items: composition ranks encoders by its overlaps, but it is right or wrong about
        # unions, too.
        items = f"all {items} of {difference.diagnostic} that are right or wrong"
    verb = "was" if difference.lost == 1 else "were"
    return f" Of {items}, {difference.lost:,} {verb} lost and {difference.gained:,} gained."


def summary_sentence(summary: DifferencesSummary) -> str:
    """Return what several corpora say together."""
    first = summary.differences[0]
    style = difference_format(first.format)
    title = f"{summary.pair.label}, {first.heading} over {len(summary.differences)} corpora"
    across = summary.across
    if across is None:
        return templates.NO_SUMMARY.sentence(title=title, reason=summary.reason)
    mean = number(across.mean, style, signed=True)
    limits = interval(across.low, across.high, style, signed=True)
    upcoming = interval(across.next_low, across.next_high, style, signed=True)
    return templates.OVER_CORPORA.sentence(title=title, mean=mean, interval=limits, upcoming=upcoming)


def best_sets(comparison: RunComparison) -> list[str]:
    """Return for each headline which encoders of all runs may be the best."""
    return [
        templates.BEST_OF_RUNS.sentence(
            diagnostic=verdict.diagnostic,
            corpus=verdict.corpus,
            candidates=len(verdict.candidates),
            best=names(verdict.best_set),
        )
        for verdict in comparison.result.verdicts
        if verdict.best_set and len(verdict.candidates) > 1
    ]


def heading(comparison: RunComparison) -> str:
    """Return which runs are compared, and on how much."""
    # An item may be undefined for some pairs, so the number of common items is the largest one of all pairs.
    items_of_task: dict[tuple[str, str], int] = {}
    for difference in comparison.differences:
        task = (difference.diagnostic, difference.corpus)
        largest_so_far = items_of_task.get(task, 0)
        items_of_task[task] = max(largest_so_far, difference.items)
    runs = " → ".join(comparison.runs)
    pairs = counted(len(comparison.pairs), "pair")
    headlines = counted(len(items_of_task), "headline")
    common_items = counted(sum(items_of_task.values()), "common item")
    return f"{runs}: {pairs}, {headlines}, {common_items}"
