"""Each candidate's figures for its README.md on the hub: a ``model-index``, with a table to read.

The schema of the Hugging Face hub knows a task, a data set, and metrics with a name and a value. So a card has the mean
over all items of each diagnostic that ranks encoders: its headline, and the ranking metrics and correlations that have
a name of their own there. Intervals are in the arguments of each metric and in the table. Built-in corpora are left
out: they are for trying things out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from embassay._version import __version__
from embassay.core.errors import OutputError
from embassay.core.formatting import interval, number
from embassay.core.layout import Layout
from embassay.core.result import Result, Row
from embassay.diagnostics.metrics.metric import Metric, known_metric, meaning_of
from embassay.reports.layouts import layouts
from embassay.reports.templates import filled
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import file_name
from embassay.run.outputs.formats import Export
from embassay.run.outputs.markdown import escaped

HOLDS = "model card"


def export(finished: FinishedRun) -> Export:
    """Make a model card for each candidate of a run.

    Raises
    ------
    OutputError
        If no candidate has a figure that a model card can hold.
    """
    result = finished.result
    taken = set[str]()
    texts = {f"{file_name(taken, label)}.md": text for label, text in cards(result, layouts(result)).items()}
    builtin = ", ".join(corpus.name for corpus in result.corpora if corpus.builtin)
    left_out = f"left out: figures on built-in corpora, which are for trying things out ({builtin})"
    if not texts:
        raise OutputError(f"no model card can be written: no candidate has a headline figure ({left_out})")
    return Export(texts, notes=[left_out] if builtin else [])


def cards(result: Result, pages: Mapping[str, Layout]) -> dict[str, str]:
    """Return by candidate its model card, ready to be pasted into ``README.md``; none for one without a figure.

    Parameters
    ----------
    pages
        The layout of each diagnostic in the result.
    """
    candidates = {encoder.name for encoder in result.encoders if not encoder.baseline}
    corpora = {corpus.name: corpus for corpus in result.corpora if not corpus.builtin}
    stated = dict[str, dict[tuple[str, str, str], tuple[Row, Metric]]]()
    for row in result.rows:
        metric = known_metric(row.key)
        if metric is None or row.value is None or row.encoder not in candidates or row.corpus not in corpora:
            continue
        if metric.headline or (metric.hub is not None and (row.subset, row.condition) == ("all", "")):
            # Two similarity functions would have the same name on the card, so the first one stands for it.
            figures = stated.setdefault(row.encoder, {})
            figures.setdefault((row.diagnostic, row.corpus, row.metric), (row, metric))
    return {
        name: filled(
            "model_card.md",
            encoder=name,
            figures=[(row, metric, corpora[row.corpus], pages[row.diagnostic].title) for row, metric in rows.values()],
            result=result,
            version=__version__,
            escaped=escaped,
            hub_type=hub_type,
            interval=interval,
            meaning_of=meaning_of,
            number=number,
            yaml=_yaml,
        )
        for name, rows in stated.items()
    }


def hub_type(metric: str) -> str:
    """Return the name of a metric as the hub writes it: ``recall_at_5`` for ``R@5``."""
    name = re.sub(r"^R@", "recall@", metric).lower().replace("@", "_at_")
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_")


def _yaml(text: str) -> str:
    """Return a text as YAML: every JSON string of printable characters is one."""
    return json.dumps(text, ensure_ascii=not text.isprintable())
