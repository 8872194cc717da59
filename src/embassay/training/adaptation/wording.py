"""The sentences of the verdict on an adaptation; ``docs/adapt.md`` lists the outcomes with their conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from embassay.comparison.differences import Change
from embassay.core.columns import ItemColumn
from embassay.core.formatting import interval, number, p_value, size_in_points
from embassay.core.layout import Format
from embassay.core.result import FEW_UNITS, MIN_UNITS, Result
from embassay.diagnostics.metrics.metric import meaning_of
from embassay.reports.findings import templates
from embassay.training.adaptation.gain import changes
from embassay.training.adaptation.variants import BASE, BOTH, FINETUNED

UNKNOWN = "nothing can be said"
PHRASES = ("worse", "better", "not worse", "inconclusive", "nothing changed", UNKNOWN)
"""The outcomes in the summary, in their order."""
SMALLEST_SHOWN = 5e-4
"""A difference below this is printed as 0, whether in points or as a plain number."""
SHIFT_TEXTS = {"documents": "documents", "queries": "questions"}
"""The subsets of ``shift``, and the words for them in sentences."""


def verdict(
    result: Result,
    columns: Sequence[ItemColumn],
    domain: Sequence[str],
    evaluations: Mapping[str, Sequence[Sequence[float]]] | None = None,
) -> tuple[str, ...]:
    """Return the verdict as sentences: for each variant against the base, first the gain, then the cost.

    Parameters
    ----------
    columns
        The item values of the run.
    domain
        The labels of the corpora of the domain.
    evaluations
        [step, Success@5 of the dev questions] of the variants that were evaluated during their training.
    """
    against_base = changes(result, columns)
    lines: list[str] = []
    for variant in dict.fromkeys(change.encoder for change in against_base):
        of_variant = [change for change in against_base if change.encoder == variant]
        in_domain = [change for change in of_variant if change.corpus in domain]
        general = [change for change in of_variant if change.corpus not in domain]
        # First the gain, then the cost.
        lines += [sentence(change, domain) for change in (*in_domain, *general)]
        lines += _shift_sentences(result, variant)
        if evaluations and evaluations.get(variant):
            lines += _training_sentences(variant, evaluations[variant])
        lines.append(_summary(variant, in_domain, general))
    for change in changes(result, columns, FINETUNED):
        if change.corpus in domain and change.encoder == BOTH:
            lines.append(sentence(change, domain, FINETUNED))
    return (*lines, templates.CAVEAT.sentence(seed=result.seed))


def outcome_of(change: Change) -> str:
    """Return the phrase for the outcome of a change."""
    is_untested = change.p is None and change.outcome != "nothing changed"
    return UNKNOWN if is_untested or change.difference is None else change.outcome


def sentence(change: Change, domain: Sequence[str] = (), other: str = BASE) -> str:
    """Return one change as a sentence.

    Parameters
    ----------
    domain
        The labels of the corpora of the domain; each is named where there are several.
    other
        The label of the encoder that the variant is compared with.
    """
    style: Format = "points" if change.of_shares else "number"
    against = "" if other == BASE else f" against {other}"
    head = f"{change.encoder}{against} on {_place(change, domain)}"
    outcome, metric = outcome_of(change), change.metric
    if outcome == UNKNOWN:
        return templates.ADAPTED_UNKNOWN.sentence(head=head, metric=metric, reason=_why_unknown(change))
    margin, limit = _size(change.margin, style), change.limit
    if outcome == "nothing changed":
        ruled_out = "" if limit is None else f"; this many items rule out a loss of {_size(limit, style)}"
        return templates.ADAPTED_UNCHANGED.sentence(head=head, metric=metric, ruled_out=ruled_out)
    items = "test questions" if change.corpus in domain else meaning_of(change.diagnostic).items
    units = "" if change.units == change.items else f" in {change.units:,} units"
    few = "few units, " if change.units < FEW_UNITS else ""
    support = f"{metric}, {change.items:,} {items}{units}, {few}p {p_value(change.p)}"
    # A difference that is printed as 0 has no sign.
    has_sign = abs(change.difference or 0.0) >= SMALLEST_SHOWN
    shown = f"{number(change.difference, style, signed=has_sign)} {interval(change.low, change.high, style)}".rstrip()
    amount = f"{shown} ({support})"
    if outcome == "not worse":
        return templates.ADAPTED_NOT_WORSE.sentence(head=head, margin=margin, amount=amount)
    if outcome == "inconclusive":
        return templates.ADAPTED_INCONCLUSIVE.sentence(head=head, amount=amount, margin=margin)
    is_small = outcome == "better" and change.high is not None and change.high < change.margin
    below_margin = f"; the gain is below the margin of {margin}" if is_small else ""
    return templates.ADAPTED_DIFFERS.sentence(head=head, outcome=outcome, amount=amount, below_margin=below_margin)


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


def _summary(variant: str, in_domain: Sequence[Change], general: Sequence[Change]) -> str:
    """Summarise in one sentence the outcomes on the questions of the domain and on general corpora."""
    parts = []
    outcomes = {outcome_of(change) for change in in_domain}
    if len(outcomes) == 1:
        parts.append(f"{outcomes.pop()} on your questions")
    elif in_domain:
        parts.append(_by_outcome(in_domain, lambda change: change.corpus))
    if general:
        parts.append(f"elsewhere {_by_outcome(general, partial(_place, domain=()))}")
    return f"{variant}, in short: {'; '.join(parts)}"


def _by_outcome(changes: Sequence[Change], name: Callable[[Change], str]) -> str:
    """Return ``worse on A and B, not worse on C``."""
    parts = []
    for phrase in PHRASES:
        places = [name(change) for change in changes if outcome_of(change) == phrase]
        if places:
            parts.append(f"{phrase} on {' and '.join(places)}")
    return ", ".join(parts)


def _place(change: Change, domain: Sequence[str]) -> str:
    """Return where a change was measured: ``your questions``, ``xquad (retrieval)``."""
    if change.corpus not in domain:
        return f"{change.corpus} ({meaning_of(change.diagnostic).title})"
    return f"your questions ({change.corpus})" if len(domain) > 1 else "your questions"


def _why_unknown(change: Change) -> str:
    if change.difference is None:
        return "undefined"
    if change.units < MIN_UNITS:
        return f"fewer than {MIN_UNITS} independent units"
    return "one unit has too large a share of the items for a test"


def _size(value: float, style: Format) -> str:
    """Format the size of a loss: ``2 points``, ``0.01``."""
    return size_in_points(value) if style == "points" else f"{value:.2g}"
