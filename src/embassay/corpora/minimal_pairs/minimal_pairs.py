"""Minimal pairs of your own: JSON lines with original, edits {name: text}, optionally unit and source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.samples.checks import unknown_edit
from embassay.core.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.core.tables.jsonl import first_fields
from embassay.core.tables.rows import FileRow, named_rows
from embassay.core.types import Corpus

SHAPE = "minimal_pairs"
FIELDS = ("original", "edits")


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return set(FIELDS) <= first_fields(head)


def load(source: str, name: str, *, licence: str = "") -> Corpus[MinimalPairs]:
    """Read a file of minimal pairs.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not an original with its edits.
    """
    path = Path(source)
    samples: list[MinimalPairs] = []
    ways: dict[str, dict[str, None]] = {}
    for key, row in named_rows(path):
        sample = _sample(key, row)
        samples.append(sample)
        for edit, way in _sources(row, sample):
            ways.setdefault(edit, {})[way] = None
    if not samples:
        raise SourceError("the file has no minimal pairs", path)
    return Corpus(
        name,
        SHAPE,
        tuple(samples),
        licence=licence or "unknown",
        source=_written_source(ways),
        loader="minimal_pairs",
    )


def _sample(key: str, row: FileRow) -> MinimalPairs:
    """Return the sample of a line."""
    original = row.text("original")
    edits = row.value("edits")
    if not isinstance(edits, dict) or not edits:
        raise row.error("must be an object with a text for each edit", "edits")
    for name in edits:
        if name not in ALL_EDITS:
            raise row.error(unknown_edit(name), "edits")
    # In the order of the known edits, so that the order in the file has no effect.
    texts: dict[str, str] = {}
    for name in ALL_EDITS:
        if name in edits:
            texts[name] = row.as_text(edits[name], f"edits.{name}")
            if texts[name] == original:
                raise row.error("equals the original", f"edits.{name}")
    return MinimalPairs(key, original, tuple(texts.items()), row.key("unit"))


def _sources(row: FileRow, sample: MinimalPairs) -> list[tuple[str, str]]:
    """Return (edit, how it was made) for a line's edits, if stated: a text for all, or an object by edit."""
    source = row.values.get("source")
    names = dict(sample.edits)
    if source is None:
        return []
    if isinstance(source, str):
        source = dict.fromkeys(names, source)
    is_of_edits = isinstance(source, dict) and source.keys() <= names.keys()
    if not is_of_edits or not all(isinstance(way, str) for way in source.values()):
        raise row.error("must be a text, or an object with a text for each edit of the line", "source")
    return list(source.items())


def _written_source(ways: Mapping[str, Iterable[str]]) -> str:
    """Return how the edits were made: once if all were made in the same way, else edit by edit."""
    distinct = set[str]().union(*ways.values())
    if len(distinct) < 2:
        return "".join(distinct)
    return "; ".join(f"{name}: {', '.join(ways[name])}" for name in ALL_EDITS if name in ways)
