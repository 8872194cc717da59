"""``embassay demo`` shows the gate's three outcomes, leaves nothing behind, and its last commands work."""

import re
import shlex

import pytest

from embassay.cli.app import exit_code_of
from embassay.corpora.builtin.handbook import write_files

OUTCOMES = ["1", "0", "0"]
"""Exit codes of its three checks: a regression, a pass, and a warning as the questions are too few."""


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """What the demonstration prints, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))

    def show():
        assert exit_code_of(["demo"]) == 0
        assert list(tmp_path.iterdir()) == []
        return capsys.readouterr().out

    return show


@pytest.fixture
def without_models(monkeypatch):
    monkeypatch.setattr("embassay.run.candidates.default_candidate", lambda runtime: ([], []))


@pytest.mark.slow
def test_a_loss_is_caught_an_equal_change_passes_and_few_questions_show_nothing(shown, without_models):
    out = shown()
    assert "model=hashing" in out
    assert re.findall(r"^exit code (\d)$", out, re.MULTILINE) == OUTCOMES
    assert re.findall(r"^(\w+): model, Success@5", out, re.MULTILINE) == ["regression", "pass", "warning"]
    assert "this test set can rule out a loss of 9 points" in out


@pytest.mark.slow
def test_the_commands_at_the_end_work_with_files_of_that_form(shown, without_models, tmp_path):
    run, bless = re.findall(r"^  embassay (.+)$", shown(), re.MULTILINE)
    write_files(tmp_path)
    assert exit_code_of([*shlex.split(run), "--quiet"]) == 0
    assert exit_code_of(shlex.split(bless)) == 0
    assert (tmp_path / "baseline").is_dir()
