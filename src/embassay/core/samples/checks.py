"""Checks of every corpus that was made in Python: of each sample and document by its annotations, which pydantic reads.

Loaders report the line of an error in a file; these checks report the number of the sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from embassay.core.errors import SpecError, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.samples.shapes import Choice, Composition, Grouped, MinimalPairs, Pair, TwoText

SAMPLES = {
    "choice": Choice,
    "minimal_pairs": MinimalPairs,
    "composition": Composition,
    "pairs": Pair,
    "retrieval": Question,
    "groups": Grouped,
    "two": TwoText,
}
"""The class of the samples of each shape."""


def check_each(what: str, things: Sequence[Any], wanted: Any) -> None:
    """Check items by the annotations of their class, and that no two have the same id.

    Parameters
    ----------
    what
        What they are, for the message, which continues with a number from 0.

    Raises
    ------
    SpecError
        For the first error.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(list[wanted]).validate_python(list(things))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        number, *inside = map(str, first["loc"])
        field = f"{'.'.join(inside)}: " if inside else ""
        raise SpecError(f"{what} {number}: {field}{problem_in(first)}") from None
    places: dict[str, int] = {}
    for place, thing in enumerate(things):
        if places.setdefault(thing.id, place) != place:
            raise SpecError(f"{what} {place}: the id {thing.id!r} is already used by number {places[thing.id]}")


def problem_in(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, in our words where a check of ours has refused it."""
    if error["type"] == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    value = error["input"]
    if error["type"] == "string_type":
        return f"must be a text, is of type {type(value).__name__}"
    if isinstance(value, str) and not value.strip():
        return "an empty text"
    return f"{error['msg'].replace('Input should', 'must')}; it is {quoted(value)}"
