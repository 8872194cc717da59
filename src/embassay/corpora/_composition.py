"""What the composition loaders share: nine samples of a document, ratings, and the encoders that filtered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from embassay.errors import SourceError
from embassay.reading.jsonl import counted, text_field
from embassay.samples import Composition, Operator

SENTENCES = ("S1", "S2", "S3", "F12", "F23")
SAMPLES: tuple[tuple[Operator, str, str, str], ...] = (
    ("overlap", "F12", "F23", "S2"),
    ("difference", "F12", "S1", "S2"),
    ("difference", "F12", "S2", "S1"),
    ("difference", "F12", "F23", "S1"),
    ("difference", "F23", "S3", "S2"),
    ("difference", "F23", "S2", "S3"),
    ("difference", "F23", "F12", "S3"),
    ("union", "S1", "S2", "F12"),
    ("union", "S2", "S3", "F23"),
)
"""Operator, a, b and target of the nine samples of a document (Bansal et al. 2025, section 3)."""
LIKERT = (0.0, 4.0)
"""The lowest and the highest rating."""


def of_document(
    name: str, texts: Mapping[str, str], ratings: Mapping[str, tuple[float, ...]] | None = None, unit: str = ""
) -> list[Composition]:
    """Return the nine samples of three consecutive sentences and the fusions of neighbours.

    Parameters
    ----------
    texts
        S1, S2, S3, F12 and F23.
    ratings
        Of the targets that have some; a fusion's go to the union that it is, a sentence's to its overlap.
    """
    given = ratings or {}
    return [
        Composition(
            f"{name}.{operator}.{a}.{b}",
            operator,
            texts[a],
            texts[b],
            texts[target],
            unit or name,
            ratings=given.get(target, ()) if operator != "difference" else (),
        )
        for operator, a, b, target in SAMPLES
    ]


def degenerate(texts: Mapping[str, str]) -> bool:
    """Say whether neighbouring sentences are equal once all but letters and digits is removed."""
    first, second, third = (re.sub(r"\W|_", "", texts[s]).lower() for s in ("S1", "S2", "S3"))
    return first == second or second == third


def without_repeats(samples: Iterable[Composition]) -> tuple[tuple[Composition, ...], int]:
    """Return the samples without those whose operator and three texts stood before, and how many those were."""
    kept: dict[tuple[str, str, str, str], Composition] = {}
    given = list(samples)
    for sample in given:
        kept.setdefault((sample.operator, sample.a, sample.b, sample.target), sample)
    return tuple(kept.values()), len(given) - len(kept)


def rated_text(value: Any, path: Path, line: int, field: str) -> tuple[str, tuple[float, ...]]:
    """Return the text and the ratings of a value that is a text, or an object with ``text`` and perhaps ``ratings``."""
    if isinstance(value, dict):
        if "text" not in value:
            found = ", ".join(sorted(value)) or "nothing"
            raise SourceError(f"an object without 'text'; found {found}", path, line, field)
        return text_field(value["text"], path, line, field), rating_field(value.get("ratings"), path, line, field)
    return text_field(value, path, line, field), ()


def rating_field(value: Any, path: Path, line: int, field: str = "ratings") -> tuple[float, ...]:
    """Return a list of ratings between 0 and 4, one of each annotator; none for none."""
    if value is None:
        return ()
    low, high = LIKERT
    if not isinstance(value, list) or not all(_is_rating(v) for v in value):
        wanted = f"a list of numbers from {low:g} to {high:g}"
        raise SourceError(f"must be {wanted}, is {value!r}"[:300], path, line, field)
    return tuple(map(float, value))


def _is_rating(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and LIKERT[0] <= value <= LIKERT[1]


def filter_field(value: Any, path: Path, line: int) -> tuple[str, ...]:
    """Return the specs of the encoders that samples were filtered by."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise SourceError(f"must be a list of encoder specs, is {value!r}", path, line, "filtered_with")
    return tuple(value)


def dropped_notes(equal: int, repeats: int) -> tuple[str, ...]:
    """Say what was left out."""
    notes = []
    if equal:
        notes.append(f"{counted(equal, 'document')} left out: neighbouring sentences are equal but for punctuation")
    if repeats:
        notes.append(f"{counted(repeats, 'sample')} left out: the same stood before")
    return tuple(notes)


def in_order(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the distinct strings of several lists, in the order in which they are first seen."""
    return tuple(dict.fromkeys(value for values in lists for value in values))
