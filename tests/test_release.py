"""What a release needs: one version, pinned actions, builds with equal bytes that work away from the repository."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import embassay as ea

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "tools" / "release.py"
WORKFLOWS = [*sorted((ROOT / ".github" / "workflows").glob("*.yml")), ROOT / "action.yml"]


@pytest.fixture
def release(tmp_path, monkeypatch):
    """The script as a module, with copies of the files that hold a version."""
    found = importlib.util.spec_from_file_location("release", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    for name in ("CITATION.cff", "CHANGELOG.md", "src/embassay/_version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_the_version_is_the_same_everywhere(release):
    assert release.version_of("") == ea.__version__


@pytest.mark.parametrize(
    ("file", "old", "new", "tag", "says"),
    [
        ("CITATION.cff", "\nversion: 0.1.0", "\nversion: 0.0.9", "", "CITATION.cff has version 0.0.9, 0.1.0"),
        ("CHANGELOG.md", "## 0.1.0", "## 0.2.0", "", "CHANGELOG.md begins with 0.2.0, the package is 0.1.0"),
        ("CHANGELOG.md", "(unreleased)", "(2026-12-01)", "v0.2.0", "the tag is v0.2.0, the package 0.1.0"),
        ("CHANGELOG.md", "(unreleased)", "(unreleased)", "v0.1.0", "has 'unreleased' as the date"),
        ("CHANGELOG.md", "(unreleased)", "(2026-12-01)", "v0.1.0", "date-released in CITATION.cff"),
    ],
)
def test_what_does_not_fit_is_named(release, tmp_path, file, old, new, tag, says):
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SystemExit, match=re.escape(says)):
        release.version_of(tag)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path):
    used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", name) for name in used)


def test_workflows_have_no_rights_but_those_of_their_jobs():
    for path in WORKFLOWS[:-1]:
        text = path.read_text(encoding="utf-8")
        assert "\npermissions: {}\n" in text
        assert "secrets." not in text


@pytest.mark.slow
def test_a_release_is_built_twice_with_equal_bytes_and_works_away_from_the_repository():
    # Most of an installation is the compilation of modules that are never imported.
    environment = {**os.environ, "PIP_NO_COMPILE": "1"}
    finished = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert f"embassay-{ea.__version__}-py3-none-any.whl: " in finished.stdout
