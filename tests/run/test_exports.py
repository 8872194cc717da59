"""``embassay report --format``: every format is written whole."""

import pytest

from embassay.cli.app import exit_code_of
from embassay.run.outputs.kinds.md import MARKER

FILES = ("html", "md")
FOLDERS = ("latex", "csv", "parquet", "model-card", "trec")


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


def test_markdown_replaces_its_own_report_only(run, tmp_path, capsys):
    path = tmp_path / "README.md"
    path.write_text("# Mine")
    assert report(run, "--format", "md", "-o", path) == 2
    assert "exists and was not written by --format md; name another file with -o" in capsys.readouterr().err
    assert path.read_text() == "# Mine"
    path.write_text(f"{MARKER}\nold")
    assert report(run, "--format", "md", "-o", path) == 0
    assert "# Embassay report" in path.read_text(encoding="utf-8")
