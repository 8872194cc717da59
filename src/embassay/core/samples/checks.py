"""Checks of every corpus, whether a loader, a builder or Python code made it.

Loaders report the line of an error in a file; these checks report the number of the sample. The types and ranges of a
sample are its annotations, which pydantic checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from embassay.core.errors import SpecError, listed, quoted
from embassay.core.samples.base import Role
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import Composition
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.core.samples.pairs import Pair
from embassay.core.samples.retrieval import Document, Question, StoredDocuments
from embassay.core.samples.two import TwoText

if TYPE_CHECKING:
    from pydantic import TypeAdapter

RESERVED = frozenset({"all", "negation"})
"""Names of other subsets, which cannot be used as parts of speech."""
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
MAY_BE_EMPTY = frozenset({"group", "negation", "subset"})
"""Names of samples that may be empty, unless they are the unit."""
_WORD = re.compile(r"[a-z]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_content(name: str, shape: str, samples: Sequence[Any], documents: Sequence[Any]) -> None:
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
    if isinstance(documents, StoredDocuments):
        # There may be too many to look at one by one; those that are right for some question must exist.
        right = {document for sample in samples for document in getattr(sample, "right", ())}
        ids = frozenset(documents.places(right))
    else:
        _check_each(f"corpus {name!r}, document", documents, _check_document)
        ids = frozenset(document.id for document in documents)
    _check_each(f"corpus {name!r}, sample", samples, lambda sample: _check_sample(sample, shape, ids))


def text_problem(value: object) -> str:
    """Return what is wrong with a text to encode; empty if nothing is."""
    if not isinstance(value, str):
        return f"must be a text, is {kind(value)}"
    if not value.strip():
        return "an empty text"
    if _SURROGATE.search(value):
        return "contains half of a surrogate pair, which is not a Unicode character"
    return ""


def kind(value: object) -> str:
    """Return the type of a value in words, for messages."""
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value)) or f"of type {type(value).__name__}"


def is_part_of_speech(value: object) -> bool:
    """Return whether a value can name a part of speech: one word in lower case."""
    return isinstance(value, str) and bool(_WORD.fullmatch(value)) and value not in RESERVED


def _check_each(what: str, things: Sequence[Any], check: Callable[[Any], None]) -> None:
    """Check items one by one, and that no two have the same id."""
    places: dict[str, int] = {}
    for place, thing in enumerate(things):
        try:
            check(thing)
            if thing.id in places:
                raise ValueError(f"the id {thing.id!r} is already used by number {places[thing.id]}")
        except ValueError as problem:
            raise SpecError(f"{what} {place}: {problem}") from None
        places[thing.id] = place


def _check_document(document: Any) -> None:
    """Raise ValueError unless a document has an id and non-empty passages."""
    _check_types(document, Document)
    _check_texts({"id": document.id, **{f"passages[{n}]": text for n, text in enumerate(document.passages)}})


def _check_sample(sample: Any, shape: str, documents: Collection[str]) -> None:
    """Raise ValueError for a sample that is not of the shape, or has invalid content."""
    # A diagnostic of another package may add a shape, of which nothing is known here.
    if shape in SAMPLES:
        _check_types(sample, SAMPLES[shape])
        texts = {field: value for field, value in vars(sample).items() if isinstance(value, str)}
        _check_texts({field: text for field, text in texts.items() if text or field not in MAY_BE_EMPTY})
        if problem := _contradiction(sample, documents):
            raise ValueError(problem)
    for name in ("id", "unit", "texts", "fields"):
        if not hasattr(sample, name):
            raise ValueError(f"{type(sample).__name__} lacks {name!r}, which every sample needs")
    _check_texts({"id": sample.id, "unit": sample.unit})
    for role, text in sample.texts():
        if role not in get_args(Role):
            raise ValueError(f"the role of a text must be one of {', '.join(get_args(Role))}, is {role!r}")
        _check_texts({"a text of it": text})


def _check_types(thing: Any, wanted: type) -> None:
    """Raise ValueError unless something is of a class and its fields are what their annotations say."""
    from pydantic import ValidationError

    if not isinstance(thing, wanted):
        raise ValueError(f"is {kind(thing)}; must be {wanted.__name__}")
    try:
        _adapter(wanted).validate_python(thing)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field, problem = first["loc"][0], first["msg"].replace("Input should", "must")
        raise ValueError(f"{field}: {problem}; it is {quoted(first['input'])}") from None


@cache
def _adapter(wanted: type) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(wanted)


def _check_texts(texts: dict[str, object]) -> None:
    """Raise ValueError unless each value (a text to encode, or a name) is a non-empty text."""
    for field, text in texts.items():
        if problem := text_problem(text):
            raise ValueError(f"{field}: {problem}")


def _contradiction(sample: Any, documents: Collection[str]) -> str:
    """Return what the fields of a sample contradict, each of them being sound by itself; empty if nothing."""
    match sample:
        case Choice() if not is_part_of_speech(sample.part_of_speech):
            return f"part_of_speech must be a word such as verb, is {sample.part_of_speech!r}"
        case MinimalPairs() if unknown := [name for name, _ in sample.edits if name not in ALL_EDITS]:
            return f"edits: unknown {listed(unknown)}; known: {', '.join(ALL_EDITS)}"
        case MinimalPairs() if len(dict(sample.edits)) < len(sample.edits):
            return "an edit appears twice"
        # A mirrored difference is b − a, beside a − b from the same two sentences.
        case Composition(mirrored=True, operator="overlap" | "union"):
            return "mirrored can be True only for a difference"
        case Question() if sample.gains and len(sample.gains) != len(sample.right):
            return f"gains must have {len(sample.right)} values, one per right document; has {len(sample.gains)}"
        case Question() if unknown := [name for name in sample.right if name not in documents]:
            return f"the right document {unknown[0]!r} is not in the corpus"
        case Question() if len(set(sample.right)) < len(sample.right):
            return "a right document is listed twice"
        case Question():
            _check_texts({f"units[{number}]": unit for number, unit in enumerate(sample.units)})
    return ""
