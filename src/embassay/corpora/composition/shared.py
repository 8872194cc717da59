"""Code that the composition loaders share: ratings, the encoders that samples were filtered with, and the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from embassay.corpora.io.jsonl import listed
from embassay.corpora.io.rows import Row
from embassay.errors import quoted
from embassay.formatting import counted
from embassay.samples.checks import LIKERT, is_rating
from embassay.samples.composition import Composition
from embassay.types import Corpus

SHAPE = "composition"


def rated_text(row: Row, field: str) -> tuple[str, tuple[float, ...]]:
    """Return the text and the ratings of a field that is a text, or an object with ``text`` and perhaps ``ratings``."""
    value = row.values[field]
    if not isinstance(value, dict):
        return row.text(field), ()
    if "text" not in value:
        raise row.error(f"the object lacks 'text'; found {listed(sorted(value))}", field)
    return row.as_text(value["text"], field), ratings_of(row, value.get("ratings"), field)


def ratings_of(row: Row, value: object, field: str = "ratings") -> tuple[float, ...]:
    """Return a list of ratings between 0 and 4, one for each annotator; empty if there are none."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(map(is_rating, value)):
        low, high = LIKERT
        raise row.error(f"must be a list of numbers from {low:g} to {high:g}, is {quoted(value)}", field)
    return tuple(float(rating) for rating in value)


def filters_of(row: Row) -> tuple[str, ...]:
    """Return the specs of the encoders that a row's samples were filtered with."""
    value = row.values.get("filtered_with")
    if value is None:
        return ()
    problem = f"must be a list of encoder specs, is {quoted(value)}"
    if not isinstance(value, list):
        raise row.error(problem, "filtered_with")
    for spec in value:
        if not isinstance(spec, str) or not spec.strip():
            raise row.error(problem, "filtered_with")
    return tuple(value)


def corpus_of(
    name: str,
    loader: str,
    samples: Sequence[Composition],
    *,
    licence: str,
    filters: Iterable[str] = (),
    equal: int = 0,
    repeats: int = 0,
) -> Corpus[Composition]:
    """Return the corpus, with notes on what was left out.

    Parameters
    ----------
    filters
        Specs of the encoders that the samples were filtered with, which may repeat.
    equal, repeats
        The numbers of documents that were left out because two of their sentences are equal, and of repeated samples.
    """
    notes = []
    if equal:
        reason = "two of the three sentences differ only in punctuation"
        notes.append(f"{counted(equal, 'document')} left out: {reason}")
    if repeats:
        notes.append(f"{counted(repeats, 'sample')} left out: repeats of an earlier one")
    return Corpus(
        name,
        SHAPE,
        tuple(samples),
        licence=licence or "unknown",
        loader=loader,
        notes=tuple(notes),
        filtered_with=tuple(dict.fromkeys(filters)),
    )
