"""What a test set can rule out: the units of a gate, and the default margin of each headline.

The gate guards the documents of the user. Every question is then a unit of its own, however many are asked about one
page, and only near-duplicate questions count as one. Where the pages are a sample of many more (``pages="sampled"``),
and on the built-in corpora, units are those of the corpus.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from embassay.comparison.runs import StoredRun, figures_of
from embassay.core.metric_key import MetricKey
from embassay.diagnostics.metrics.item_metric import ItemMetric
from embassay.run.runs.items import StoredItem
from embassay.stats.gate import resolution, whole_points
from embassay.stats.units import Ints, unit_codes

Pages = Literal["given", "sampled"]
"""Whether the documents are all there are, or a sample of documents like these."""


def sampled_corpora(run: StoredRun, pages: Pages) -> set[str]:
    """Return the names of the corpora whose documents are a sample: the built-in ones, or all."""
    return {corpus.name for corpus in run.result.corpora if corpus.builtin or pages == "sampled"}


def units_of(metric: ItemMetric, ids: Sequence[str], items: Mapping[str, StoredItem], *, sampled: bool) -> Ints:
    """Return the (n,) units of a metric's items for the gate.

    Parameters
    ----------
    ids
        Those of all items of the scores, of which a metric may have some only.
    items
        The items of the corpus by id; one that is not listed is a unit of its own.
    """
    if sampled:
        return unit_codes(metric.unit)
    if metric.places is not None:
        ids = [ids[place] for place in metric.places.tolist()]
    texts = [items[name].text_hash or name if name in items else name for name in ids]
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.int64)


@dataclass(frozen=True)
class HeadlineMargin:
    """The default margin of a headline.

    Attributes
    ----------
    margin
        Of a share what the test set can rule out, rounded up to a whole point, or what the metric declares if that is
        larger; of other metrics what they declare.
    items
        The fewest that a candidate has a value for.
    """

    key: MetricKey
    margin: float
    items: int
    of_shares: bool
    sampled: bool


def headline_margins(run: StoredRun, labels: Collection[str], pages: Pages) -> Iterator[HeadlineMargin]:
    """Yield the default margin of each headline of a run.

    Parameters
    ----------
    labels
        Those of the candidates.
    """
    sampled = sampled_corpora(run, pages)
    for task in run.tasks.values():
        figures = figures_of(task.with_only(labels)) if any(label in task.scores for label in labels) else None
        headline = None if figures is None else figures.headline()
        if headline is None:
            continue
        is_sampled = task.corpus in sampled
        unit = units_of(headline, task.some_scores.item.tolist(), task.items, sampled=is_sampled)
        defined = [~np.isnan(values) for values in headline.values.values()]
        margins = [headline.margin]
        if headline.of_shares:
            margins += [whole_points(resolution(unit[one])) for one in defined if one.any()]
        key = MetricKey(headline.metric, headline.subset, "", headline.condition, task.diagnostic, task.corpus)
        items = min(int(one.sum()) for one in defined)
        yield HeadlineMargin(key, max(margins), items, headline.of_shares, is_sampled)
