"""Minimal pairs of your own: JSON lines original, edits {name: text}, and perhaps unit and source."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from embassay.corpora.io.jsonl import Ids, first_fields, json_lines, key_field, require, text_field
from embassay.errors import SourceError, nearest, quoted
from embassay.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.types import Corpus

SHAPE = "minimal_pairs"


def recognises(head: str) -> bool:
    """Say whether the first line of a file looks like this format."""
    return {"original", "edits"} <= first_fields(head)


def load(source: str, name: str, *, licence: str = "") -> Corpus[MinimalPairs]:
    """Read a file of minimal pairs.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        What the user says of the file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not an original with its edits.
    """
    path = Path(source)
    ids, samples, made = Ids(path), list[MinimalPairs](), Counter[tuple[str, str]]()
    for line, row in json_lines(path):
        sample = _sample(row, path, line)
        ids.add(sample.id, line)
        samples.append(sample)
        made.update(_sources(row.get("source"), sample, path, line))
    if not samples:
        raise SourceError("the file has no minimal pairs", path)
    return Corpus(
        name,
        SHAPE,
        tuple(samples),
        licence=licence or "unknown",
        source=_told(made),
        loader="minimal_pairs",
    )


def _sample(row: dict[str, Any], path: Path, line: int) -> MinimalPairs:
    require(row, ("original", "edits"), path, line)
    original, given = text_field(row["original"], path, line, "original"), row["edits"]
    if not isinstance(given, dict) or not given:
        raise SourceError("must be an object with a text for each edit", path, line, "edits")
    for name in given:
        if name not in ALL_EDITS:
            guess = f"; did you mean {near!r}?" if (near := nearest(name, ALL_EDITS)) else ""
            raise SourceError(f"unknown edit {quoted(name)}; known: {', '.join(ALL_EDITS)}{guess}", path, line, "edits")
    edits = {name: text_field(given[name], path, line, f"edits.{name}") for name in ALL_EDITS if name in given}
    for name, text in edits.items():
        if text == original:
            raise SourceError("is the original itself", path, line, f"edits.{name}")
    return MinimalPairs(
        key_field(row, "id", str(line - 1), path, line),
        original,
        tuple(edits.items()),
        key_field(row, "unit", "", path, line),
    )


def _sources(value: Any, sample: MinimalPairs, path: Path, line: int) -> list[tuple[str, str]]:
    """Return (edit, how it was made) of a line's edits, where it says so: a text for all, or an object by edit."""
    names = [name for name, _ in sample.edits]
    if value is None:
        return []
    if isinstance(value, dict) and set(value) <= set(names) and all(isinstance(v, str) for v in value.values()):
        return list(value.items())
    if isinstance(value, str):
        return [(name, value) for name in names]
    raise SourceError("must be a text, or an object with a text for each edit that there is", path, line, "source")


def _told(made: Counter[tuple[str, str]]) -> str:
    """Say how the edits were made: in one word where all agree, else edit by edit."""
    ways = dict.fromkeys(way for _, way in made)
    if len(ways) < 2:
        return "".join(ways)
    of_edit = {name: dict.fromkeys(way for edit, way in made if edit == name) for name in ALL_EDITS}
    return "; ".join(f"{name}: {', '.join(found)}" for name, found in of_edit.items() if found)
