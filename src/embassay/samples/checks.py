"""Checks of every corpus, whether a loader, a builder or Python code made it.

Loaders report the line of an error in a file; these checks report the number of the sample.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

from embassay.errors import SpecError, nearest, quoted
from embassay.samples.base import Role
from embassay.samples.choice import Choice
from embassay.samples.composition import OPERATORS, Composition
from embassay.samples.groups import Grouped
from embassay.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.samples.pairs import Pair
from embassay.samples.retrieval import Document, Question, StoredDocuments
from embassay.samples.two import Member, Side

LIKERT = (0.0, 4.0)
"""The lowest and the highest rating."""
RESERVED = frozenset({"all", "negation"})
"""Names of other subsets, which cannot be used as parts of speech."""
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
        return f"must be a text, is {_kind(value)}"
    if not value.strip():
        return "an empty text"
    if _SURROGATE.search(value):
        return "contains half of a surrogate pair, which is not a Unicode character"
    return ""


def is_rating(value: object) -> bool:
    """Return whether a value is a valid rating."""
    return _is_number(value) and LIKERT[0] <= value <= LIKERT[1]  # type: ignore[operator]


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
    if not isinstance(document, Document):
        raise ValueError(f"must be a Document, is {_kind(document)}")
    _check_text("id", document.id)
    if not _is_list(document.passages) or not document.passages:
        raise ValueError(f"passages must be a non-empty tuple of texts, is {_kind(document.passages)}")
    for number, passage in enumerate(document.passages):
        _check_text(f"passages[{number}]", passage)


def _check_sample(sample: Any, shape: str, documents: frozenset[str]) -> None:
    """Raise ValueError for a sample that is not of the shape, or has invalid content."""
    wanted, check = SAMPLES.get(shape, (None, None))
    if wanted is not None and not isinstance(sample, wanted):
        raise ValueError(f"is {_kind(sample)}; samples of shape {shape!r} must be {wanted.__name__}")
    # Before anything is asked of the sample, because its unit may depend on its fields.
    if check is not None:
        check(sample)
    for name in ("id", "unit", "texts", "fields"):
        if not hasattr(sample, name):
            raise ValueError(f"{type(sample).__name__} lacks {name!r}, which every sample needs")
    _check_text("id", sample.id)
    if isinstance(sample, Question):
        _check_right(sample, documents)
    _check_text("unit", sample.unit)
    roles = get_args(Role)
    for role, text in sample.texts():
        if role not in roles:
            raise ValueError(f"the role of a text must be one of {', '.join(roles)}, is {role!r}")
        _check_text("a text of it", text)


def _check_choice(sample: Choice) -> None:
    """Raise ValueError for invalid fields of a choice."""
    for field in ("input", "antonym", "polarity", "paraphrase"):
        _check_text(field, getattr(sample, field))
    if not is_part_of_speech(sample.part_of_speech):
        raise ValueError(f"part_of_speech must be a word such as verb, is {sample.part_of_speech!r}")
    _check_text("pair", sample.pair)
    _check_label("negation", sample.negation)


def _check_edits(sample: MinimalPairs) -> None:
    """Raise ValueError for invalid fields of minimal pairs."""
    _check_text("original", sample.original)
    _check_label("group", sample.group)
    edits = sample.edits
    # Samples may come from Python code, so nothing is known of the type.
    are_pairs = _is_list(edits) and all(_is_list(edit) and len(edit) == 2 for edit in edits)
    if not are_pairs or not edits:
        raise ValueError("edits must be a non-empty tuple of (name, text)")
    names = set[str]()
    for name, text in edits:
        if name not in ALL_EDITS:
            raise ValueError(unknown_edit(name))
        _check_text(f"the edit {name}", text)
        if name in names:
            raise ValueError(f"the edit {name} appears twice")
        names.add(name)


def unknown_edit(name: object) -> str:
    """Return the message about an edit with an unknown name."""
    near = nearest(str(name), ALL_EDITS)
    guess = f"; did you mean {near!r}?" if near else ""
    return f"unknown edit {quoted(name)}; known: {', '.join(ALL_EDITS)}{guess}"


def _check_composition(sample: Composition) -> None:
    """Raise ValueError for invalid fields of a composition."""
    # A mirrored difference is b − a, beside a − b from the same two sentences.
    if sample.operator not in OPERATORS:
        raise ValueError(f"operator must be one of {', '.join(OPERATORS)}, is {sample.operator!r}")
    for field in ("a", "b", "target"):
        _check_text(field, getattr(sample, field))
    _check_label("group", sample.group)
    can_be_mirrored = sample.operator == "difference"
    if not isinstance(sample.mirrored, bool) or (sample.mirrored and not can_be_mirrored):
        raise ValueError("mirrored must be True or False, and can be True only for a difference")
    are_ratings = _is_list(sample.ratings) and all(map(is_rating, sample.ratings))
    if not are_ratings:
        raise ValueError(f"ratings must be numbers from {LIKERT[0]:g} to {LIKERT[1]:g}, are {sample.ratings!r}")


def _check_pair(sample: Pair) -> None:
    """Raise ValueError for invalid fields of a pair."""
    _check_text("first", sample.first)
    _check_text("second", sample.second)
    if sample.score is not None and not _is_number(sample.score):
        raise ValueError(f"score must be a number or None, is {sample.score!r}")
    _check_label("subset", sample.subset)


def _check_question(sample: Question) -> None:
    """Raise ValueError for invalid fields of a question."""
    _check_text("question", sample.question)
    for field in ("right", "gains", "units"):
        value = getattr(sample, field)
        if not _is_list(value):
            raise ValueError(f"{field} must be a tuple, is {_kind(value)}")
    for unit in sample.units:
        _check_text("a unit of it", unit)
    if sample.gains and len(sample.gains) != len(sample.right):
        raise ValueError(f"gains must have {len(sample.right)} values, one per right document; has {len(sample.gains)}")
    # Not isinstance, because True is not a gain.
    if not all(type(gain) is int and gain >= 1 for gain in sample.gains):
        raise ValueError(f"gains must be integers of at least 1, are {sample.gains!r}")


def _check_right(sample: Question, documents: Iterable[str]) -> None:
    """Raise ValueError for right documents that are unknown or repeated."""
    for name in sample.right:
        if not isinstance(name, str) or name not in documents:
            raise ValueError(f"the right document {name!r} is not in the corpus")
    if len(set(sample.right)) < len(sample.right):
        raise ValueError("a right document is listed twice")


def _check_member(sample: Member) -> None:
    if sample.side not in get_args(Side):
        raise ValueError(f"side must be one of {', '.join(get_args(Side))}, is {sample.side!r}")
    _check_label("group", sample.group)


def _check_grouped(sample: Grouped) -> None:
    _check_text("text", sample.text)
    _check_text("group", sample.group)


SAMPLES: dict[str, tuple[type[Any], Callable[[Any], None]]] = {
    "choice": (Choice, _check_choice),
    "minimal_pairs": (MinimalPairs, _check_edits),
    "composition": (Composition, _check_composition),
    "pairs": (Pair, _check_pair),
    "retrieval": (Question, _check_question),
    "groups": (Grouped, _check_grouped),
    "two": (Member, _check_member),
}
"""The sample class of each shape, and its check. A diagnostic of another package may add a shape."""


def _check_text(field: str, value: object) -> None:
    """Raise ValueError unless a value (a text to encode, or a name) is a non-empty text."""
    if problem := text_problem(value):
        raise ValueError(f"{field}: {problem}")


def _check_label(field: str, value: object) -> None:
    """Raise ValueError unless a name is a text; it may be empty."""
    if not isinstance(value, str):
        raise ValueError(f"{field}: must be a text, is {_kind(value)}")


def _is_number(value: object) -> bool:
    """Return whether a value is a finite number; True and False are not."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        # math.isfinite raises for an int that is too large for a float.
        return abs(value) <= sys.float_info.max
    return isinstance(value, float) and math.isfinite(value)


def _is_list(value: object) -> bool:
    return isinstance(value, (tuple, list))


def _kind(value: object) -> str:
    """Return the type of a value in words, for messages."""
    names = {type(None): "None", bool: "True or False", int: "a number", float: "a number", str: "a text"}
    return names.get(type(value)) or f"of type {type(value).__name__}"
