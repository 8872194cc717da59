"""A new option of a run, as ``docs/architecture.md`` writes it: one file beside the place that uses it."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RUN = ["run", "-e", "bow", "-c", "opposites", "-d", "isotropy", "--no-baselines", "--resamples", "20"]


def diffs():
    """The differences that the example prints, by the file that they change."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    example = re.search(r"^### An option of a run\n(.*?)(?=^##|\Z)", page, flags=re.S | re.M)[1]
    return dict(re.findall(r"`(src/[^`]+\.py)`:\n\n```diff\n(.*?)```", example, flags=re.S))


def changed(text, diff):
    """The text of a file after a difference, whose hunks are separated by ``@@``."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the source, before the change."""
    folder = tmp_path_factory.mktemp("changed")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def started(source, tmp_path):
    """Return what Python, with the copied source, does with arguments in an empty folder."""

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(source / "src"), "COLUMNS": "120", "NO_COLOR": "1"}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.slow
def test_one_declaration_makes_an_option_everywhere(source, started, tmp_path):
    before = started("-m", "embassay", *RUN, "--remark", "first index")
    assert before.returncode == 2
    assert "Unknown option: --remark" in before.stderr

    differences = diffs()
    assert list(differences) == ["src/embassay/run/options.py", "src/embassay/run/command.py"]
    for path, diff in differences.items():
        file = source / path
        file.write_text(changed(file.read_text(encoding="utf-8"), diff), encoding="utf-8")

    # The flag and its help.
    shown = started("-m", "embassay", "run", "--help").stdout
    assert re.search(r"--remark STR +What the run is for; printed at its end and kept in run\.json\.", shown)

    # From the flag to the place that uses it, and to the record.
    done = started("-m", "embassay", *RUN, "--remark", "first index")
    assert done.returncode == 0, done.stderr
    assert "remark: first index\n" in done.stderr
    assert json.loads((tmp_path / "embassay-run" / "run.json").read_bytes())["settings"]["remark"] == "first index"

    # It identifies the run, and a config file can set it.
    config = tmp_path / "run.toml"
    config.write_text('remark = "second index"\n')
    other = started("-m", "embassay", *RUN[:1], str(config), *RUN[1:])
    assert other.returncode == 2
    assert "remark" in other.stderr
    config.write_text("remark = 2\n")
    wrong = started("-m", "embassay", *RUN[:1], str(config), *RUN[1:])
    assert "run.toml, field 'remark': Input should be a valid string" in wrong.stderr
