"""One table of rows that are wrong in one field, for all loaders of JSON lines, and of what is said."""

from __future__ import annotations

import pytest

from embassay.core.errors import SourceError
from embassay.core.plugins import CORPORA

GOOD = {
    "composition": {"operator": "union", "a": "It rained.", "b": "We ran.", "target": "It rained and we ran."},
    "tuples": {"A": "a b", "B": "b c", "overlap": "b", "A_minus_B": "a", "B_minus_A": "c", "union": "a b c"},
    "fusions": {"S1": "It rained.", "S2": "We ran.", "S3": "She sang.", "F12": "It rained; we.", "F23": "We ran; she."},
    "minimal_pairs": {"original": "He ran fast.", "edits": {"synonym": "He ran quickly."}},
    "semantoneg": {"label": 2, "input": "It's on.", "sentences": ["It's off.", "It's not on.", "It's not off."]},
}
OPERATOR = "must be one of overlap, difference, union, is {!r}"
MIRRORED = "must be true or false, and can be true only for a difference"
EDITS = "must be an object with a text for each edit"
SOURCE = "must be a text, or an object with a text for each edit of the line"
NAMES = "synonym, antonym, typo, random_mlm, negation_main, negation_antonym, random_word, number, entity, role_swap"
LABEL = "must be 0, 1 or 2, the index of the paraphrase, is {!r}"
CANDIDATES = "must be a list of three candidates, is "
HALF = "contains half of a surrogate pair, which is not a Unicode character"
BAD_RATINGS = ([4.5], [-1], ["3"], [True], 3, "3", [None], [float("nan")], [float("inf")], {"x": 1})


def bad_ratings(value):
    return f"must be a list of numbers from 0 to 4, is {value!r}"


def unknown_edit(name, guess=""):
    message = f"unknown edit {name!r}; known: {NAMES}"
    return f"{message}; did you mean {guess!r}?" if guess else message


def case(loader, field, message, **change):
    """Return a wrong row: the good one with some fields changed; the message may quote the last of them."""
    value = next(reversed(change.values()))
    return loader, {**GOOD[loader], **change}, field, message.replace("{!r}", repr(value))


CASES = [
    *(case("composition", "operator", OPERATOR, operator=value) for value in ("Union", "", None, 7, ["union"], {})),
    *(case("composition", "mirrored", MIRRORED, mirrored=value) for value in (True, "true", 1, None)),
    case("composition", "mirrored", MIRRORED, operator="difference", mirrored="yes"),
    *(case("composition", "ratings", bad_ratings(value), ratings=value) for value in BAD_RATINGS),
    *(case("tuples", "union", bad_ratings(v), union={"text": "x", "ratings": v}) for v in BAD_RATINGS),
    *(case("fusions", "F12", bad_ratings(v), F12={"text": "x", "ratings": v}) for v in BAD_RATINGS),
    case("tuples", "B", "the object lacks 'text'; found n, txt", B={"txt": "x", "n": 1}),
    case("tuples", "A", "must be a text, is null", A=None),
    case("tuples", "B", "must be a text, is null", B=None),
    *(case("minimal_pairs", "edits", EDITS, edits=value) for value in ([], {}, None, "text", ["a"], 7)),
    case("minimal_pairs", "edits", unknown_edit("xyz"), edits={"xyz": "b"}),
    case("minimal_pairs", "edits", unknown_edit("synonyms", "synonym"), edits={"synonyms": "b"}),
    case("minimal_pairs", "edits", unknown_edit("Antonym", "antonym"), edits={"Antonym": "b"}),
    case("minimal_pairs", "edits.typo", "an empty text", edits={"typo": " "}),
    case("minimal_pairs", "edits.typo", "must be a text, is null", edits={"typo": None}),
    case("minimal_pairs", "edits.typo", HALF, edits={"typo": "\ud83d alone"}),
    case("minimal_pairs", "edits.typo", "equals the original", edits={"synonym": "b", "typo": "He ran fast."}),
    *(case("minimal_pairs", "source", SOURCE, source=v) for v in (7, ["by hand"], {"typo": "x"}, {"synonym": 7}, True)),
    *(case("semantoneg", "label", LABEL, label=value) for value in (3, -1, "2", True)),
    case("semantoneg", "sentences", f"{CANDIDATES}2 of them", sentences=["a", "b"]),
    case("semantoneg", "sentences", f"{CANDIDATES}4 of them", sentences=["a", "b", "c", "d"]),
    case("semantoneg", "sentences", f"{CANDIDATES}a text", sentences="a b c"),
    case("semantoneg", "sentences", "an empty text", sentences=["a", "", "c"]),
    case("semantoneg", "input", "an empty text", input="  "),
    case("semantoneg", "input", "must be a text, is a number", input=7),
    case("semantoneg", "input", HALF, input="\ud83d alone"),
    case("semantoneg", "part_of_speech", "must be a word such as verb, is {!r}", part_of_speech="all"),
    case("semantoneg", "part_of_speech", "must be a word such as verb, is {!r}", part_of_speech=7),
    case("semantoneg", "idx", "must be a text or a whole number, is a list", idx=[1]),
    *(case(name, key, "'0' is already used on line 1 (lines without an id are numbered from 0)", **{key: 0})
      for name, key in (("minimal_pairs", "id"), ("composition", "id"), ("fusions", "id"), ("semantoneg", "idx"))),
]  # fmt: skip
"""Loader, row, field and message."""


@pytest.mark.parametrize(("loader", "row", "field", "message"), CASES)
def test_a_wrong_field_is_named_with_file_and_line(file, loader, row, field, message):
    path = file(GOOD[loader], row)
    with pytest.raises(SourceError) as error:
        CORPORA.module(loader).load(path, "mine")
    assert str(error.value) == f"{path}, line 2, field {field!r}: {message}"
