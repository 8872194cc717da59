"""Baselines as version control leaves them."""

import shutil
from pathlib import Path

import pytest

from cases.case import Case, each
from embassay.cli.app import exit_code_of

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 17137\n"


def with_conflict(baseline):
    result = baseline / "result.json"
    result.write_text(f"<<<<<<< HEAD\n{result.read_text()}=======\n{{}}\n>>>>>>> theirs\n")


def with_crlf(baseline):
    """Write the line ends as git does on Windows."""
    for path in baseline.rglob("*.json"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def as_pointers(baseline):
    for path in baseline.rglob("*.npz"):
        path.write_text(POINTER)


def without_arrays(baseline):
    """Leave out what a .gitignore often names."""
    for path in baseline.rglob("*.npz"):
        path.unlink()


CASES = {
    "gate-conflict": (with_conflict, r"out-base/result\.json.* line 1", 2),
    "gate-crlf": (with_crlf, r"\bpass: m, Success@5", 0),
    "gate-lfs": (as_pointers, "LFS", 2),
    "gate-npz-ignored": (without_arrays, r"\.npz", 2),
}


@pytest.fixture(scope="module")
def run_and_baseline(tmp_path_factory):
    """The folder of a run, and a baseline made of it."""
    folder = tmp_path_factory.mktemp("gate")
    run = f"run -e m=bow -c handbook -d retrieval -o {folder}/out --quiet --no-cache --no-baselines --limit 20"
    assert exit_code_of(run.split()) == 0
    assert exit_code_of(f"bless {folder}/out -o {folder}/out-base".split()) == 0
    return folder


@each(CASES)
def test_baseline(case, run_and_baseline, capsys):
    change, shows, code = case
    shutil.copytree(run_and_baseline, ".", dirs_exist_ok=True)
    change(Path("out-base"))
    Case(shows, command="check out --baseline out-base", code=code).check(capsys)
