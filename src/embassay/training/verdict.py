"""What adaptation gained and what it cost, from a result and its item values: sentences and a table.

Each change is the paired difference between a variant and another encoder on the same items, with the interval and the
corrected p-value of the run; its sentence is that of ``embassay compare``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from embassay.comparison.differences import Change, ColumnPair, difference_of
from embassay.comparison.views import sentence
from embassay.core.columns import ItemColumn
from embassay.core.formatting import DASH, with_interval
from embassay.core.metric_key import MetricKey
from embassay.core.result import Result, rows_of
from embassay.diagnostics.metrics.metric import declared
from embassay.reports.findings import templates
from embassay.run.outputs.markdown import plain_table

BASE, PRETRAINED, FINETUNED, BOTH = "base", "pretrained", "finetuned", "pretrained+finetuned"
"""The labels of the base and of its variants, Roychowdhury et al. (2024), section 2.4."""
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


def changes(result: Result, columns: Sequence[ItemColumn], variant: str, other: str = BASE) -> list[Change]:
    """Return the change from another encoder to a variant on the headline of each diagnostic and corpus.

    Parameters
    ----------
    columns
        The item values of the run.
    """
    headline_of = {(*column.task, column.encoder): column for column in columns if column.is_headline}
    label = variant if other == BASE else f"{other} → {variant}"
    all_changes = []
    for comparison in result.comparisons:
        if {comparison.a, comparison.b} != {variant, other}:
            continue
        task = (comparison.diagnostic, comparison.corpus)
        old, new = headline_of.get((*task, other)), headline_of.get((*task, variant))
        if old and new and new.key.covers(comparison.key):
            pair = ColumnPair(old, new, label, new.heading, new.margin or 0.0)
            all_changes.append(difference_of(pair, comparison.of(variant)))
    return all_changes


def verdict(
    result: Result,
    columns: Sequence[ItemColumn],
    domain: Sequence[str],
    evaluations: Mapping[str, Sequence[Sequence[float]]],
) -> dict[str, list[str]]:
    """Return the sentences on each variant: its changes from the base, those on the domain first, and all in short.

    Parameters
    ----------
    columns
        The item values of the run.
    domain
        The labels of the corpora of the domain.
    evaluations
        By variant, [step, Success@5 of the dev questions] of each evaluation during its training.
    """
    of_variant = {}
    for variant, scores in evaluations.items():
        all_changes = sorted(changes(result, columns, variant), key=lambda change: change.corpus not in domain)
        lines = [sentence(change) for change in all_changes]
        if len(scores) > 1:
            before, *later = (score for _, score in scores)
            if max(later) <= before:
                lines.append(templates.NEVER_BETTER.sentence(encoder=variant, before=before, best=max(later)))
        outcomes = [f"{change.outcome} on {change.corpus}" for change in all_changes]
        lines.append(f"{variant}, in short: {', '.join(outcomes)}")
        if variant == BOTH:
            from_finetuned = changes(result, columns, BOTH, FINETUNED)
            lines += [sentence(change) for change in from_finetuned if change.corpus in domain]
        of_variant[variant] = lines
    return of_variant


def figures(result: Result, corpora: Sequence[str], encoders: Sequence[str]) -> str:
    """Return a Markdown table for each corpus, with a row for each encoder and a column for each figure."""
    parts = []
    for corpus in corpora:
        lines = {name: [name] for name in encoders}
        for metric, subset in FIGURES.values():
            rows = rows_of(MetricKey(metric, subset, diagnostic="retrieval", corpus=corpus), result.rows)
            for name, cells in lines.items():
                row = rows.get(name)
                cells.append(with_interval(row.value, row.low, row.high, declared(row.key).style) if row else DASH)
        parts.append(plain_table((corpus, *FIGURES), lines.values()))
    return "\n\n".join((*parts, INTERVALS))
