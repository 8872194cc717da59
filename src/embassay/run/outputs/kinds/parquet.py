"""What each encoder made of each item, as Parquet, for tools such as Embedding Atlas and Spotlight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from embassay.core.errors import OutputError
from embassay.core.grouping import grouped
from embassay.run.cache.cache import VectorCache
from embassay.run.cache.folder import default_folder
from embassay.run.finished import FinishedRun
from embassay.run.items import ScoredTask
from embassay.run.outputs.formats import Export

if TYPE_CHECKING:
    from polars import DataFrame

HOLDS = "file"


def export(finished: FinishedRun, *, with_vectors: bool = False) -> Export:
    """Make a file for each diagnostic that shows single items.

    Parameters
    ----------
    with_vectors
        Whether the vectors in the user's cache are added: the column ``vector`` has each encoder's vector of the first
        text of the item (the question, the input) as a list of float32; null for encoders without cached vectors.

    Raises
    ------
    OutputError
        If no diagnostic of the run shows single items, or its folder has no scores that this version can read.
    SourceError
        If a corpus of the run cannot be read again.
    """
    items = finished.items
    frames = {}
    for name, tasks in grouped(items.tasks, lambda task: task.name).items():
        frame = items.frame(name)
        frames[name] = _with_vectors(frame, tasks) if with_vectors else frame
    if not frames:
        raise OutputError("no diagnostic of this run shows single items, or its scores are gone; repeat its command")
    return Export({f"items-{name}.parquet": frame.write_parquet for name, frame in frames.items()})


def _with_vectors(frame: DataFrame, tasks: Sequence[ScoredTask]) -> DataFrame:
    """Return the items of a diagnostic with a column of vectors: of the encoder, of the first text of the item."""
    import polars

    vectors = {}
    cache = VectorCache(default_folder())
    for task in tasks:
        texts = {sample.id: sample.texts()[0] for sample in task.corpus.samples}
        for scores in task.scores:
            origin = scores.origin
            # An encoder that learns from its corpus has another key on each.
            for item, vector in zip(texts, cache.get(origin.cache_key, list(texts.values())), strict=True):
                vectors[origin.corpus, origin.encoder, item] = None if vector is None else vector.tolist()
    cells = [vectors[place] for place in frame.select("corpus", "encoder", "item").iter_rows()]
    return frame.with_columns(polars.Series("vector", cells, dtype=polars.List(polars.Float32)))
