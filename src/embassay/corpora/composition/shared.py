"""What the composition loaders share: ratings, the encoders that filtered, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from embassay.corpora.io.jsonl import counted, listed, text_field
from embassay.errors import SourceError, quoted
from embassay.samples.checks import LIKERT, is_rating


def rated_text(value: Any, path: Path, line: int, field: str) -> tuple[str, tuple[float, ...]]:
    """Return the text and the ratings of a value that is a text, or an object with ``text`` and perhaps ``ratings``."""
    if isinstance(value, dict):
        if "text" not in value:
            raise SourceError(f"an object without 'text'; found {listed(sorted(value))}", path, line, field)
        return text_field(value["text"], path, line, field), rating_field(value.get("ratings"), path, line, field)
    return text_field(value, path, line, field), ()


def rating_field(value: Any, path: Path, line: int, field: str = "ratings") -> tuple[float, ...]:
    """Return a list of ratings between 0 and 4, one of each annotator; none for none."""
    if value is None:
        return ()
    low, high = LIKERT
    if not isinstance(value, list) or not all(map(is_rating, value)):
        wanted = f"a list of numbers from {low:g} to {high:g}"
        raise SourceError(f"must be {wanted}, is {quoted(value)}", path, line, field)
    return tuple(map(float, value))


def filter_field(value: Any, path: Path, line: int) -> tuple[str, ...]:
    """Return the specs of the encoders that samples were filtered by."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise SourceError(f"must be a list of encoder specs, is {quoted(value)}", path, line, "filtered_with")
    return tuple(value)


def dropped_notes(equal: int, repeats: int) -> tuple[str, ...]:
    """Say what was left out."""
    notes = []
    if equal:
        told = "left out: two of their three sentences are equal but for punctuation"
        notes.append(f"{counted(equal, 'document')} {told}")
    if repeats:
        notes.append(f"{counted(repeats, 'sample')} left out: the same stood before")
    return tuple(notes)


def in_order(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the distinct strings of several lists, in the order in which they are first seen."""
    return tuple(dict.fromkeys(value for values in lists for value in values))
