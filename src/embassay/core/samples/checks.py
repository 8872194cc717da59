"""Checks of every corpus that was made in Python: of each sample and document by its annotations, which pydantic reads.

Loaders report the line of an error in a file; these checks report the number of the sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from embassay.core.errors import SpecError, quoted
from embassay.core.samples.base import STRICT, Fields, Text, Words, kind
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import Composition
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.core.samples.pairs import Pair
from embassay.core.samples.retrieval import Document, Question, StoredDocuments
from embassay.core.samples.two import TwoText

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SAMPLES: dict[str, type] = {
    "choice": Choice,
    "minimal_pairs": MinimalPairs,
    "composition": Composition,
    "pairs": Pair,
    "retrieval": Question,
    "groups": Grouped,
    "two": TwoText,
}
"""The class of the samples of each shape."""


@dataclass(frozen=True)
class AnySample:
    """What is known of the samples of a shape that another package adds."""

    __pydantic_config__ = STRICT
    id: Words
    unit: Words
    texts: tuple[Text, ...]
    fields: Mapping[str, str]


def check_content(name: str, shape: str, samples: Sequence[Any], documents: Sequence[Document]) -> None:
    """Raise SpecError for samples or documents that cannot be used.

    Parameters
    ----------
    name
        The name of the corpus, for the message.

    Raises
    ------
    SpecError
        For the first error, with the number of the sample or document, from 0.
    """
    if not isinstance(name, str) or not name.strip():
        raise SpecError(f"the name of a corpus must be a non-empty text, is {name!r}")
    # Documents alone are enough for diagnostics that need no questions.
    if not samples and not documents:
        raise SpecError(f"corpus {name!r} has no samples")
    if shape == "retrieval" and not documents:
        raise SpecError(f"corpus {name!r} has questions but no documents; pass documents=")
    _check_each(f"corpus {name!r}, sample", samples, SAMPLES.get(shape, AnySample))
    if isinstance(documents, StoredDocuments):
        # There may be too many to look at one by one; those that are right for some question must exist.
        ids = {*documents.vectors.rows_of({right for sample in samples for right in sample.right})}
    else:
        _check_each(f"corpus {name!r}, document", documents, Document)
        ids = {document.id for document in documents}
    for place, sample in enumerate(samples):
        unknown = [right for right in getattr(sample, "right", ()) if right not in ids]
        if unknown:
            raise SpecError(f"corpus {name!r}, sample {place}: the right document {unknown[0]!r} is not in the corpus")


def problem_in(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, in our words where a check of ours has refused it."""
    if error["type"] == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    return f"{error['msg'].replace('Input should', 'must')}; it is {quoted(error['input'])}"


def _check_each(what: str, things: Sequence[Any], wanted: type) -> None:
    """Check items one by one, and that no two have the same id."""
    places: dict[str, int] = {}
    for place, thing in enumerate(things):
        problem = _problem(thing, wanted)
        if not problem and thing.id in places:
            problem = f"the id {thing.id!r} is already used by number {places[thing.id]}"
        if problem:
            raise SpecError(f"{what} {place}: {problem}")
        places[thing.id] = place


def _problem(thing: Any, wanted: type) -> str:
    """Return why something is no sample or document of a class; empty if it is one."""
    from pydantic import ValidationError

    if wanted is AnySample:
        try:
            thing = AnySample(thing.id, thing.unit, thing.texts(), thing.fields())
        except AttributeError as error:
            return f"every sample has id, unit, texts() and fields(); {error}"
    if not isinstance(thing, wanted):
        return f"is {kind(thing)}; must be {wanted.__name__}"
    try:
        _adapter(wanted).validate_python(thing)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {problem_in(first)}"
    return thing.contradiction() if isinstance(thing, Fields) else ""


@cache
def _adapter(wanted: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(wanted)
