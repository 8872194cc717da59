"""Checks of every corpus, whether a loader, a builder or Python code made it.

Loaders report the line of an error in a file; these checks report the number of the sample.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, get_args

from embassay.core.errors import SpecError, nearest, quoted
from embassay.core.samples.base import Role
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import OPERATORS, Composition
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import ALL_EDITS, MinimalPairs
from embassay.core.samples.pairs import Pair
from embassay.core.samples.retrieval import Document, Question, StoredDocuments
from embassay.core.samples.two import Side, TwoText

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
    # A diagnostic of another package may add a shape, of which nothing is known here.
    wanted, texts, labels, check = SAMPLES.get(shape, (object, (), (), None))
    if not isinstance(sample, wanted):
        raise ValueError(f"is {_kind(sample)}; samples of shape {shape!r} must be {wanted.__name__}")
    # Before anything is asked of the sample, because its unit may depend on its fields.
    for field in texts:
        _check_text(field, getattr(sample, field))
    for field in labels:
        _check_label(field, getattr(sample, field))
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
    """Raise ValueError for an invalid part of speech of a choice."""
    if not is_part_of_speech(sample.part_of_speech):
        raise ValueError(f"part_of_speech must be a word such as verb, is {sample.part_of_speech!r}")


def _check_edits(sample: MinimalPairs) -> None:
    """Raise ValueError unless the edits are pairs of a known name and a text, each name once."""
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
    """Raise ValueError for an invalid operator, mark of mirroring, or ratings."""
    # A mirrored difference is b − a, beside a − b from the same two sentences.
    if sample.operator not in OPERATORS:
        raise ValueError(f"operator must be one of {', '.join(OPERATORS)}, is {sample.operator!r}")
    can_be_mirrored = sample.operator == "difference"
    if not isinstance(sample.mirrored, bool) or (sample.mirrored and not can_be_mirrored):
        raise ValueError("mirrored must be True or False, and can be True only for a difference")
    are_ratings = _is_list(sample.ratings) and all(map(is_rating, sample.ratings))
    if not are_ratings:
        raise ValueError(f"ratings must be numbers from {LIKERT[0]:g} to {LIKERT[1]:g}, are {sample.ratings!r}")


def _check_pair(sample: Pair) -> None:
    """Raise ValueError for an invalid score of a pair."""
    if sample.score is not None and not _is_number(sample.score):
        raise ValueError(f"score must be a number or None, is {sample.score!r}")


def _check_question(sample: Question) -> None:
    """Raise ValueError for invalid lists of a question."""
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


def _check_member(sample: TwoText) -> None:
    if sample.side not in get_args(Side):
        raise ValueError(f"side must be one of {', '.join(get_args(Side))}, is {sample.side!r}")


SAMPLES: dict[str, tuple[type[Any], tuple[str, ...], tuple[str, ...], Callable[[Any], None] | None]] = {
    "choice": (Choice, ("input", "antonym", "polarity", "paraphrase", "pair"), ("negation",), _check_choice),
    "minimal_pairs": (MinimalPairs, ("original",), ("group",), _check_edits),
    "composition": (Composition, ("a", "b", "target"), ("group",), _check_composition),
    "pairs": (Pair, ("first", "second"), ("subset",), _check_pair),
    "retrieval": (Question, ("question",), (), _check_question),
    "groups": (Grouped, ("text", "group"), (), None),
    "two": (TwoText, (), ("group",), _check_member),
}
"""By shape: the class of its samples, the fields that must not be empty, those that may be, and all other checks."""


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
