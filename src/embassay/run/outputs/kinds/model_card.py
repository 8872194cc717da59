"""Each candidate's figures for its README.md on the hub: a ``model-index``, with a table to read.

The schema of the Hugging Face hub knows a task, a data set, and metrics with a name and a value. So a card has the mean
over all items of each diagnostic that ranks encoders: its headline, and the ranking metrics and correlations that have
a name of their own there. Intervals are in the arguments of each metric and in the table. Built-in corpora are left
out: they are for trying things out.
"""

from __future__ import annotations

import json
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
    texts = {f"{file_name(label, taken)}.md": text for label, text in cards(result, layouts(result)).items()}
    if not texts:
        raise OutputError("no model card can be written: no candidate has a headline figure on a corpus of your own")
    return Export(texts)


def cards(result: Result, pages: Mapping[str, Layout]) -> dict[str, str]:
    """Return by candidate its model card, ready to be pasted into ``README.md``; none for one without a figure.

    Parameters
    ----------
    pages
        The layout of each diagnostic in the result.
    """
    own = {corpus.name: corpus for corpus in result.corpora if not corpus.builtin}
    figures_of: dict[str, dict[tuple[str, str, str], tuple[object, ...]]] = {}
    for row in result.rows:
        metric = known_metric(row.key) if row.corpus in own and row.value is not None else None
        on_all = (row.subset, row.condition) == ("all", "")
        if metric is not None and (metric.headline or (metric.hub is not None and on_all)):
            # Two similarity functions would have the same name on the card, so the first one stands for it.
            place = (row.diagnostic, row.corpus, row.metric)
            of_encoder = figures_of.setdefault(row.encoder, {})
            of_encoder.setdefault(place, (row, metric, own[row.corpus], pages[row.diagnostic].title))
    return {
        encoder.name: filled(
            "model_card.md",
            encoder=encoder.name,
            figures=list(figures_of[encoder.name].values()),
            result=result,
            version=__version__,
            escaped=escaped,
            hub_type=hub_type,
            interval=interval,
            meaning_of=meaning_of,
            number=number,
            # Every JSON string of printable characters is YAML.
            yaml=lambda text: json.dumps(text, ensure_ascii=not text.isprintable()),
        )
        for encoder in result.encoders
        if encoder.name in figures_of and not encoder.baseline
    }


def hub_type(row: Row, metric: Metric) -> str:
    """Return the name of a metric as the hub writes it: ``recall_at_5`` for ``R@5``."""
    return metric.hub or row.metric.replace("R@", "recall@").replace("@", "_at_").lower()
