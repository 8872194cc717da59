"""What adaptation gained and what it cost, from a result and its item values: no model and no text.

A change is the paired difference between a variant and another encoder on the same items, with the interval and the
corrected p-value of the run. ``docs/adapt.md`` lists the outcomes with their conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from embassay.comparison.differences import Change, Pair, difference_of
from embassay.core.columns import ItemColumn
from embassay.core.formatting import DASH, interval, p_value, size_in_points, with_interval
from embassay.core.layout import Format
from embassay.core.metric_key import MetricKey
from embassay.core.result import FEW_UNITS, MIN_UNITS, Result, rows_of
from embassay.diagnostics.metrics.metric import declared, meaning_of
from embassay.reports.findings import templates

BASE, PRETRAINED, FINETUNED, BOTH = "base", "pretrained", "finetuned", "pretrained+finetuned"
"""The labels of the base and of its variants, Roychowdhury et al. (2024), section 2.4."""
UNKNOWN = "nothing can be said"
PHRASES = ("worse", "better", "not worse", "inconclusive", "nothing changed", UNKNOWN)
"""The outcomes in the summary, in their order."""
FIGURES = {
    "Success@5": ("Success@5", "all"),
    "accuracy (l = 100)": ("accuracy_l100", "all"),
    "COE": ("coe", "psi5"),
    "ROE": ("roe", "psi5"),
    "τ": ("tau", "recommended"),
    "IsoScore": ("isoscore", "documents"),
}
"""The metric and subset of each column of tables 2 and 3 of Roychowdhury et al. (2024)."""
INTERVALS = (
    "In brackets: for Success@5 the 95% interval; for accuracy, COE and ROE the range of 95% of exams of 100 "
    "questions. The threshold τ and IsoScore (the isotropy of the documents) are single numbers without an interval."
)


@dataclass(frozen=True)
class AdaptationVerdict:
    """The sentences on an adaptation.

    Attributes
    ----------
    of_variant
        By variant: against the base first the gain, then the cost, then both in short.
    limits
        The sentences on all of them, the caveat first.
    """

    of_variant: Mapping[str, Sequence[str]]
    limits: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """All sentences."""
        return (*chain(*self.of_variant.values()), *self.limits)


def changes(result: Result, columns: Sequence[ItemColumn], other: str = BASE) -> list[Change]:
    """Return the change of each variant on the headline metric of each diagnostic and corpus.

    Parameters
    ----------
    columns
        The item values of the run.
    other
        The label of the encoder that the variants are compared with.
    """
    headline_of = {(*column.task, column.encoder): column for column in columns if column.is_headline}
    all_changes = []
    for comparison in result.comparisons:
        labels = {comparison.a, comparison.b}
        if other not in labels:
            continue
        (variant,) = labels - {other}
        task = (comparison.diagnostic, comparison.corpus)
        old, new = headline_of.get((*task, other)), headline_of.get((*task, variant))
        if old is not None and new is not None and new.key.covers(comparison.key):
            pair = Pair(old, new, variant, comparison.metric, new.margin or 0.0)
            all_changes.append(difference_of(pair, comparison.of(variant)))
    return all_changes


def verdict(
    result: Result,
    columns: Sequence[ItemColumn],
    domain: Sequence[str],
    evaluations: Mapping[str, Sequence[Sequence[float]]],
    limits: Sequence[str] = (),
) -> AdaptationVerdict:
    """Return the verdict as sentences.

    Parameters
    ----------
    columns
        The item values of the run.
    domain
        The labels of the corpora of the domain.
    evaluations
        [step, Success@5 of the dev questions] of the variants that were evaluated during their training.
    limits
        What the assay does not examine, one sentence each.
    """
    of_variant: dict[str, list[str]] = {}
    against_base = changes(result, columns)
    for variant in dict.fromkeys(change.encoder for change in against_base):
        # The domain first.
        of_one = [change for change in against_base if change.encoder == variant]
        of_one.sort(key=lambda change: change.corpus not in domain)
        lines = [sentence(change, domain) for change in of_one]
        lines += _shift_sentences(result, variant)
        (_, before), *later = evaluations.get(variant) or [(0, 0.0)]
        best = max((score for _, score in later), default=None)
        if best is not None and best <= before:
            lines.append(templates.NEVER_BETTER.sentence(encoder=variant, before=before, best=best))
        lines.append(_summary(variant, of_one, domain))
        of_variant[variant] = lines
    for change in changes(result, columns, FINETUNED):
        if change.corpus in domain and change.encoder == BOTH:
            of_variant[BOTH].append(sentence(change, domain, FINETUNED))
    return AdaptationVerdict(of_variant, (templates.CAVEAT.sentence(seed=result.seed), *limits))


def why_unknown(change: Change) -> str:
    """Return why nothing can be said of a change; empty if something can."""
    if change.difference is None:
        return "undefined"
    if change.p is not None or change.outcome == "nothing changed":
        return ""
    if change.units < MIN_UNITS:
        return f"fewer than {MIN_UNITS} independent units"
    return "one unit has too large a share of the items for a test"


def sentence(change: Change, domain: Sequence[str] = (), other: str = BASE) -> str:
    """Return one change as a sentence.

    Parameters
    ----------
    domain
        The labels of the corpora of the domain; each is named where there are several.
    other
        The label of the encoder that the variant is compared with.
    """
    against = "" if other == BASE else f" against {other}"
    head = f"{change.encoder}{against} on {_place(change, domain)}"
    outcome, metric = change.outcome, change.metric
    if reason := why_unknown(change):
        return templates.ADAPTED_UNKNOWN.sentence(head=head, metric=metric, reason=reason)
    size: Callable[[float], str] = size_in_points if change.of_shares else "{:.2g}".format
    margin = size(change.margin)
    if outcome == "nothing changed":
        ruled_out = "" if change.limit is None else f"; this many items rule out a loss of {size(change.limit)}"
        return templates.ADAPTED_UNCHANGED.sentence(head=head, metric=metric, ruled_out=ruled_out)
    items = "test questions" if change.corpus in domain else meaning_of(change.diagnostic).items
    units = "" if change.units == change.items else f" in {change.units:,} units"
    few = "few units, " if change.units < FEW_UNITS else ""
    style: Format = "points" if change.of_shares else "number"
    difference = with_interval(change.difference, None, None, style, signed=True)
    ends = interval(change.low, change.high, style)
    amount = (
        f"{difference} {ends}".rstrip() + f" ({metric}, {change.items:,} {items}{units}, {few}p {p_value(change.p)})"
    )
    if outcome == "not worse":
        return templates.ADAPTED_NOT_WORSE.sentence(head=head, margin=margin, amount=amount)
    if outcome == "inconclusive":
        return templates.ADAPTED_INCONCLUSIVE.sentence(head=head, amount=amount, margin=margin)
    is_small = outcome == "better" and change.high is not None and change.high < change.margin
    below_margin = f"; the gain is below the margin of {margin}" if is_small else ""
    return templates.ADAPTED_DIFFERS.sentence(head=head, outcome=outcome, amount=amount, below_margin=below_margin)


def _shift_sentences(result: Result, variant: str) -> list[str]:
    """Return how far the domain lies from general texts, before and after; neither is better, and there is no test."""
    lines = []
    for row in result.rows:
        if (row.encoder, row.diagnostic, row.metric, row.condition) != (variant, "shift", "distance", "relative"):
            continue
        before = rows_of(row.key, result.rows).get(BASE)
        if before is not None and before.value is not None and row.value is not None:
            texts = row.subset.replace("queries", "questions")
            more = {"texts": texts, "after": row.value, "corpus": row.corpus, "before": before.value}
            lines.append(templates.DOMAIN_DISTANCE.sentence(encoder=variant, **more))
    return lines


def _summary(variant: str, changes: Sequence[Change], domain: Sequence[str]) -> str:
    """Summarise in one sentence the outcomes on the questions of the domain and on general corpora."""
    in_domain = {change.corpus: change for change in changes if change.corpus in domain}
    general = {_place(change, domain): change for change in changes if change.corpus not in domain}
    parts = []
    if in_domain:
        parts.append(_by_outcome(in_domain, "your questions"))
    if general:
        parts.append(f"elsewhere {_by_outcome(general)}")
    return f"{variant}, in short: {'; '.join(parts)}"


def _by_outcome(changes: Mapping[str, Change], together: str = "") -> str:
    """Return ``worse on A and B, not worse on C``; ``together`` names all of them where the outcomes are alike."""
    places: dict[str, list[str]] = {phrase: [] for phrase in PHRASES}
    for place, change in changes.items():
        places[UNKNOWN if why_unknown(change) else change.outcome].append(place)
    outcomes = {phrase: " and ".join(there) for phrase, there in places.items() if there}
    if len(outcomes) == 1 and together:
        outcomes = dict.fromkeys(outcomes, together)
    return ", ".join(f"{phrase} on {there}" for phrase, there in outcomes.items())


def _place(change: Change, domain: Sequence[str]) -> str:
    """Return where a change was measured: ``your questions``, ``xquad (retrieval)``."""
    if change.corpus not in domain:
        return f"{change.corpus} ({meaning_of(change.diagnostic).title})"
    return f"your questions ({change.corpus})" if len(domain) > 1 else "your questions"


def figures(result: Result, corpora: Sequence[str], encoders: Sequence[str]) -> str:
    """Return a Markdown table for each corpus, with a row for each encoder and a column for each figure."""
    parts = []
    for corpus in corpora:
        rows = {}
        for heading, (metric, subset) in FIGURES.items():
            rows[heading] = rows_of(MetricKey(metric, subset, diagnostic="retrieval", corpus=corpus), result.rows)
        body = []
        for name in encoders:
            of_encoder = [by_encoder.get(name) for by_encoder in rows.values()]
            cells = [
                with_interval(row.value, row.low, row.high, declared(row.key).style) if row else DASH
                for row in of_encoder
            ]
            body.append((name, *cells))
        parts.append(table((corpus, *FIGURES), body))
    return "\n\n".join((*parts, INTERVALS))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, with aligned columns so that it can also be read as plain text."""
    # A line break or a bar within a cell would break the table.
    lines = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in (head, *rows)]
    widths = [max(3, *map(len, cells)) for cells in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)
