"""The sentences of the verdict on an adaptation; ``docs/adapt.md`` lists the outcomes with their conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from embassay.core.formatting import interval, number, p_value, size_in_points
from embassay.core.layout import Format
from embassay.core.result import FEW_UNITS, MIN_UNITS, Result
from embassay.diagnostics.metrics.metric import declared, meaning_of
from embassay.reports.findings import templates
from embassay.training.adaptation.gain import SMALLEST_SHOWN, Gain, Headlines, Outcome, changes
from embassay.training.adaptation.variants import BASE, BOTH, FINETUNED

PHRASES: dict[Outcome, str] = {
    "worse": "worse",
    "better": "better",
    "not worse": "not worse",
    "inconclusive": "inconclusive",
    "nothing changed": "nothing changed",
    "unknown": "nothing can be said",
}
"""The words for each outcome in the summary, in the order of the summary."""
SHIFT_TEXTS = {"documents": "documents", "queries": "questions"}
"""The subsets of ``shift``, and the words for them in sentences."""


def verdict(
    result: Result,
    headlines: Headlines,
    domain: Sequence[str],
    evaluations: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> tuple[str, ...]:
    """Return the verdict as sentences: for each variant against the base, first the gain, then the cost.

    Parameters
    ----------
    headlines
        The item values of the headlines.
    domain
        The labels of the corpora of the domain.
    evaluations
        [step, Success@5 of the dev questions] of the variants that were evaluated during their training.
    """
    several = len(domain) > 1
    against_base = changes(result, headlines, domain)
    lines: list[str] = []
    for variant in dict.fromkeys(change.variant for change in against_base):
        of_variant = [change for change in against_base if change.variant == variant]
        in_domain = [change for change in of_variant if change.in_domain]
        general = [change for change in of_variant if not change.in_domain]
        # First the gain, then the cost.
        lines += [sentence(change, several) for change in in_domain]
        lines += [sentence(change) for change in general]
        lines += _shift_sentences(result, variant)
        if evaluations and evaluations.get(variant):
            lines += _training_sentences(variant, evaluations[variant])
        lines.append(_summary(variant, in_domain, general))
    for change in changes(result, headlines, domain, FINETUNED):
        if change.in_domain and change.variant == BOTH:
            lines.append(sentence(change, several))
    return (*lines, templates.CAVEAT.sentence(seed=result.seed))


def sentence(change: Gain, several: bool = False) -> str:
    """Return one change as a sentence.

    Parameters
    ----------
    several
        Whether there are several corpora of the domain, so that each is named.
    """
    comparison = change.comparison
    style: Format = "points" if declared(comparison.key).is_share else "number"
    head = f"{comparison.a}{_against(change)} on {_place(change, several)}"
    if change.outcome == "unknown":
        return templates.ADAPTED_UNKNOWN.sentence(head=head, metric=comparison.metric, reason=_why_unknown(change))
    smallest = "" if change.loss_limit is None else _size(change.loss_limit, style)
    if change.outcome == "nothing changed":
        ruled_out = f"; this many items rule out a loss of {smallest}" if smallest else ""
        return templates.ADAPTED_UNCHANGED.sentence(head=head, metric=comparison.metric, ruled_out=ruled_out)

    support = f"{comparison.metric}, {_item_counts(change)}, {_p_value_of(change)}"
    amount = f"{_amount(change, style)} ({support})"
    margin = _size(change.margin, style)
    if change.outcome == "not worse":
        return templates.ADAPTED_NOT_WORSE.sentence(head=head, margin=margin, amount=amount)
    if change.outcome == "inconclusive":
        return templates.ADAPTED_INCONCLUSIVE.sentence(head=head, amount=amount, margin=margin)
    is_small = change.outcome == "better" and comparison.high is not None and comparison.high < change.margin
    below_margin = f"; the gain is below the margin of {margin}" if is_small else ""
    return templates.ADAPTED_DIFFERS.sentence(
        head=head, outcome=change.outcome, amount=amount, below_margin=below_margin
    )


def _shift_sentences(result: Result, variant: str) -> list[str]:
    """Return how far the domain lies from general texts, before and after; neither is better, and there is no test."""
    value_of = {(row.encoder, row.key): row.value for row in result.rows if row.diagnostic == "shift"}
    lines = []
    for (encoder, key), after in value_of.items():
        before = value_of.get((BASE, key))
        if encoder != variant or (key.metric, key.condition) != ("distance", "relative"):
            continue
        if before is None or after is None:
            continue
        texts = SHIFT_TEXTS.get(key.subset, key.subset)
        lines.append(
            templates.DOMAIN_DISTANCE.sentence(
                encoder=variant, texts=texts, after=after, corpus=key.corpus, before=before
            )
        )
    return lines


def _training_sentences(variant: str, evaluations: Sequence[Sequence[float]]) -> list[str]:
    """Return a sentence if no step of a training was better on the dev questions than its starting model."""
    scores = [score for _, score in evaluations]
    before, later = scores[0], scores[1:]
    if not later or max(later) > before:
        return []
    return [templates.NEVER_BETTER.sentence(encoder=variant, before=before, best=max(later))]


def _summary(variant: str, in_domain: Sequence[Gain], general: Sequence[Gain]) -> str:
    """Summarise in one sentence the outcomes on the questions of the domain and on general corpora."""
    parts = []
    outcomes = {change.outcome for change in in_domain}
    if len(outcomes) == 1:
        parts.append(f"{PHRASES[outcomes.pop()]} on your questions")
    elif in_domain:
        parts.append(_by_outcome(in_domain, lambda change: change.comparison.corpus))
    if general:
        parts.append(f"elsewhere {_by_outcome(general, _place)}")
    return f"{variant}, in short: {'; '.join(parts)}"


def _by_outcome(changes: Sequence[Gain], name: Callable[[Gain], str]) -> str:
    """Return ``worse on A and B, not worse on C``."""
    parts = []
    for outcome, phrase in PHRASES.items():
        places = [name(change) for change in changes if change.outcome == outcome]
        if places:
            parts.append(f"{phrase} on {' and '.join(places)}")
    return ", ".join(parts)


def _against(change: Gain) -> str:
    if change.comparison.b == BASE:
        return ""
    return f" against {change.comparison.b}"


def _place(change: Gain, several: bool = False) -> str:
    """Return where a change was measured: ``your questions``, ``xquad (retrieval)``."""
    corpus = change.comparison.corpus
    if not change.in_domain:
        return f"{corpus} ({meaning_of(change.comparison.diagnostic).title})"
    if several:
        return f"your questions ({corpus})"
    return "your questions"


def _why_unknown(change: Gain) -> str:
    if change.comparison.difference is None:
        return "undefined"
    if change.comparison.units < MIN_UNITS:
        return f"fewer than {MIN_UNITS} independent units"
    return "one unit has too large a share of the items for a test"


def _item_counts(change: Gain) -> str:
    """Return ``897 test questions in 312 units``; without the units if each item is a unit."""
    comparison = change.comparison
    items = "test questions" if change.in_domain else meaning_of(comparison.diagnostic).items
    if comparison.units == comparison.items:
        return f"{comparison.items:,} {items}"
    return f"{comparison.items:,} {items} in {comparison.units:,} units"


def _p_value_of(change: Gain) -> str:
    """Return the p-value, corrected for its family and marked if the comparison has few units."""
    few = "few units, " if change.comparison.units < FEW_UNITS else ""
    return f"{few}p {p_value(change.comparison.p_holm)}"


def _amount(change: Gain, style: Format) -> str:
    """Return ``+6.1 points [3.9, 8.2]``."""
    comparison = change.comparison
    if comparison.difference is None:
        return ""
    # A difference that is printed as 0 has no sign.
    has_sign = abs(comparison.difference) >= SMALLEST_SHOWN
    amount = number(comparison.difference, style, signed=has_sign)
    return f"{amount} {interval(comparison.low, comparison.high, style)}".rstrip()


def _size(value: float, style: Format) -> str:
    """Format the size of a loss: ``2 points``, ``0.01``."""
    return size_in_points(value) if style == "points" else f"{value:.2g}"
