"""The sentences of a check: the figure, its interval, the margin, and the smallest loss that could have been seen."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.comparison.gate import Check, Floor
from embassay.comparison.losses import Change
from embassay.diagnostics.base import meaning_of
from embassay.formatting import counted, interval, number, p_value
from embassay.layout import Format
from embassay.result import MIN_UNITS


def sentences(check: Check) -> tuple[str, ...]:
    """Return one sentence for each failure, quantity and floor of a check."""
    return (
        *(f"failed: {failure}" for failure in check.failures),
        *(change_sentence(change) for change in check.changes),
        *(floor_sentence(floor) for floor in check.floors),
    )


def summary(check: Check) -> str:
    """Return the outcome of a check and how often each outcome occurs, in one sentence."""
    parts = list(_counts(check))
    text = f"{check.outcome}: {'; '.join(parts)}"
    if check.outcome == "inconclusive" and check.inconclusive:
        text += f" (inconclusive counts as {check.inconclusive})"
    return text


def change_sentence(change: Change) -> str:
    """Return the sentence on a quantity, which begins with its outcome."""
    what = f"{change.outcome}: {change.encoder}, {change.quantity} on {change.corpus}"
    if change.change is None:
        return f"{what}: no item has a value, so nothing can be compared (margin {_size(change, change.margin)})."
    return f"{what}: {_figures(change)}; {_reason(change)} ({_smallest_loss(change)})."


def floor_sentence(floor: Floor) -> str:
    """Return the sentence on a floor, which begins with its outcome."""
    what = f"{floor.outcome}: {floor.encoder}, {floor.quantity} on {floor.corpus}"
    if floor.value is None:
        return f"{what}: no value ({floor.reason}), so the floor of {floor.floor:g} is missed."
    value = f"{number(floor.value, 'number')} {interval(floor.low, floor.high, 'number')}".strip()
    limit = "highest allowed value" if floor.lower_is_better else "floor"
    if floor.outcome == "pass":
        return f"{what}: {value} keeps the {limit} of {floor.floor:g}."
    return f"{what}: {value} misses the {limit} of {floor.floor:g}."


def change_figure(change: Change) -> str:
    """Return the change with its interval: ``−0.4 points [−1.3, 0.5]``; a dash where it is undefined."""
    if change.unchanged:
        return "nothing changed"
    style: Format = "points" if change.of_shares else "number"
    figure = number(change.change, style, signed=True)
    return f"{figure} {interval(change.low, change.high, style)}".strip()


def value_figure(change: Change, value: float | None) -> str:
    """Return a value of a quantity: per cent of a share, otherwise a number."""
    return number(value, "percent" if change.of_shares else "number")


def margin_figure(change: Change) -> str:
    """Return the margin with its unit."""
    return _size(change, change.margin)


def _counts(check: Check) -> Iterator[str]:
    """Yield how many quantities and floors have each outcome, and how many failures there are."""
    if check.failures:
        yield counted(len(check.failures), "failure")
    outcomes = [change.outcome for change in check.changes]
    words = {
        "regression": "significantly worse than the baseline",
        "inconclusive": "inconclusive",
        "pass": "not worse by the margin",
    }
    for outcome, meaning in words.items():
        count = sum(one == outcome for one in outcomes)
        if count:
            yield f"{count:,} of {counted(len(outcomes), 'test')} {meaning}"
    if check.floors:
        missed = sum(floor.outcome == "regression" for floor in check.floors)
        yield f"{missed:,} of {counted(len(check.floors), 'floor')} missed"


def _figures(change: Change) -> str:
    """Return what the quantity was and is, and its change with interval."""
    old, new = value_figure(change, change.old), value_figure(change, change.new)
    if change.unchanged:
        return f"{new}, nothing changed"
    text = f"{old} → {new}, change {change_figure(change)}"
    if change.undefined:
        counting = "left out" if change.undefined_as is None else f"counted as {change.undefined_as:.0f}"
        text += f", {counted(change.undefined, 'item')} without a value {counting}"
    return text


def _reason(change: Change) -> str:
    """Return why the outcome is what it is."""
    loss = "rise" if change.lower_is_better else "loss"
    margin = margin_figure(change)
    if change.unchanged:
        return f"the same encoder has the same value on every item, so there is no {loss} of {margin}"
    if change.outcome == "pass":
        if change.loss_is_significant:
            return f"the {loss} is significant, but one of {margin} or more is ruled out"
        return f"a {loss} of {margin} or more is ruled out"
    if change.outcome == "regression":
        tests = f" after Holm's correction for {counted(change.tests, 'test')}" if change.tests > 1 else ""
        return f"the {loss} is significant (p {_p(change.p)}{tests}) and not shown to be below {margin}"
    reason = f"a {loss} of {margin} is not ruled out"
    if change.units < MIN_UNITS:
        reason = f"{counted(change.units, 'unit')} are too few for a verdict on a {loss} of {margin}"
    return f"{reason}; deciding it takes about {_further_items(change)}"


def _further_items(change: Change) -> str:
    """Return how many more items decide an inconclusive test."""
    noun = meaning_of(change.diagnostic).items
    text = f"{change.more_items:,} more {noun}"
    if change.more_units != change.more_items:
        text += f" in {change.more_units:,} units"
    return text


def _smallest_loss(change: Change) -> str:
    """Return the smallest loss that could have been seen."""
    loss = "rise" if change.lower_is_better else "loss"
    if change.smallest_loss is None:
        return f"which {loss} these {change.items:,} items would show is unknown"
    return f"smallest {loss} that this corpus shows: {_size(change, change.smallest_loss)}"


def _p(p: float | None) -> str:
    """Return a p-value with its sign: ``= 0.012`` or ``< 0.001``."""
    text = p_value(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _size(change: Change, size: float) -> str:
    return number(size, "points" if change.of_shares else "number")
