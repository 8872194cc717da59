"""Figures of a model as the ``model-index`` of a model card on the Hugging Face hub, with a table to read.

The schema knows a task, a data set, and metrics with a name and a value. So a card has the mean over all items of each
diagnostic that ranks encoders: its headline, and the ranking metrics and correlations that have a name of their own
there. Intervals are in the arguments of each metric and in the table. Built-in corpora are left out: they are for
trying things out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from embassay._version import __version__
from embassay.formatting import interval, number, visible
from embassay.layout import Format, Layout
from embassay.reports.markdown import escaped
from embassay.reports.words import builtin
from embassay.result import CorpusRecord, Result, Row, Verdict

TASKS = {"retrieval": "information-retrieval", "similarity": "semantic-similarity"}
"""The type of the task of a diagnostic, as sentence-transformers writes it; of the others ``OTHER``."""
OTHER = "sentence-similarity"
METRICS = {"RR": "mrr", "AP": "map", "spearman": "spearman_cosine", "pearson": "pearson_cosine"}
"""The types of metrics whose name on the hub is another one."""
RANKING = re.compile(r"(Success|R|nDCG)@\d+|RR|AP|spearman|pearson")
"""Quantities that are stated beside the headline."""


def cards(result: Result, layouts: Mapping[str, Layout]) -> dict[str, str]:
    """Return by candidate its model card, ready to be pasted into ``README.md``; none for one without a figure.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    """
    texts = {}
    for encoder in result.encoders:
        if encoder.baseline:
            continue
        tasks = list(_tasks(result, encoder.name, layouts))
        if tasks:
            texts[encoder.name] = _card(result, encoder.name, tasks)
    return texts


Task = tuple[Verdict, Layout, CorpusRecord, Sequence[Row]]
"""A verdict, how its diagnostic is shown, its corpus, and the figures of one encoder."""


def _tasks(result: Result, encoder: str, layouts: Mapping[str, Layout]) -> Iterator[Task]:
    """Yield what a card states about an encoder."""
    corpora = {corpus.name: corpus for corpus in result.corpora}
    for verdict in result.verdicts:
        if not verdict.quantity or builtin(result, verdict.corpus) or encoder not in verdict.candidates:
            continue
        rows = []
        for row in result.rows:
            if (row.diagnostic, row.corpus, row.encoder) != (verdict.diagnostic, verdict.corpus, encoder):
                continue
            is_mean = row.subset == "all" and not row.condition and RANKING.fullmatch(row.quantity)
            if row.value is not None and (is_mean or _is_headline(row, verdict)):
                rows.append(row)
        rows.sort(key=lambda row: not _is_headline(row, verdict))
        # Two measures of one quantity would have the same name on the card, so the first one stands for it.
        first_rows = dict[str, Row]()
        for row in rows:
            first_rows.setdefault(row.quantity, row)
        if rows:
            yield verdict, layouts[verdict.diagnostic], corpora[verdict.corpus], list(first_rows.values())


def _is_headline(row: Row, verdict: Verdict) -> bool:
    headline = (verdict.quantity, verdict.subset, verdict.condition)
    return (row.quantity, row.subset, row.condition) == headline and verdict.measure in ("", row.measure)


def _card(result: Result, encoder: str, tasks: Sequence[Task]) -> str:
    """Return the front matter and the table of a card."""
    lines = ["---", "model-index:", f"- name: {_text(encoder)}", "  results:"]
    table = ["| task | data | metric | value | 95% interval |", "| --- | --- | --- | --: | --- |"]
    for verdict, layout, corpus, rows in tasks:
        lines += [
            "  - task:",
            f"      type: {TASKS.get(verdict.diagnostic, OTHER)}",
            f"      name: {_text(layout.title)}",
            "    dataset:",
            f"      type: {_text(_identifier(corpus.name))}",
            f"      name: {_text(corpus.name)}",
            f"      args: {{fingerprint: {_text(corpus.fingerprint)}}}",
            "    metrics:",
        ]
        for row in rows:
            name, style = _heading(row, layout)
            arguments = {"items": str(row.items), "units": str(row.units)}
            if row.low is not None and row.high is not None:
                arguments |= {"confidence": "0.95", "low": _number(row.low), "high": _number(row.high)}
            written_arguments = ", ".join(f"{key}: {value}" for key, value in arguments.items())
            lines += [
                f"    - type: {_text(_metric_type(row.quantity))}",
                f"      name: {_text(name)}",
                f"      value: {_number(row.value)}",
                f"      args: {{{written_arguments}}}",
            ]
            ends = interval(row.low, row.high, style) or "–"
            cells = (layout.title, corpus.name, name, number(row.value, style), ends)
            table.append(f"| {' | '.join(map(escaped, cells))} |")
    made = (
        f"Intervals resample independent units. Measured with Embassay {__version__}, seed {result.seed}, "
        f"{result.resamples:,} resamples."
    )
    return "\n".join([*lines, "---", "", "## Evaluation", "", *table, "", made, ""])


def _heading(row: Row, layout: Layout) -> tuple[str, Format]:
    """Return how the report calls and writes a figure."""
    for column in layout.headline.columns:
        has_key = (column.quantity, column.subset, column.condition) == (row.quantity, row.subset, row.condition)
        if has_key and column.measure in ("", row.measure):
            return column.heading, column.format
    if row.quantity.startswith(("Success@", "R@")):
        return row.quantity, "percent"
    return row.quantity, "number"


def _metric_type(quantity: str) -> str:
    """Return the type of a metric: ``recall_at_5`` for ``R@5``."""
    if quantity in METRICS:
        return METRICS[quantity]
    name = re.sub(r"^R@", "recall@", quantity)
    return re.sub(r"[^a-z0-9]+", "_", name.lower().replace("@", "_at_")).strip("_")


def _identifier(name: str) -> str:
    """Return a label as the type of a data set, which has letters, digits, and ``-_.``."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "unnamed"


def _text(text: str) -> str:
    """Return a text as YAML: every JSON string of printable characters is one."""
    return json.dumps(visible(text), ensure_ascii=False)


def _number(value: float | None) -> str:
    """Return a number as YAML, whose readers take one with an exponent for a text; null for None."""
    if value is None:
        return "null"
    return f"{value:.6f}"
