"""What people find in a test set: figures worked by hand, and what is dropped."""

import csv
import io
import json
import re

import pytest

from embassay.cli.app import exit_code_of
from embassay.core.errors import InputError
from embassay.core.samples.shapes import Choice, Composition, Grouped, MinimalPairs
from embassay.run.resolve import load_corpus
from embassay.testsets.base import Built
from embassay.testsets.build import put
from embassay.testsets.kinds.negated_antonyms import turned
from embassay.testsets.options import Order
from embassay.testsets.rating import rate

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C, less one: four observers, twelve units.
OBSERVERS = ("012210301...", "0122113014.2", ".2221231140.", "01221330140.")
PAIRS = tuple(
    MinimalPairs(str(n), f"Sentence {n} is short.", (("antonym", f"Sentence {n} is long."), ("typo", f"Sentense {n}.")))
    for n in range(6)
)


def built(tmp_path, samples=PAIRS):
    """Write a corpus with its card and sheet; return the corpus's file."""
    from collections import Counter

    out = tmp_path / "set.jsonl"
    made = Built(samples, Counter(), fields={"0": {"source": {"typo": "by rule", "antonym": "WordNet"}}})
    put(out, made, Order("minimal-pairs", ["It rained."]))
    return out


def fill(tmp_path, name, ratings):
    """Fill the sheet by (item, edit), or by the row's place, and write it under a name."""
    rows = list(csv.DictReader(io.StringIO((tmp_path / "set-sheet.csv").read_bytes().decode("utf-8-sig"))))
    for place, row in enumerate(rows):
        row["rating"] = ratings(row["item"], row["edit"], place)
    with (tmp_path / name).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path / name


def test_alpha_is_that_of_krippendorffs_example(tmp_path):
    built(tmp_path)
    sheets = [
        fill(tmp_path, f"{n}.csv", lambda item, edit, place, row=row: row[place].strip("."))
        for n, row in enumerate(OBSERVERS)
    ]
    found = rate(sheets).subsets[-1]
    # Values 0 to 4 for his 1 to 5: alpha is the same.
    assert found.interval == pytest.approx(0.849, abs=5e-4)
    assert found.ordinal == pytest.approx(0.815, abs=5e-4)
    assert (found.edit, found.rows, found.rated) == ("all", 12, 12)


def by_hand(item, edit, place):
    """Antonyms: 4 4 4 4 1 and nothing; typos: 2.5 throughout."""
    return "2.5" if edit == "typo" else {"4": "1", "5": ""}.get(item, "4")


def test_figures_by_hand(tmp_path):
    built(tmp_path)
    sheets = [fill(tmp_path, "a.csv", by_hand), fill(tmp_path, "b.csv", lambda item, edit, place: "4")]
    found = {subset.edit: subset for subset in rate(sheets).subsets}
    antonym, typo = found["antonym"], found["typo"]
    # Row means 4 4 4 4 2.5 4; ratings 10 × 4 and 1; none is under 2.
    assert (antonym.rows, antonym.rated, antonym.distribution) == (6, 6, (0, 1, 0, 0, 10))
    assert antonym.mean == pytest.approx(22.5 / 6)
    assert (antonym.median, antonym.errors.value) == (4, 0)
    # 2.5 and 4 in each of six rows: observed 2.25; all pairs 2·36·2.25/(12·11).
    assert typo.interval == pytest.approx(1 - 2.25 / (72 * 2.25 / 132))
    assert (typo.mean, typo.median, typo.distribution) == (3.25, 3.25, (0, 0, 0, 6, 6))
    assert found["all"].rows == 12
    (one,) = (subset for subset in rate(sheets[:1]).subsets if subset.edit == "antonym")
    assert (one.rated, one.errors.value, one.interval) == (5, 0.2, None)
    assert (one.errors.low, one.errors.high) == (None, None)


def test_what_is_under_the_bar_is_dropped_and_the_rest_is_read_back(tmp_path):
    out = built(tmp_path)
    found = rate([fill(tmp_path, "a.csv", by_hand)], out=tmp_path / "rest.jsonl")
    assert found.notes[0].endswith("rest.jsonl, 6 of 6 samples")
    corpus = load_corpus(str(tmp_path / "rest.jsonl"))
    assert [sample.id for sample in corpus.samples] == list("012345")
    assert {name: len(dict(sample.edits)) for name, sample in zip("012345", corpus.samples, strict=True)}["4"] == 1
    lines = [json.loads(line) for line in (tmp_path / "rest.jsonl").read_text().splitlines()]
    assert lines[0]["source"] == {"typo": "by rule", "antonym": "WordNet"}
    assert lines[1:4] == [json.loads(line) for line in out.read_text().splitlines()][1:4]
    assert "# Data card: rest.jsonl" in (tmp_path / "rest-card.md").read_text()
    rate([tmp_path / "a.csv"], bar=3, out=tmp_path / "strict.jsonl")
    assert len(load_corpus(str(tmp_path / "strict.jsonl")).samples) == 5


def test_the_card_of_the_rest_says_what_people_found(tmp_path):
    built(tmp_path)
    before = (tmp_path / "set-card.md").read_text()
    rate([fill(tmp_path, "a.csv", by_hand)], out=tmp_path / "rest.jsonl")
    card = (tmp_path / "rest-card.md").read_text()
    assert card.startswith("# Data card: rest.jsonl@")
    assert "| antonym | 6 | 5 | 3.40 | 4.00 | 0 1 0 0 4 | – | – | 20.0% |" in re.sub(" +", " ", card)
    assert card.endswith(before)
    assert (tmp_path / "set-card.md").read_text() == before


def test_quadruples_that_are_wrong_go_and_groups_lose_a_sentence(tmp_path):
    bulb = Choice("0", "It is on.", "It is off.", "It is not on.", "It is not off.", "adverb", "off–on")
    door = Choice("0", "It is open.", "It is shut.", "It is not open.", "It is not shut.", "adjective", "open–shut")
    built(tmp_path, (*turned(bulb, "1"), *turned(door, "2")))
    wrong = fill(tmp_path, "a.csv", lambda item, edit, place: "0" if item == "1" else "4")
    found = rate([wrong], out=tmp_path / "rest.jsonl")
    assert [(subset.edit, subset.rows) for subset in found.subsets] == [("quadruple", 2)]
    assert [sample.id for sample in load_corpus(str(tmp_path / "rest.jsonl")).samples] == ["2-1", "2-2", "2-3", "2-4"]
    built(tmp_path, tuple(Grouped(str(n), f"It is {n}.", "g") for n in range(4)))
    wrong = fill(tmp_path, "b.csv", lambda item, edit, place: "0" if item == "2" else "")
    found = rate([wrong], out=tmp_path / "less.jsonl")
    assert (found.subsets[0].edit, found.subsets[0].rated, len(found.subsets)) == ("group", 1, 1)
    assert [sample.id for sample in load_corpus(str(tmp_path / "less.jsonl")).samples] == ["0", "1", "3"]


def test_compositions_get_the_ratings_of_all_annotators(tmp_path):
    # Bansal et al. (2025), section 5.1 and figure 3: two or three annotators, 0 to 4, all three operators.
    operators = ("overlap", "difference", "union")
    samples = tuple(
        Composition(f"{n}.{operator}", operator, f"A {n} ran.", f"B {n} sat.", f"{n} {operator}.", str(n))
        for n in range(4)
        for operator in operators
    )
    built(tmp_path, samples)
    value = {"overlap": "4", "difference": "3", "union": "1"}
    sheets = [
        fill(tmp_path, "a.csv", lambda item, edit, place: value[edit]),
        fill(tmp_path, "b.csv", lambda item, edit, place: "" if item.startswith("0") else "2"),
    ]
    found = rate(sheets, bar=0, out=tmp_path / "rated.jsonl")
    assert found.notes[0].endswith("12 of 12 samples")
    corpus = load_corpus(str(tmp_path / "rated.jsonl"))
    ratings = {sample.id: sample.ratings for sample in corpus.samples}
    assert (ratings["0.difference"], ratings["1.difference"]) == ((3.0,), (3.0, 2.0))
    sheet = (tmp_path / "set-sheet.csv").read_text(encoding="utf-8-sig")
    assert "0 strongly disagree, 2 neutral, 4 strongly agree: The text says what A says and B does not" in sheet


def test_a_corpus_that_is_elsewhere_is_named(tmp_path):
    out = built(tmp_path)
    sheet = fill(tmp_path, "a.csv", by_hand)
    moved = out.rename(tmp_path / "moved.jsonl")
    with pytest.raises(InputError, match=r"set\.jsonl: no such file"):
        rate([sheet])
    assert rate([sheet], corpus=moved).subsets


def other(folder):
    """Write another corpus."""
    path = folder.parent / "other.jsonl"
    path.write_text((folder / "set.jsonl").read_text().replace("short", "brief"))
    return path


def numbered(folder, sheet):
    """Write a copy of a sheet, with a row that the test set does not have."""
    path = folder.parent / "numbered.csv"
    rows = [{**row, "row": row["row"].replace("11", "12")} for row in csv.DictReader(io.StringIO(sheet.read_text()))]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def all_wrong(item, edit, place):
    return "0"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda folder, sheet: {"corpus": folder / "set-card.md"}, "is not .*set-card.md as it is now"),
        (
            lambda folder, sheet: {"sheets": [numbered(folder, sheet)], "corpus": folder / "set.jsonl"},
            "field 'row': the test set has no row 12",
        ),
        (lambda folder, sheet: {"corpus": other(folder)}, "'set.jsonl@.*' is not .*other.jsonl as it is now; name the"),
        (lambda folder, sheet: {"sheets": []}, "name at least one sheet"),
        (lambda folder, sheet: {"sheets": [sheet, sheet]}, "each only once"),
        (lambda folder, sheet: {"sheets": [folder / "set-sheet.csv"]}, "no row is rated"),
        (lambda folder, sheet: {"sheets": [folder / "none.csv"]}, "no such file"),
        (lambda folder, sheet: {"out": folder / "set.jsonl"}, "already exists"),
        (
            lambda folder, sheet: {"sheets": [fill(folder, "z.csv", all_wrong)], "out": folder / "o"},
            "no row of .* reaches the bar of",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path, given, message):
    built(tmp_path)
    sheet = fill(tmp_path, "a.csv", by_hand)
    asked = {"sheets": [sheet], **given(tmp_path, sheet)}
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=message):
        rate(asked.pop("sheets"), **asked)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_changed_corpus_is_not_the_sheets(tmp_path):
    out = built(tmp_path)
    sheet = fill(tmp_path, "a.csv", by_hand)
    out.write_text(out.read_text().replace("short", "brief"))
    with pytest.raises(InputError, match="as it is now; name the test set with --corpus"):
        rate([sheet])


def test_the_command_prints_a_table_and_says_what_it_wrote(tmp_path, capsys):
    built(tmp_path)
    sheet = fill(tmp_path, "a.csv", by_hand)
    assert exit_code_of(["rate", str(sheet), "--bar", "3", "-o", str(tmp_path / "rest.jsonl")]) == 0
    said = capsys.readouterr()
    head, *rows = (line.split() for line in said.out.splitlines())
    assert head[:5] == ["edit", "rows", "rated", "mean", "median"]
    assert [row[:3] for row in rows] == [["antonym", "6", "5"], ["typo", "6", "6"], ["all", "12", "11"]]
    assert f"test set: {tmp_path / 'rest.jsonl'}, 5 of 6 samples" in said.err.splitlines()
    assert exit_code_of(["rate", str(tmp_path / "none.csv")]) == 2
    assert capsys.readouterr().err == f"embassay: {tmp_path / 'none.csv'}: no such file\n"
