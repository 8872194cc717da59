"""The worked examples of CONTRIBUTING.md work: each file is added to a copy of the package, and its test is run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`((?:src|tests)/[\w/]+\.py)`:\n\n```python\n(.*?)^```", TEXT, flags=re.S | re.M))
TESTS = [path for path in FILES if path.startswith("tests/")]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package with all files of the examples in it."""
    folder = tmp_path_factory.mktemp("contributing")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path, content in FILES.items():
        target = folder / path
        assert not target.exists(), f"{path} is a file of the package already"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    return folder


def test_there_is_an_example_of_each_kind():
    folders = {path.split("/")[2] for path in FILES if path.startswith("src/embassay/")}
    assert folders == {"models", "corpora", "diagnostics", "testsets"}
    assert len(TESTS) == len(folders)


@pytest.mark.parametrize("path", TESTS)
def test_the_example_passes_its_own_test(copy, path):
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(copy), path]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_examples_keep_the_project_s_style(copy):
    settings = str(ROOT / "pyproject.toml")
    command = [sys.executable, "-m", "ruff", "check", "--config", settings, *map(str, FILES)]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
