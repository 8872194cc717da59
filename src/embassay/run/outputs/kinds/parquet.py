"""What each encoder made of each item, as Parquet."""

from __future__ import annotations

from pathlib import Path

from embassay.core.store.files import default_folder
from embassay.run.finished import FinishedRun
from embassay.run.outputs.formats import Written, items_of
from embassay.run.outputs.items import without_items, write_items

HOLDS = "file"


def write(finished: FinishedRun, place: Path, *, with_vectors: bool = False) -> Written:
    """Write the single items of a run.

    Parameters
    ----------
    with_vectors
        Whether the vectors in the user's cache are added.

    Raises
    ------
    OutputError
        If no diagnostic of the run shows single items.
    SourceError
        If a corpus of the run cannot be read again.
    """
    items = items_of(finished)
    files = write_items(items, place, default_folder() if with_vectors else None)
    others = without_items(items)
    if not others:
        return Written(place, len(files))
    note = f"left out: diagnostics that show no single items ({', '.join(others)})"
    return Written(place, len(files), (note,))
