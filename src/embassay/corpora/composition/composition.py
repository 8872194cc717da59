"""Composition samples one by one: JSON lines operator, a, b, target, and perhaps unit, mirrored, ratings."""

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
    """Say whether the first line of a file looks like this format."""
    return len(set(FIELDS) & first_fields(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of samples.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        What the user says of the file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is no such sample.
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
    row.require(*FIELDS)
    operator = row.values["operator"]
    mirrored = row.values.get("mirrored", False)
    if operator not in OPERATORS:
        raise row.error(f"{quoted(operator)} is none of {', '.join(OPERATORS)}", "operator")
    if not isinstance(mirrored, bool) or (mirrored and operator != "difference"):
        raise row.error("must be true or false, and true for a difference only", "mirrored")
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
