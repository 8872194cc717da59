"""Figures of a model as the ``model-index`` of a model card on the Hugging Face hub, with a table to read.

The schema knows a task, a data set, and metrics with a name and a value. So a card has the mean over all items of each
diagnostic that ranks encoders: its headline, and the ranking metrics and correlations that have a name of their own
there. Intervals are in the arguments of each metric and in the table. Built-in corpora are left out: they are for
trying things out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from embassay._version import __version__
from embassay.core.formatting import DASH, interval, number
from embassay.core.layout import Layout
from embassay.core.result import Result, Row
from embassay.diagnostics.metrics.metric import known_metric, meaning_of
from embassay.reports.templates import filled
from embassay.run.outputs.markdown import escaped


def cards(result: Result, layouts: Mapping[str, Layout]) -> dict[str, str]:
    """Return by candidate its model card, ready to be pasted into ``README.md``; none for one without a figure.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.
    """
    shared = {"result": result, "version": __version__, "escaped": escaped, "yaml": _yaml}
    texts = {}
    for encoder in result.encoders:
        tasks = list(_tasks(result, encoder.name, layouts))
        if tasks and not encoder.baseline:
            texts[encoder.name] = filled("model_card.md", encoder=encoder.name, tasks=tasks, **shared)
    return texts


def _tasks(result: Result, encoder: str, layouts: Mapping[str, Layout]) -> Iterator[dict[str, Any]]:
    """Yield what the card of an encoder states about each diagnostic and corpus."""
    corpora = {corpus.name: corpus for corpus in result.corpora}
    for verdict in result.verdicts:
        if not verdict.metric or corpora[verdict.corpus].builtin or encoder not in verdict.candidates:
            continue
        layout = layouts[verdict.diagnostic]
        place = (verdict.diagnostic, verdict.corpus, encoder, "all", "")
        headline = result.headline(verdict).get(encoder)
        rows = [headline] if headline else []
        for row in result.rows:
            is_mean = (row.diagnostic, row.corpus, row.encoder, row.subset, row.condition) == place
            metric = known_metric(row.key)
            if is_mean and metric is not None and metric.hub is not None:
                rows.append(row)
        # Two similarity functions of one metric would have the same name on the card, so the first one stands for it.
        metrics = dict[str, dict[str, Any]]()
        for row in rows:
            if row.value is not None:
                metrics.setdefault(row.metric, _metric(row, layout))
        if metrics:
            yield {
                "type": meaning_of(verdict.diagnostic).task,
                "title": layout.title,
                "corpus": corpora[verdict.corpus],
                # The type of a data set has letters, digits, and ``-_.``.
                "identifier": re.sub(r"[^A-Za-z0-9_.-]+", "-", verdict.corpus).strip("-.") or "unnamed",
                "metrics": list(metrics.values()),
            }


def _metric(row: Row, layout: Layout) -> dict[str, Any]:
    """Return a figure as the hub and the report call and write it."""
    metric = known_metric(row.key)
    name, style = row.metric, metric.style if metric else "number"
    for column in layout.headline.columns:
        if column.key.covers(row.key):
            name, style = column.heading, column.format
            break
    kind = re.sub(r"^R@", "recall@", row.metric).lower().replace("@", "_at_")
    return {
        "row": row,
        # ``recall_at_5`` for ``R@5``.
        "type": (metric and metric.hub) or re.sub(r"[^a-z0-9]+", "_", kind).strip("_"),
        "name": name,
        "value": number(row.value, style),
        "interval": interval(row.low, row.high, style) or DASH,
    }


def _yaml(text: str) -> str:
    """Return a text as YAML: every JSON string of printable characters is one."""
    return json.dumps(text, ensure_ascii=not text.isprintable())
