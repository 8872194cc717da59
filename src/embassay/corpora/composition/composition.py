"""Composition samples one by one: JSON lines with operator, a, b, target, optionally unit, mirrored, ratings."""

from __future__ import annotations

from pathlib import Path

from embassay.corpora.composition.shared import corpus_of, filters_of, ratings_of
from embassay.corpora.io.jsonl import Ids, first_fields
from embassay.corpora.io.rows import Row, json_rows
from embassay.errors import SourceError, quoted
from embassay.samples.composed import without_repeats
from embassay.samples.composition import OPERATORS, Composition
from embassay.types import Corpus

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
    ids = Ids(path)
    read: list[Composition] = []
    filters: list[str] = []
    for row in json_rows(path):
        sample = _sample(row)
        ids.add(sample.id, row.line)
        read.append(sample)
        filters += filters_of(row)
    samples, repeats = without_repeats(read)
    if not samples:
        raise SourceError("the file has no samples", path)
    return corpus_of(name, "composition", samples, licence=licence, filters=filters, repeats=repeats)


def _sample(row: Row) -> Composition:
    """Return the sample of a line."""
    row.require(*FIELDS)
    operator = row.values["operator"]
    mirrored = row.values.get("mirrored", False)
    if operator not in OPERATORS:
        raise row.error(f"must be one of {', '.join(OPERATORS)}, is {quoted(operator)}", "operator")
    is_misplaced = mirrored and operator != "difference"
    if not isinstance(mirrored, bool) or is_misplaced:
        raise row.error("must be true or false, and can be true only for a difference", "mirrored")
    return Composition(
        a=row.text("a"),
        b=row.text("b"),
        target=row.text("target"),
        id=row.key("id", row.number),
        operator=operator,
        group=row.key("unit"),
        mirrored=mirrored,
        ratings=ratings_of(row, row.values.get("ratings")),
    )
