"""What adaptation gained and what it cost, read off a result: pure, no model and no text.

Each line is a paired difference of a variant and another one on the same items, variant − other, with the interval over
independent units and the p after Holm that the result holds. They compare one training run each: how far another seed
would lead elsewhere is not in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from embassay.result import FEW_UNITS, MIN_UNITS, Comparison, Result

BASE = "base"
"""The label of the model that the variants come from."""
ALPHA = 0.05
UNSEEN = 5e-4
"""A difference below this is printed as 0, of points and of numbers alike."""
CAVEAT = (
    "Each line compares single training runs (seed {seed}), paired on the same items; the interval is over independent "
    "units. How far another seed would lead elsewhere is not in it."
)


@dataclass(frozen=True)
class Watched:
    """A headline quantity of which higher is better, and how it is told.

    Attributes
    ----------
    title
        What it says of a model.
    quantity
        How its name begins.
    items
        What one item is called.
    points
        Whether it is a share, told in points of a hundred.
    """

    title: str
    quantity: str
    items: str
    points: bool = True
    subset: str = "all"
    condition: str = ""


WATCHED = {
    "retrieval": Watched("retrieval", "Success@", "questions"),
    "negated_antonyms": Watched("negated antonyms", "accuracy", "entries"),
    "minimal_pairs": Watched("negation contrast", "contrast", "originals", False, "synonym-negation_main"),
    "composition": Watched("overlap as a set, above chance", "share", "samples", True, "c1:TT", "excess:eps0"),
    "similarity": Watched("similarity as people see it", "spearman", "pairs", False),
    "localization": Watched("groups of one meaning", "accuracy", "sentences"),
}
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
        After Holm's correction over all pairs of variants; None where there is none.
    own
        Whether the corpus is of the domain, so that the change is what was trained for.
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

    @property
    def real(self) -> bool:
        """Whether the data show it: p after Holm under 0.05, and an interval that leaves 0 out."""
        if self.p is None or self.low is None or self.high is None:
            return False
        return self.p < ALPHA and (self.low > 0 or self.high < 0)

    @property
    def verdict(self) -> str:
        """What it is: ``gain``, ``loss``, ``none``, ``same`` or ``unknown``.

        ``none``: nothing that the data can show; ``same``: a difference that no printed digit shows; ``unknown``:
        nothing can be said.
        """
        if self.difference is None or self.low is None or self.high is None or self.p is None:
            return "unknown"
        if max(abs(self.low), abs(self.high)) < UNSEEN:
            return "same"
        return ("gain" if self.difference > 0 else "loss") if self.real else "none"


def changes(result: Result, own: Sequence[str], other: str = BASE) -> tuple[Change, ...]:
    """Return the change of each variant against another, on the headline quantity of each diagnostic and corpus.

    Parameters
    ----------
    own
        The labels of the corpora of the domain; the rest are general.
    other
        The label of what the variants are set against.
    """
    return tuple(
        _change(found, other, found.corpus in own)
        for found in result.comparisons
        if other in (found.a, found.b) and _watched(found)
    )


def verdict(
    result: Result, own: Sequence[str], evaluations: Mapping[str, Sequence[Sequence[float]]] | None = None
) -> tuple[str, ...]:
    """Return what may be said, one sentence each: the gain first, then the cost, for each variant against the base.

    Parameters
    ----------
    own
        The labels of the corpora of the domain.
    evaluations
        [step, Success@5 of the dev questions] of the variants that were looked at while they were trained.
    """
    found = changes(result, own)
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
        for change in changes(result, own, "finetuned")
        if change.own and change.variant == "pretrained+finetuned"
    )
    return (*lines, CAVEAT.format(seed=result.seed))


def told(change: Change, many: bool = False) -> str:
    """Return one change as a sentence.

    Parameters
    ----------
    many
        Whether there are several corpora of the domain, so that each is named.
    """
    watched = WATCHED[change.diagnostic]
    against = "" if change.other == BASE else f" against {change.other}"
    where = f"on your questions{f' ({change.corpus})' if many else ''}" if change.own else f"on {change.corpus}"
    head = f"{change.variant}{against}: " + ("" if change.own else f"{watched.title}, ")
    amount, asked = _amount(change, watched.points), _counted(change)
    if change.verdict == "unknown":
        why = f"fewer than {MIN_UNITS} independent units" if change.difference is not None else "undefined"
        return f"{head}nothing can be said {where} ({change.quantity}: {why})"
    if change.verdict == "none":
        support = f"{change.quantity}, {_sureness(change)}"
        return f"{head}no difference that {asked} can show {where}: {amount} ({support})"
    support = f"{change.quantity}, {asked}, {_sureness(change)}"
    if change.verdict == "same":
        unseen = ", to the digits that are printed" if change.low or change.high else ""
        return f"{head}unchanged {where}{unseen}: {amount} ({support})"
    return f"{head}{'a loss, ' if change.verdict == 'loss' else ''}{amount} {where} ({support})"


def p_value(p: float | None) -> str:
    """Write a p-value with two digits, never as 0."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def signed(value: float, points: bool) -> str:
    """Write a difference with its sign: points of a hundred with one decimal, other numbers with three."""
    text = f"{100 * value:+.1f}" if points else f"{value:+.3f}"
    return (text if text.strip("+-0.") else text.lstrip("+-")).replace("-", "−")


def _watched(found: Comparison) -> bool:
    watched = WATCHED.get(found.diagnostic)
    return (
        watched is not None
        and found.quantity.startswith(watched.quantity)
        and (found.subset, found.condition) == (watched.subset, watched.condition)
    )


def _change(found: Comparison, other: str, own: bool) -> Change:
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
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value


def _counted(change: Change) -> str:
    """Return ``897 test questions in 312 units``; the units where they are not the items themselves."""
    items = "test questions" if change.own else WATCHED[change.diagnostic].items
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


def _moved(result: Result, variant: str) -> Iterator[str]:
    """Say whether the domain lies farther from general language than before; neither is better by itself."""
    for found in result.comparisons:
        if found.diagnostic != "shift" or found.quantity != "distance" or {found.a, found.b} != {BASE, variant}:
            continue
        change = _change(found, BASE, own=True)
        texts = SUBSETS.get(found.subset, found.subset)
        if change.verdict in ("gain", "loss"):
            way = "farther from" if change.verdict == "gain" else "nearer to"
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


def _summary(variant: str, found: Iterable[Change]) -> str:
    """Say in one sentence whether a variant is better at the domain, and where it is worse."""
    found = list(found)
    worse = [_place(change) for change in found if not change.own and change.verdict == "loss"]
    general = [change for change in found if not change.own and change.verdict != "unknown"]
    cost = f"; worse elsewhere: {', '.join(worse)}" if worse else ""
    if not worse and general:
        cost = "; no loss elsewhere that these tests can show"
    return f"{variant}, in short: {_at_home([change for change in found if change.own])}{cost}"


def _at_home(own: Sequence[Change]) -> str:
    """Say whether a variant is better at the domain, and of which corpora nothing can be said."""
    known = [change for change in own if change.verdict != "unknown"]
    unknown = [change.corpus for change in own if change.verdict == "unknown"]
    if not known:
        return "nothing can be said on your questions"
    where = ", ".join(change.corpus for change in known) if unknown else "your questions"
    better = {
        frozenset({"gain"}): f"better on {where}",
        frozenset({"loss"}): f"worse on {where}",
        frozenset({"gain", "none"}): "better on some of your corpora",
        frozenset({"loss", "none"}): "worse on some of your corpora",
        frozenset({"gain", "loss"}): "better on some of your corpora and worse on others",
        frozenset({"gain", "loss", "none"}): "better on some of your corpora and worse on others",
        frozenset({"none"}): f"not shown to be better or worse on {where}",
    }[frozenset("none" if change.verdict == "same" else change.verdict for change in known)]
    return better + (f"; nothing can be said on {', '.join(unknown)}" if unknown else "")


def _place(change: Change) -> str:
    return f"{WATCHED[change.diagnostic].title} ({change.corpus})"
