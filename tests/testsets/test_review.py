"""The sheet of quadruples, or of originals with their edits, that people strike, correct and add to."""

import csv
import io
from collections import Counter

import pytest

from embassay.core.errors import SourceError
from embassay.core.samples.choice import Choice
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.testsets.base import Built
from embassay.testsets.sheets import review_of, reviewed, turned

TALL = Choice(
    "0", "He is tall.", "He is short.", "He is not tall.", "He is not short.", "adjective", "short–tall", "not"
)
FULL = Choice("4", "I am full.", "I am hungry.", "I'm not full.", "I'm not hungry.", "adjective", "full–hungry", "not")
CHOICES = Built(tuple(turned(TALL, "1")), Counter(), doubtful=(FULL,))
PAIRS = Built(
    (
        MinimalPairs("1", "It is good.", (("synonym", "It is fine."), ("typo", "It is godo.")), "a"),
        MinimalPairs("2", "It rains.", (("typo", "It rians."),)),
    ),
    Counter(),
    ways={("1", "synonym"): "list", ("1", "typo"): "rule", ("2", "typo"): "rule"},
)


def rows_of(built):
    return list(csv.DictReader(io.StringIO(review_of(built).decode("utf-8-sig"))))


def filled(tmp_path, rows):
    path = tmp_path / "r.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


def test_a_sheet_as_it_is_gives_the_test_set_as_it_is(tmp_path):
    choices = reviewed(CHOICES, filled(tmp_path, rows_of(CHOICES))).samples
    assert [choice.fields() for choice in choices] == [choice.fields() for choice in CHOICES.samples]
    assert {(choice.pair, choice.negation) for choice in choices} == {("short–tall", "not")}
    assert len({choice.id for choice in choices}) == 4
    pairs = reviewed(PAIRS, filled(tmp_path, rows_of(PAIRS)))
    assert [sample.fields() for sample in pairs.samples] == [sample.fields() for sample in PAIRS.samples]


def test_a_doubtful_quadruple_joins_when_it_is_confirmed(tmp_path):
    rows = rows_of(CHOICES)
    assert [row["confirm"] for row in rows] == ["yes", ""]
    rows[1]["confirm"] = "Yes"
    choices = reviewed(CHOICES, filled(tmp_path, rows)).samples[4:]
    assert [choice.input for choice in choices] == ["I am full.", "I am hungry.", "I'm not full.", "I'm not hungry."]
    assert [choice.paraphrase for choice in choices] == [choice.input for choice in choices[::-1]]


def test_what_people_strike_correct_and_add_counts(tmp_path):
    rows = rows_of(CHOICES)
    rows[0]["antonym"] = "He is small."
    added = {**rows[1], "input": "I am well fed.", "confirm": "yes"}
    choices = reviewed(CHOICES, filled(tmp_path, [*rows, added])).samples
    assert (choices[0].antonym, choices[1].input, choices[4].input) == (
        "He is small.",
        "He is small.",
        "I am well fed.",
    )
    rows[0]["confirm"] = "no"
    assert not reviewed(CHOICES, filled(tmp_path, rows)).samples


def test_edits_are_struck_corrected_and_added(tmp_path):
    rows = rows_of(PAIRS)
    rows[0] |= {"synonym": "It is great.", "typo": "", "antonym": "It is bad."}
    rows[1]["confirm"] = "no"
    rows.append(dict.fromkeys(rows[0], "") | {"original": "It snows.", "typo": "It snwos.", "confirm": "yes"})
    built = reviewed(PAIRS, filled(tmp_path, rows))
    assert [sample.fields() for sample in built.samples] == [
        {"original": "It is good.", "synonym": "It is great.", "antonym": "It is bad."},
        {"original": "It snows.", "typo": "It snwos."},
    ]
    assert [sample.unit for sample in built.samples] == ["a", "review-4"]


@pytest.mark.parametrize(
    ("built", "change", "message"),
    [
        (CHOICES, {"confirm": "maybe"}, "line 2, field 'confirm': must be a valid boolean"),
        (CHOICES, {"antonym": " "}, "line 2, field 'antonym': an empty text"),
        (PAIRS, {"original": ""}, "line 2, field 'original': an empty text"),
        (PAIRS, {"typo": "", "synonym": ""}, "line 2, field 'confirm': has no edit"),
        (PAIRS, {"id": "2"}, "field 'id': '2' is already used on line 2"),
    ],
)
def test_mistakes_are_named_with_their_place(tmp_path, built, change, message):
    rows = rows_of(built)
    rows[0] |= change
    with pytest.raises(SourceError, match=message):
        reviewed(built, filled(tmp_path, rows))


def test_another_file_is_no_review(tmp_path):
    (tmp_path / "o.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="field 'pair': missing; found a, b"):
        reviewed(CHOICES, tmp_path / "o.csv")


def test_groups_have_no_review():
    assert review_of(Built((Grouped("1", "It rains.", "a"),), Counter())) == b""
