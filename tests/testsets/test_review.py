"""Quadruples that people decide on."""

import csv
import io

import pytest

from embassay.errors import SourceError
from embassay.samples.choice import Choice
from embassay.testsets.review import confirmed_choices, read_review, review_of

FIRST = Choice(
    "0", "He is tall.", "He is short.", "He is not tall.", "He is not short.", "adjective", "short–tall", "not"
)
SECOND = Choice(
    "4", "I am full.", "I am hungry.", "I'm not full.", "I'm not hungry.", "adjective", "full–hungry", "not"
)


def filled(tmp_path, *said):
    rows = list(csv.reader(io.StringIO(review_of((FIRST, SECOND)).decode("utf-8-sig"))))
    with (tmp_path / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows([rows[0], *([*row[:-1], cell] for row, cell in zip(rows[1:], said, strict=True))])
    return tmp_path / "r.csv"


def test_a_confirmed_quadruple_joins_with_each_sentence_as_the_input(tmp_path):
    # Sorted by their pairs: full–hungry comes first.
    found = tuple(confirmed_choices((FIRST, SECOND), read_review(filled(tmp_path, "", "Yes"))))
    assert [choice.input for choice in found] == ["He is tall.", "He is short.", "He is not tall.", "He is not short."]
    assert [choice.paraphrase for choice in found] == [choice.input for choice in found[::-1]]
    assert [choice.antonym for choice in found[:2]] == ["He is short.", "He is tall."]
    assert [choice.polarity for choice in found[2:]] == ["He is tall.", "He is short."]
    assert len({choice.id for choice in found}) == 4
    assert {(choice.pair, choice.negation) for choice in found} == {("short–tall", "not")}


def test_nothing_joins_that_was_not_confirmed(tmp_path):
    assert not tuple(confirmed_choices((FIRST, SECOND), read_review(filled(tmp_path, "", "no"))))


def test_what_is_neither_yes_nor_no_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"line 3, field 'confirm': must be yes or no, is 'maybe'"):
        read_review(filled(tmp_path, "", "maybe"))
    (tmp_path / "o.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="field 'pair': no such column; found a, b; is it a review"):
        read_review(tmp_path / "o.csv")
