"""Composition samples one by one: JSON lines operator, a, b, target, and perhaps unit, mirrored, ratings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from embassay.corpora.composition.shared import dropped_notes, filter_field, in_order, rating_field
from embassay.corpora.io.jsonl import Ids, first_fields, json_lines, key_field, require, text_field
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
    ids, found, filters = Ids(path), list[Composition](), list[tuple[str, ...]]()
    for line, row in json_lines(path):
        sample = _sample(row, path, line)
        ids.add(sample.id, line)
        found.append(sample)
        filters.append(filter_field(row.get("filtered_with"), path, line))
    samples, repeats = without_repeats(found)
    if not samples:
        raise SourceError("the file has no samples", path)
    return Corpus(
        name,
        SHAPE,
        samples,
        licence=licence or "unknown",
        loader="composition",
        notes=dropped_notes(0, repeats),
        filtered_with=in_order(filters),
    )


def _sample(row: dict[str, Any], path: Path, line: int) -> Composition:
    require(row, FIELDS, path, line)
    operator, mirrored = row["operator"], row.get("mirrored", False)
    if operator not in OPERATORS:
        raise SourceError(f"{quoted(operator)} is none of {', '.join(OPERATORS)}", path, line, "operator")
    if not isinstance(mirrored, bool) or (mirrored and operator != "difference"):
        raise SourceError("must be true or false, and true for a difference only", path, line, "mirrored")
    a, b, target = (text_field(row[field], path, line, field) for field in ("a", "b", "target"))
    return Composition(
        key_field(row, "id", str(line - 1), path, line),
        operator,
        a,
        b,
        target,
        group=key_field(row, "unit", "", path, line),
        mirrored=mirrored,
        ratings=rating_field(row.get("ratings"), path, line),
    )
