"""The sentences of a check: the figure, its interval, the margin, and the smallest loss that could have been seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from embassay.comparison.gate import Check, Floor
from embassay.comparison.losses import Change, Outcome
from embassay.formatting import counted, interval, number, p_value
from embassay.layout import Format
from embassay.result import MIN_UNITS

MEANINGS: dict[Outcome, str] = {
    "regression": "significantly worse than the baseline",
    "inconclusive": "inconclusive",
    "pass": "not worse by the margin",
}
"""What the outcomes of tests mean, the worst first."""


def sentences(check: Check) -> tuple[str, ...]:
    """Return one sentence for each failure, quantity and floor of a check."""
    failures = [f"failed: {failure}" for failure in check.failures]
    changes = [change_sentence(change) for change in check.changes]
    floors = [floor_sentence(floor) for floor in check.floors]
    return (*failures, *changes, *floors)


def summary(check: Check) -> str:
    """Return the outcome of a check and how often each outcome occurs, in one sentence."""
    counts = "; ".join(_counts(check))
    text = f"{check.outcome}: {counts}"
    if check.outcome == "inconclusive" and check.inconclusive:
        text += f" (inconclusive counts as {check.inconclusive})"
    return text


def change_sentence(change: Change) -> str:
    """Return the sentence on a quantity, which begins with its outcome."""
    what = f"{change.outcome}: {change.encoder}, {change.quantity} on {change.corpus}"
    if change.change is None:
        return f"{what}: no item has a value, so nothing can be compared (margin {_size(change, change.margin)})."
    return f"{what}: {_old_and_new(change)}; {_reason(change)} ({_smallest_loss(change)})."


def floor_sentence(floor: Floor) -> str:
    """Return the sentence on a floor, which begins with its outcome."""
    what = f"{floor.outcome}: {floor.encoder}, {floor.quantity} on {floor.corpus}"
    limit = f"floor of {floor.floor:g}"
    if floor.lower_is_better:
        limit = f"ceiling of {floor.floor:g} (lower is better)"
    if floor.value is None:
        return f"{what}: no value ({floor.reason}), so the {limit} is missed."
    verb = "keeps"
    if floor.outcome == "regression":
        verb = "exceeds" if floor.lower_is_better else "misses"
    return f"{what}: {floor_figure(floor)} {verb} the {limit}."


def floor_figure(floor: Floor) -> str:
    """Return the value that a floor is compared with, and its interval if it has one: ``0.900 [0.851, 0.938]``."""
    value = number(floor.value, "number")
    limits = interval(floor.low, floor.high, "number")
    return f"{value} {limits}".strip()


def change_figure(change: Change) -> str:
    """Return the change with its interval: ``−0.4 points [−1.3, 0.5]``; a dash where it is undefined."""
    # The same encoder with the same scores; other encoders with equal scores have an interval.
    if change.unchanged:
        return "nothing changed"
    style = _change_format(change)
    value = number(change.change, style, signed=True)
    limits = interval(change.low, change.high, style)
    # There may be no interval.
    return f"{value} {limits}".strip()


def value_figure(change: Change, value: float | None) -> str:
    """Return a value of a quantity: per cent of a share, otherwise a number."""
    style: Format = "percent" if change.of_shares else "number"
    return number(value, style)


def margin_figure(change: Change) -> str:
    """Return the margin with its unit."""
    return _size(change, change.margin)


def _counts(check: Check) -> Iterator[str]:
    """Yield how many quantities and floors have each outcome, and how many failures there are."""
    if check.failures:
        yield counted(len(check.failures), "failure")
    tests = counted(len(check.changes), "test")
    outcomes = Counter(change.outcome for change in check.changes)
    for outcome, meaning in MEANINGS.items():
        if outcomes[outcome]:
            yield f"{outcomes[outcome]:,} of {tests} {meaning}"
    if check.floors:
        floors = counted(len(check.floors), "floor")
        missed = sum(floor.outcome == "regression" for floor in check.floors)
        yield f"{missed:,} of {floors} missed"


def _old_and_new(change: Change) -> str:
    """Return what the quantity was and is, its change with interval, and how undefined items count."""
    old = value_figure(change, change.old)
    new = value_figure(change, change.new)
    if change.unchanged:
        return f"{new}, nothing changed"
    text = f"{old} → {new}, change {change_figure(change)}"
    if not change.undefined:
        return text
    undefined = f"{counted(change.undefined, 'item')} without a value"
    if change.undefined_as is None:
        return f"{text}, {undefined} left out"
    return f"{text}, {undefined} counted as {change.undefined_as:.0f}"


def _reason(change: Change) -> str:
    """Return why the outcome is what it is."""
    loss = _loss_noun(change)
    margin = margin_figure(change)
    if change.unchanged:
        return f"the same encoder has the same value on every item, so there is no {loss} of {margin}"
    if change.outcome == "pass":
        if change.loss_is_significant:
            return f"the {loss} is significant, but one of {margin} or more is ruled out"
        return f"a {loss} of {margin} or more is ruled out"
    if change.outcome == "regression":
        correction = ""
        if change.tests > 1:
            correction = f" after Holm's correction for {counted(change.tests, 'test')}"
        return f"the {loss} is significant (p {_p(change.p)}{correction}) and not shown to be below {margin}"
    if change.units < MIN_UNITS:
        reason = f"{counted(change.units, 'unit')} are too few for a verdict on a {loss} of {margin}"
    else:
        reason = f"a {loss} of {margin} is not ruled out"
    if change.units_needed is None or change.units >= change.units_needed:
        return reason
    # The change of so few units says little about the true one, so the number assumes none, as in a comparison.
    return (
        f"{reason}; if nothing is lost, ruling it out takes about {change.units_needed:,} units; "
        f"there are {change.units:,}"
    )


def _smallest_loss(change: Change) -> str:
    """Return the smallest loss that could have been seen."""
    loss = _loss_noun(change)
    if change.smallest_loss is None:
        return f"which {loss} these {change.items:,} items would show is unknown"
    return f"smallest {loss} that this corpus shows: {_size(change, change.smallest_loss)}"


def _p(p: float | None) -> str:
    """Return a p-value with its sign: ``= 0.012`` or ``< 0.001``."""
    text = p_value(p)
    if text.startswith("<"):
        return text.replace("<", "< ")
    return f"= {text}"


def _loss_noun(change: Change) -> str:
    """Return what a loss is called: where lower is better, a rise is one."""
    return "rise" if change.lower_is_better else "loss"


def _change_format(change: Change) -> Format:
    """Return how changes and margins are written: those of shares in points, so that 3 % is not read as relative."""
    return "points" if change.of_shares else "number"


def _size(change: Change, size: float) -> str:
    """Return a loss or margin with its unit."""
    return number(size, _change_format(change))
