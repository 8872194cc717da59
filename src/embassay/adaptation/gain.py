"""What adaptation gained and what it cost, read off a result and its item scores: no model and no text.

Each line is a paired difference of a variant and another one on the same items, variant − other, with the interval over
independent units and the p after Holm that the result holds. Better and worse are significant differences; that nothing
is lost is said only where a test rules a loss of the margin out (:mod:`embassay.stats.noninferiority`). The lines
compare one training run each: how far another seed would lead elsewhere is not in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from embassay.diagnostics.base import meaning_of
from embassay.result import FEW_UNITS, MIN_UNITS, Comparison, Result
from embassay.stats.noninferiority import ALPHA, UNCHANGED, Headline, NotWorse
from embassay.types import Draws

BASE = "base"
"""The label of the model that the variants come from."""
UNSEEN = 5e-4
"""A difference below this is printed as 0, of points and of numbers alike."""
CAVEAT = (
    "Each line compares single training runs (seed {seed}), paired on the same items; the interval is over independent "
    "units. How far another seed would lead elsewhere is not in it."
)
Outcome = Literal["better", "worse", "not worse", "inconclusive", "nothing changed", "unknown"]
PHRASES: dict[Outcome, str] = {
    "worse": "worse",
    "better": "better",
    "not worse": "not worse",
    "inconclusive": "inconclusive",
    "nothing changed": "nothing changed",
    "unknown": "nothing can be said",
}
"""How the summary words each outcome, in its order."""
Headlines = Mapping[tuple[str, str], Headline]
"""The item values of the headline quantity of each (diagnostic, corpus)."""


SUBSETS = {"documents": "documents", "queries": "questions"}
"""What ``shift`` calls the texts, and what people do."""


@dataclass(frozen=True)
class Change:
    """How far a variant is from another on one headline quantity.

    Attributes
    ----------
    difference, low, high
        variant − other, positive where the variant is higher; None where there is none.
    p
        After Holm's correction over the variants, or over all pairs of them; None where there is none.
    own
        Whether the corpus is of the domain, so that the change is what was trained for.
    test
        Whether the variant is not worse; None for a quantity of which neither more nor less is better.
    """

    variant: str
    other: str
    diagnostic: str
    corpus: str
    quantity: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    items: int
    units: int
    own: bool
    test: NotWorse | None = None

    @property
    def significant(self) -> bool:
        """Whether the data show a difference, and one that the printed digits show."""
        if self.p is None or self.low is None or self.high is None:
            return False
        return self.p <= ALPHA and max(abs(self.low), abs(self.high)) >= UNSEEN

    @property
    def outcome(self) -> Outcome:
        """What may be said.

        ``nothing changed``: the same encoder with the same value on every item; ``unknown``: undefined, or too few
        units; ``better``: significantly above 0; else what the test comes to.
        """
        if self.test is not None and self.test.note == UNCHANGED:
            return "nothing changed"
        if self.test is None or self.difference is None or self.p is None:
            return "unknown"
        if self.significant and self.difference > 0:
            return "better"
        return self.test.outcome


def changes(result: Result, headlines: Headlines, own: Sequence[str], other: str = BASE) -> tuple[Change, ...]:
    """Return the change of each variant against another, on the headline quantity of each diagnostic and corpus.

    Parameters
    ----------
    headlines
        The item values of the headlines; the other quantities of the result are left out.
    own
        The labels of the corpora of the domain; the rest are general.
    other
        The label of what the variants are set against.
    """
    family = "reference" if other == BASE else "all"
    fingerprints = {encoder.name: encoder.fingerprint for encoder in result.encoders}
    draws = Draws(result.seed, result.resamples)
    found = []
    for comparison in result.comparisons:
        headline = headlines.get((comparison.diagnostic, comparison.corpus))
        if comparison.family != family or other not in (comparison.a, comparison.b) or headline is None:
            continue
        if (comparison.quantity, comparison.subset, comparison.condition) != (
            headline.quantity,
            headline.subset,
            headline.condition,
        ):
            continue
        variant = comparison.b if comparison.a == other else comparison.a
        same = variant in fingerprints and fingerprints[variant] == fingerprints.get(other)
        test = headline.not_worse(variant, other, draws, p=comparison.p_holm, same_encoder=same)
        found.append(_change(comparison, other, comparison.corpus in own, test))
    return tuple(found)


def verdict(
    result: Result,
    headlines: Headlines,
    own: Sequence[str],
    evaluations: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> tuple[str, ...]:
    """Return what may be said, one sentence each: the gain first, then the cost, for each variant against the base.

    Parameters
    ----------
    headlines
        The item values of the headlines.
    own
        The labels of the corpora of the domain.
    evaluations
        [step, Success@5 of the dev questions] of the variants that were looked at while they were trained.
    """
    found = changes(result, headlines, own)
    lines: list[str] = []
    for variant in dict.fromkeys(change.variant for change in found):
        of_variant = [change for change in found if change.variant == variant]
        lines += [told(change, many=len(own) > 1) for change in of_variant if change.own]
        lines += [told(change) for change in of_variant if not change.own]
        lines += _moved(result, variant)
        lines += _never_better(variant, (evaluations or {}).get(variant, ()))
        lines.append(_summary(variant, of_variant))
    lines += (
        told(change, many=len(own) > 1)
        for change in changes(result, headlines, own, "finetuned")
        if change.own and change.variant == "pretrained+finetuned"
    )
    return (*lines, CAVEAT.format(seed=result.seed))


def told(change: Change, many: bool = False) -> str:
    """Return one change as a sentence; ``docs/adapt.md`` lists them with their conditions.

    Parameters
    ----------
    many
        Whether there are several corpora of the domain, so that each is named.
    """
    points, test = meaning_of(change.diagnostic).points, change.test
    against = "" if change.other == BASE else f" against {change.other}"
    where = f"your questions{f' ({change.corpus})' if many else ''}" if change.own else _place(change)
    head = f"{change.variant}{against} on {where}"
    if test is None or change.outcome == "unknown":
        return f"{head}: nothing can be said ({change.quantity}: {_why_unknown(change)})"
    if change.outcome == "nothing changed":
        return f"{head}: nothing changed ({change.quantity}, the same model and the same answers){_bound(test, points)}"
    support = f"{change.quantity}, {_counted(change)}, {_sureness(change)}"
    figures = f"{_amount(change, points)} ({support})"
    if change.outcome == "not worse":
        note = f"; {test.note}" if test.note else ""
        return f"{head}: not worse at a margin of {_size(test.margin, points)}, {figures}{note}"
    if change.outcome == "inconclusive":
        left = f"; a loss of {_size(test.smallest_margin, points)} is not ruled out" if test.smallest_margin else ""
        note = f"; {test.note}" if test.note else ""
        return f"{head}: inconclusive, {figures}{left}{note}"
    note = ""
    if change.outcome == "better" and change.high is not None and change.high < test.margin:
        note = f"; the gain is smaller than the margin of {_size(test.margin, points)}"
    return f"{head}: {change.outcome}, {figures}{note}"


def p_value(p: float | None) -> str:
    """Write a p-value with two digits, never as 0."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def signed(value: float, points: bool) -> str:
    """Write a difference with its sign: points of a hundred with one decimal, other numbers with three."""
    text = f"{100 * value:+.1f}" if points else f"{value:+.3f}"
    return (text if text.strip("+-0.") else text.lstrip("+-")).replace("-", "−")


def _change(found: Comparison, other: str, own: bool, test: NotWorse | None = None) -> Change:
    """Return a comparison as variant − other, whichever of them it names first."""
    ends = (found.difference, found.low, found.high)
    if found.a == other:
        low, high = found.high, found.low
        ends = (_minus(found.difference), _minus(low), _minus(high))
    variant = found.b if found.a == other else found.a
    return Change(
        variant,
        other,
        found.diagnostic,
        found.corpus,
        found.quantity,
        *ends,
        found.p_holm,
        found.items,
        found.units,
        own,
        test,
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _counted(change: Change) -> str:
    """Return ``897 test questions in 312 units``; the units where they are not the items themselves."""
    items = "test questions" if change.own else meaning_of(change.diagnostic).items
    units = f" in {change.units:,} units" if change.units != change.items else ""
    return f"{change.items:,} {items}{units}"


def _sureness(change: Change) -> str:
    """Return the p-value, behind the mark that every figure of few units has."""
    few = "few units, " if change.units < FEW_UNITS else ""
    return f"{few}p {p_value(change.p)}"


def _amount(change: Change, points: bool) -> str:
    """Return ``+6.1 points [3.9, 8.2]``."""
    if change.difference is None:
        return ""
    amount = signed(change.difference, points) + (" points" if points else "")
    if change.low is None or change.high is None:
        return amount
    return f"{amount} [{_end(change.low, points)}, {_end(change.high, points)}]"


def _end(value: float, points: bool) -> str:
    return signed(value, points).removeprefix("+")


def _size(value: float, points: bool) -> str:
    """Write the size of a loss: ``2 points``, ``0.01``."""
    return f"{100 * value:.2g} points" if points else f"{value:.2g}"


def _bound(test: NotWorse, points: bool) -> str:
    """Say what loss the items alone would rule out."""
    if test.smallest_margin is None:
        return ""
    return f"; by their number alone they rule out a loss of {_size(test.smallest_margin, points)}"


def _why_unknown(change: Change) -> str:
    if change.difference is None:
        return "undefined"
    if change.units < MIN_UNITS:
        return f"fewer than {MIN_UNITS} independent units"
    return "one unit holds too many of the items for a test"


def _moved(result: Result, variant: str) -> Iterator[str]:
    """Say whether the domain lies farther from general language than before; neither is better by itself."""
    for found in result.comparisons:
        wanted = (found.diagnostic, found.quantity, found.family) == ("shift", "distance", "reference")
        if not wanted or {found.a, found.b} != {BASE, variant}:
            continue
        change = _change(found, BASE, own=True)
        texts = SUBSETS.get(found.subset, found.subset)
        if change.significant and change.difference:
            way = "farther from" if change.difference > 0 else "nearer to"
            yield (
                f"{variant}: your {texts} lie {way} general ones ({found.corpus}): "
                f"{_amount(change, points=False)} mean pair distances ({_sureness(change)})"
            )


def _never_better(variant: str, evaluations: Sequence[Sequence[float]]) -> Iterator[str]:
    """Say where no step of a training was better on the dev questions than what it began with."""
    before, *later = (score for _, score in evaluations) if evaluations else (0.0,)
    if later and max(later) <= before:
        yield (
            f"{variant}: no step of the training was better on the dev questions than the model that it began with "
            f"(Success@5 {before:.3f} before, {max(later):.3f} at best); the best step is kept all the same"
        )


def _summary(variant: str, found: Sequence[Change]) -> str:
    """Say in one sentence what came of it on the questions of the domain, and elsewhere."""
    own, general = ([change for change in found if change.own is which] for which in (True, False))
    parts = []
    if len({change.outcome for change in own}) == 1:
        parts.append(f"{PHRASES[own[0].outcome]} on your questions")
    elif own:
        parts.append(_grouped(own, lambda change: change.corpus))
    if general:
        parts.append(f"elsewhere {_grouped(general, _place)}")
    return f"{variant}, in short: {'; '.join(parts)}"


def _grouped(found: Sequence[Change], name: Callable[[Change], str]) -> str:
    """Return ``worse on A and B, not worse on C``."""
    parts = []
    for outcome, phrase in PHRASES.items():
        places = [name(change) for change in found if change.outcome == outcome]
        if places:
            parts.append(f"{phrase} on {' and '.join(places)}")
    return ", ".join(parts)


def _place(change: Change) -> str:
    return f"{change.corpus} ({meaning_of(change.diagnostic).title})"
