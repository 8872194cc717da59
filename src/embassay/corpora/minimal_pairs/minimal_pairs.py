"""Minimal pairs of your own: JSON lines with original, edits {name: text}, optionally unit and source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from embassay.core.samples.shapes import ALL_EDITS, Edit, ExtraEdit, MinimalPairs
from embassay.core.tables.records import has_columns, read_table
from embassay.core.tables.rows import Key, TableRow, Text
from embassay.core.types import Corpus

SHAPE = "minimal_pairs"
recognises = has_columns("original", "edits", least=2)
Ways = Annotated[dict[str, Text], BeforeValidator(lambda way: {"": way} if isinstance(way, str) else way)]
"""How each edit was made; one way of all of them has no name."""


class EditsRow(TableRow):
    """An original with its edits, and how these were made: a text for all, or one for each."""

    original: Text
    edits: Annotated[dict[Edit | ExtraEdit, Text], Field(min_length=1)]
    id: Key = ""
    unit: Key = ""
    source: Ways = Field(default_factory=dict)


def load(source: str, name: str) -> Corpus[MinimalPairs]:
    """Read a file of minimal pairs.

    Parameters
    ----------
    source
        Path of the JSON lines file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not an original with its edits.
    """
    samples = []
    # Each way once, in order.
    ways: dict[str, None] = {}
    for row in read_table(Path(source)).select(EditsRow):
        # In the order of the known edits, so that the order in the file has no effect.
        edits = tuple((edit, row.edits[edit]) for edit in ALL_EDITS if edit in row.edits)
        for edit, text in edits:
            if text == row.original:
                raise row.error(f"{edit} equals the original", "edits")
        ways |= dict.fromkeys(f"{edit}: {way}".removeprefix(": ") for edit, way in row.source.items())
        samples.append(MinimalPairs(row.key, row.original, edits, row.unit))
    return Corpus(name, SHAPE, tuple(samples), source="; ".join(ways))
