"""Reading composition samples: ratings, the encoders that samples were filtered with, and the corpus of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from embassay.core.errors import SourceError, quoted
from embassay.core.formatting import counted
from embassay.core.samples.checks import LIKERT, is_rating
from embassay.core.samples.composed import without_repeats
from embassay.core.samples.composition import Composition
from embassay.core.tables.jsonl import listed
from embassay.core.tables.rows import FileRow
from embassay.core.types import Corpus

SHAPE = "composition"


def rated_text(row: FileRow, field: str) -> tuple[str, tuple[float, ...]]:
    """Return the text and the ratings of a field that is a text, or an object with ``text`` and perhaps ``ratings``."""
    value = row.value(field)
    if not isinstance(value, dict):
        return row.text(field), ()
    if "text" not in value:
        raise row.error(f"the object lacks 'text'; found {listed(sorted(value))}", field)
    return row.as_text(value["text"], field), ratings_of(row, value.get("ratings"), field)


def ratings_of(row: FileRow, value: object, field: str = "ratings") -> tuple[float, ...]:
    """Return a list of ratings between 0 and 4, one for each annotator; empty if there are none."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(map(is_rating, value)):
        low, high = LIKERT
        raise row.error(f"must be a list of numbers from {low:g} to {high:g}, is {quoted(value)}", field)
    return tuple(float(rating) for rating in value)


def filters_of(row: FileRow) -> tuple[str, ...]:
    """Return the specs of the encoders that a row's samples were filtered with."""
    value = row.values.get("filtered_with")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(spec, str) and spec.strip() for spec in value):
        raise row.error(f"must be a list of encoder specs, is {quoted(value)}", "filtered_with")
    return tuple(value)


def corpus_of(
    path: Path,
    name: str,
    loader: str,
    rows: Iterable[tuple[str, FileRow]],
    samples_of: Callable[[str, FileRow], list[Composition]],
    content: str,
    licence: str,
    *,
    keep_repeats: bool = False,
) -> Corpus[Composition]:
    """Return the corpus of the rows of a file, with notes on what was left out; raise SourceError if there is none.

    Parameters
    ----------
    rows
        (name, row) of each.
    samples_of
        Returns the samples of a row by its name; none if two of its three sentences are equal.
    content
        What the file consists of, for a message.
    keep_repeats
        Whether samples that repeat an earlier one are kept.
    """
    samples: list[Composition] = []
    # A dict keeps each spec once, in order.
    filters: dict[str, None] = {}
    equal = 0
    for key, row in rows:
        samples_of_row = samples_of(key, row)
        equal += not samples_of_row
        samples += samples_of_row
        filters.update(dict.fromkeys(filters_of(row)))
    kept, repeats = (tuple(samples), 0) if keep_repeats else without_repeats(samples)
    if not kept:
        raise SourceError(f"the file has no {content}", path)
    notes = []
    if equal:
        reason = "two of the three sentences differ only in punctuation"
        notes.append(f"{counted(equal, 'document')} left out: {reason}")
    if repeats:
        notes.append(f"{counted(repeats, 'sample')} left out: repeats of an earlier one")
    return Corpus(
        name,
        SHAPE,
        kept,
        licence=licence or "unknown",
        loader=loader,
        notes=tuple(notes),
        filtered_with=tuple(filters),
    )
