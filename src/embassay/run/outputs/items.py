"""Single items of a run as Parquet files, one for each diagnostic, for tools such as Embedding Atlas and Spotlight."""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.core.errors import OutputError
from embassay.core.samples.base import Text
from embassay.core.store.canonical import write
from embassay.core.types import AnyCorpus
from embassay.diagnostics.base import ShowsItems
from embassay.run.cache.cache import VectorCache
from embassay.run.items import Items

if TYPE_CHECKING:
    from polars import DataFrame

VECTOR = "vector"
"""The column of the vectors."""


def write_items(items: Items, folder: Path, cache: Path | None = None) -> tuple[Path, ...]:
    """Write one file for each diagnostic that shows single items, and return the files.

    Parameters
    ----------
    folder
        Where ``items-DIAGNOSTIC.parquet`` is written.
    cache
        Folder of a vector cache: the column ``vector`` then has each encoder's vector of the first text of the item
        (the question, the input), as a list of float32; null for encoders without cached vectors. None for no vectors.

    Raises
    ------
    OutputError
        If the folder cannot be written to, or no diagnostic of the run shows single items.
    SourceError
        If a corpus of the run cannot be read again.
    """
    names = dict.fromkeys(task.name for task in items.tasks if isinstance(task.diagnostic, ShowsItems))
    if not names:
        others = ", ".join(without_items(items))
        raise OutputError(f"no diagnostic of this run shows single items ({others})")
    contents: dict[str, bytes] = {}
    # Without a cache, nullcontext() gives None.
    opening = VectorCache(cache) if cache else nullcontext()
    with opening as opened_cache:
        for name in names:
            frame = items.frame(name)
            if opened_cache is not None:
                frame = _with_vectors(frame, items, opened_cache)
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            contents[f"items-{name}.parquet"] = buffer.getvalue()
    # Everything is made before the first file is written.
    for file, content in contents.items():
        write(folder / file, content)
    return tuple(folder / file for file in contents)


def without_items(items: Items) -> list[str]:
    """Return the diagnostics of a run that show no single items."""
    names = [task.name for task in items.tasks if not isinstance(task.diagnostic, ShowsItems)]
    return list(dict.fromkeys(names))


def _with_vectors(frame: DataFrame, items: Items, cache: VectorCache) -> DataFrame:
    """Return a frame of items with a column of vectors: in each row, the encoder's vector of the item's first text."""
    import polars

    # The key of the vectors in the cache. An encoder that learns from its corpus has one for each.
    key_of = {}
    for task in items.tasks:
        for scores in task.scores:
            origin = scores.origin
            key_of[origin.corpus, origin.encoder] = origin.cache_key
    first_texts = {task.corpus.name: _first_texts(task.corpus) for task in items.tasks}
    parts: list[DataFrame] = []
    for (corpus, encoder), part in frame.group_by("corpus", "encoder", maintain_order=True):
        text_of_item = first_texts[str(corpus)]
        texts = [text_of_item[item] for item in part["item"].to_list()]
        cells: list[list[float] | None] = []
        for vector in cache.get(key_of[str(corpus), str(encoder)], texts):
            if vector is None:
                cells.append(None)
            else:
                cells.append(vector.tolist())
        column = polars.Series(VECTOR, cells, dtype=polars.List(polars.Float32))
        parts.append(part.with_columns(column))
    return polars.concat(parts)


def _first_texts(corpus: AnyCorpus) -> Mapping[str, Text]:
    """Return by item its first text with its role."""
    return {sample.id: sample.texts()[0] for sample in corpus.samples}
