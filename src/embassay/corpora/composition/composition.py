"""Composition samples one by one: JSON lines with operator, a, b, target, optionally unit, mirrored, ratings."""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import quoted
from embassay.core.samples.composition import OPERATORS, Composition
from embassay.core.tables.jsonl import first_fields
from embassay.core.tables.rows import FileRow, named_rows
from embassay.core.types import Corpus
from embassay.corpora.composition.reading import corpus_of, ratings_of

SHAPE = "composition"
FIELDS = ("operator", "a", "b", "target")


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len(set(FIELDS) & first_fields(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of samples.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid sample.
    """
    path = Path(source)
    return corpus_of(path, name, "composition", named_rows(path), _samples, "samples", licence)


def _samples(key: str, row: FileRow) -> list[Composition]:
    """Return the sample of a line."""
    operator = row.value("operator")
    mirrored = row.values.get("mirrored", False)
    if operator not in OPERATORS:
        raise row.error(f"must be one of {', '.join(OPERATORS)}, is {quoted(operator)}", "operator")
    is_misplaced = mirrored and operator != "difference"
    if not isinstance(mirrored, bool) or is_misplaced:
        raise row.error("must be true or false, and can be true only for a difference", "mirrored")
    sample = Composition(
        a=row.text("a"),
        b=row.text("b"),
        target=row.text("target"),
        id=key,
        operator=operator,
        group=row.key("unit"),
        mirrored=mirrored,
        ratings=ratings_of(row, row.values.get("ratings")),
    )
    return [sample]
