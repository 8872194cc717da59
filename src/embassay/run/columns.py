"""What a finished run leaves for later commands: the item values of its declared metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from embassay.core.columns import ItemColumn
from embassay.run.examples import ScoredTask
from embassay.run.runs.items import documents_hash, item_hash, text_hash


def columns_of(tasks: Iterable[ScoredTask]) -> Iterator[ItemColumn]:
    """Yield the item values of each declared metric and encoder; a diagnostic that declares no metrics has none."""
    for task in tasks:
        if figures := task.diagnostic.figures(task.scores):
            contents = {sample.id: (item_hash(sample), text_hash(sample)) for sample in task.corpus.samples}
            yield from figures.columns(contents, documents_hash(task.corpus))
