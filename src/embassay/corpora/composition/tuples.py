"""Sets in words: JSON lines A, B, overlap, A_minus_B, B_minus_A, union, each a text or an object with ``text``.

Targets written by people for known sets, as WebNLG's verbalisations of triples, are exact: no generator, no
filter. A target may be null where the set is empty. B_minus_A gives the mirrored difference, which is reported
apart.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from embassay.corpora.composition.shared import filter_field, in_order, rated_text
from embassay.corpora.io.jsonl import Ids, first_fields, json_lines, key_field, require
from embassay.errors import SourceError
from embassay.samples.composition import Composition, Operator
from embassay.types import Corpus

SHAPE = "composition"
TARGETS: tuple[tuple[str, Operator, bool], ...] = (
    ("overlap", "overlap", False),
    ("A_minus_B", "difference", False),
    ("B_minus_A", "difference", True),
    ("union", "union", False),
)
"""Field, operator, and whether a and b are exchanged."""
FIELDS = ("A", "B", *(field for field, *_ in TARGETS))


def recognises(head: str) -> bool:
    """Say whether the first line of a file looks like this format."""
    return len(set(FIELDS) & first_fields(head)) > 2


def load(source: str, name: str, *, licence: str = "") -> Corpus[Composition]:
    """Read a file of tuples.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        What the user says of the file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is no such tuple.
    """
    path = Path(source)
    ids, samples, filters = Ids(path), list[Composition](), list[tuple[str, ...]]()
    for line, row in json_lines(path):
        samples += _samples(row, ids.add(key_field(row, "id", str(line - 1), path, line), line), path, line)
        filters.append(filter_field(row.get("filtered_with"), path, line))
    if not samples:
        raise SourceError("the file has no tuples", path)
    return Corpus(
        name,
        SHAPE,
        tuple(samples),
        licence=licence or "unknown",
        loader="tuples",
        filtered_with=in_order(filters),
    )


def _samples(row: dict[str, Any], name: str, path: Path, line: int) -> list[Composition]:
    require(row, FIELDS, path, line)
    a, b = (rated_text(row[field], path, line, field)[0] for field in ("A", "B"))
    unit = key_field(row, "unit", name, path, line)
    found = []
    for field, operator, mirrored in TARGETS:
        if row[field] is None:
            continue
        target, ratings = rated_text(row[field], path, line, field)
        sides = (b, a) if mirrored else (a, b)
        found.append(Composition(f"{name}.{field}", operator, *sides, target, unit, mirrored, ratings))
    if not found:
        raise SourceError("every target is null", path, line)
    return found
