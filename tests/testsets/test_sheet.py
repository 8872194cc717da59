"""The sheet for rating: what it holds, and what it says when it comes back damaged."""

import csv
import io

import pytest

from embassay.core.errors import SourceError
from embassay.core.samples.choice import Choice
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.testsets.sheets import RatedRow, read_sheet, rows_of, sheet_of

PAIRS = (
    MinimalPairs("1", "The door is open.", (("antonym", "The door is closed."), ("typo", "The door is opne."))),
    MinimalPairs("2", "Prices rose.", (("synonym", "Prices climbed."),)),
)
LINES = ("The door is open.", "The door is closed.", "The door is not open.", "The door is not closed.")


def quadruple():
    """All four sentences as the input in turn: each pair of sentences stands in two entries."""
    yes, other, no, both = LINES
    return (
        Choice("1", yes, other, no, both, "adjective", "closed–open"),
        Choice("2", other, yes, both, no, "adjective", "closed–open"),
        Choice("3", no, both, yes, other, "adjective", "closed–open"),
        Choice("4", both, no, other, yes, "adjective", "closed–open"),
    )


def cells(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_a_row_for_each_edit_in_an_order_drawn_by_the_seed():
    rows = rows_of(PAIRS, 0)
    assert {(row.items, row.edit) for row in rows} == {(("1",), "antonym"), (("1",), "typo"), (("2",), "synonym")}
    assert rows == rows_of(PAIRS, 0)
    assert len({rows_of(PAIRS, seed) for seed in range(20)}) > 3


def test_two_sentences_are_rated_once_for_both_entries_that_hold_them():
    rows = rows_of(quadruple(), 0)
    assert {(row.items, row.edit) for row in rows} == {
        (("1", "2"), "antonym"),
        (("3", "4"), "antonym"),
        (("1", "3"), "polarity"),
        (("2", "4"), "polarity"),
        (("1", "4"), "paraphrase"),
        (("2", "3"), "paraphrase"),
    }


def test_a_sentence_of_a_group_stands_beside_the_others():
    (row, *_) = sorted(rows_of((Grouped("a", "It rained.", "1"), Grouped("b", "Rain fell.", "1")), 0), key=str)
    assert row == RatedRow(("a",), "group", "Rain fell.", "It rained.")


def test_a_filled_sheet_is_read_back_in_whatever_order_and_dialect(tmp_path):
    rows = rows_of(PAIRS, 0)
    filled = cells(sheet_of("pairs.jsonl@0123456789abcdef", rows))
    for row, rating in zip(filled, ("4", "", "2,5"), strict=True):
        row["rating"] = rating
    with (tmp_path / "ann.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(filled[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(filled[::-1])
    sheet = read_sheet(tmp_path / "ann.csv")
    assert sheet.corpus == "pairs.jsonl@0123456789abcdef"
    assert [row.rating for row in sheet.rows] == [4, None, 2.5]
    assert [(row.items, row.edit, row.original, row.text) for row in sheet.rows] == [
        (row.items, row.edit, row.original, row.text) for row in rows
    ]


def test_no_cell_is_a_formula(tmp_path):
    sample = MinimalPairs("1", "=1+1 is two.", (("typo", "'=1+1 is tow."),))
    content = sheet_of("a@0", rows_of((sample,), 0))
    assert cells(content)[0]["original"] == "'=1+1 is two."
    (tmp_path / "a.csv").write_bytes(content)
    (row,) = read_sheet(tmp_path / "a.csv").rows
    assert row.original == "=1+1 is two."


def damaged(tmp_path, change):
    rows = cells(sheet_of("pairs.jsonl@0", rows_of(PAIRS, 0)))
    change(rows)
    with (tmp_path / "ann.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path / "ann.csv"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].update(rating="5"), "line 3, field 'rating': must be a number from 0 to 4, is '5'"),
        (lambda rows: rows[1].update(rating="-1"), "line 3, field 'rating'"),
        (lambda rows: rows[1].update(rating="nan"), "line 3, field 'rating'"),
        (lambda rows: rows[1].update(rating="good"), "line 3, field 'rating'"),
        (lambda rows: rows.pop(1), "field 'row': 1 of its 3 rows are missing (the first: row 2)"),
        (lambda rows: rows.append(rows[0]), "line 5, field 'row': row 1 appears twice"),
        (lambda rows: rows[2].update(row="3 of 9"), "line 4, field 'corpus'"),
        (lambda rows: rows[2].update(row="4 of 3"), "line 4, field 'row': must not be changed"),
        (lambda rows: rows[2].update(corpus="other@1"), "line 4, field 'corpus': is 'other@1'"),
        (lambda rows: [row.pop("edit") for row in rows], "line 1, field 'edit': missing"),
    ],
)
def test_a_damaged_sheet_is_refused_with_its_place(tmp_path, change, message):
    with pytest.raises(SourceError) as error:
        read_sheet(damaged(tmp_path, change))
    assert message in str(error.value)
