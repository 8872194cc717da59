"""The sheet for rating: what it holds, and what it says when it comes back damaged."""

import csv
import io
from collections import Counter

import pytest

from embassay.core.errors import SourceError
from embassay.core.samples.shapes import Choice, Grouped, MinimalPairs
from embassay.testsets.base import Built
from embassay.testsets.files import lines_of
from embassay.testsets.sheets import rating_sheet, read_sheet

PAIRS = (
    MinimalPairs("1", "The door is open.", (("antonym", "The door is closed."), ("typo", "The door is opne."))),
    MinimalPairs("2", "Prices rose.", (("synonym", "Prices climbed."),)),
)
LINES = ("The door is open.", "The door is closed.", "The door is not open.", "The door is not closed.")


def quadruple():
    """All four sentences as the input in turn: each pair of sentences stands in two entries."""
    yes, other, no, both = LINES
    return (
        Choice("1-1", yes, other, no, both, "adjective", "closed–open"),
        Choice("1-2", other, yes, both, no, "adjective", "closed–open"),
        Choice("1-3", no, both, yes, other, "adjective", "closed–open"),
        Choice("1-4", both, no, other, yes, "adjective", "closed–open"),
    )


def sheet(samples, seed=0):
    return rating_sheet("pairs.jsonl@0123456789abcdef", lines_of(Built(tuple(samples), Counter())), seed)


def cells(content):
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def write(path, rows, **options):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), **options)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_row_for_each_edit_in_an_order_drawn_by_the_seed():
    rows = [(row["item"], row["edit"]) for row in cells(sheet(PAIRS))]
    assert sorted(rows) == [("1", "antonym"), ("1", "typo"), ("2", "synonym")]
    assert sheet(PAIRS) == sheet(PAIRS)
    assert len({sheet(PAIRS, seed) for seed in range(20)}) > 3


def test_the_four_sentences_of_a_quadruple_are_rated_once():
    (row,) = cells(sheet(quadruple()))
    assert (row["item"], row["edit"], row["original"]) == ("1", "quadruple", LINES[0])
    antonym, polarity, paraphrase = LINES[1:]
    assert row["text"] == f"antonym: {antonym} / polarity: {polarity} / paraphrase: {paraphrase}"


def test_a_sentence_of_a_group_stands_beside_the_others():
    groups = (Grouped("a", "It rained.", "1"), Grouped("b", "Rain fell.", "1"))
    row = next(row for row in cells(sheet(groups)) if row["item"] == "a")
    assert (row["edit"], row["original"], row["text"]) == ("group", "Rain fell.", "It rained.")


def test_a_filled_sheet_is_read_back_in_whatever_order_and_dialect(tmp_path):
    filled = cells(sheet(PAIRS))
    for row, rating in zip(filled, ("4", "", "2,5"), strict=True):
        row["rating"] = rating
    rows = read_sheet(write(tmp_path / "ann.csv", filled[::-1], delimiter=";"))
    assert {row.corpus for row in rows} == {"pairs.jsonl@0123456789abcdef"}
    assert [(row.row, row.rating) for row in rows[::-1]] == [
        (int(row["row"]), rating) for row, rating in zip(filled, (4, None, 2.5), strict=True)
    ]


def test_no_cell_is_a_formula():
    sample = MinimalPairs("=1", "=1+1 is two.", (("typo", "-1+1 is tow."),))
    rows = cells(sheet((sample,)))
    assert (rows[0]["item"], rows[0]["original"], rows[0]["text"]) == ("'=1", "'=1+1 is two.", "'-1+1 is tow.")


def test_every_row_says_what_a_rating_means():
    assert {row["guideline"] for row in cells(sheet(PAIRS))} == {
        "0 strongly disagree, 2 neutral, 4 strongly agree: The text is what the name of the edit says of the original, "
        "in good English."
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].update(rating="5"), "line 3, field 'rating'"),
        (lambda rows: rows[1].update(rating="-1"), "line 3, field 'rating'"),
        (lambda rows: rows[1].update(rating="nan"), "line 3, field 'rating'"),
        (lambda rows: rows[1].update(rating="good"), "line 3, field 'rating'"),
        (lambda rows: rows.append(rows[0]), "line 5, field 'id': '"),
        (lambda rows: rows[2].update(row="-1"), "line 4, field 'row': "),
        (lambda rows: [row.pop("row") for row in rows], "line 1, field 'row': missing"),
    ],
)
def test_a_damaged_sheet_is_refused_with_its_place(tmp_path, change, message):
    rows = [row | {"rating": "4"} for row in cells(sheet(PAIRS))]
    change(rows)
    with pytest.raises(SourceError) as error:
        read_sheet(write(tmp_path / "ann.csv", rows))
    assert message in str(error.value)
