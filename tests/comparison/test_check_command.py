"""``embassay check`` and ``embassay bless`` on the command line."""

import json

import pytest

from comparison.choice_runs import Answers, choices
from embassay.cli.app import exit_code_of


@pytest.fixture
def runs(choice_run):
    return choice_run("new", [Answers(range(120))]), choice_run("old", [Answers(range(180))])


def test_bless_and_check_write_everything_before_the_exit(runs, tmp_path, capsys):
    new, old = runs
    assert exit_code_of(["bless", str(old), "-o", str(tmp_path / "baseline")]) == 0
    assert "baseline: " in capsys.readouterr().err
    files = {name: tmp_path / "out" / name for name in ("junit", "markdown", "json")}
    flags = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert exit_code_of(["check", str(new), "--baseline", str(tmp_path / "baseline"), *flags]) == 1
    assert all(path.stat().st_size for path in files.values())
    out = capsys.readouterr().out
    assert out.startswith("regression: model, accuracy on mine: 90.0% → 60.0%, 60 answers lost, 0 gained of")
    assert "  - e120: input 120\n" in out
    assert "  and 50 more in --markdown and --json\n" in out
    assert all(len(line) <= 80 for line in out.splitlines())
    # The same baseline passes.
    assert exit_code_of(["check", str(old), "--baseline", str(tmp_path / "baseline")]) == 0


def test_what_is_inconclusive_is_a_warning_unless_the_check_is_strict(choice_run, capsys):
    new, old = choice_run("new", [Answers(range(10, 184))]), choice_run("old", [Answers(range(180))])
    arguments = ["check", str(new), "--baseline", str(old), "--margin", "accuracy=0.03"]
    capsys.readouterr()
    assert exit_code_of(arguments) == 0
    assert capsys.readouterr().out.startswith("warning: model, accuracy on mine")
    assert exit_code_of([*arguments, "--strict"]) == 4
    assert exit_code_of([*arguments, "--strict", "--margin", "accuracy=0.2"]) == 0


def test_bless_fixes_margins_and_pages_for_each_check(runs, tmp_path, capsys):
    new, old = runs
    blessed = str(tmp_path / "baseline")
    bless = ["bless", str(old), "-o", blessed, "--pages", "sampled", "--margin", "accuracy=0.05"]
    assert exit_code_of([*bless, "--margin", "chosen[antonym]=0.5"]) == 0
    assert capsys.readouterr().err.splitlines()[:2] == [
        "accuracy on mine: this test set can rule out a loss of 7 points on entries like these: `check` fails a loss "
        "that is significant or larger than that, passes a model for which such a loss is ruled out, and otherwise "
        "warns.",
        "200 entries cannot rule out a loss as small as your margin of 5 points (accuracy on mine).",
    ]
    out = tmp_path / "check.json"
    assert exit_code_of(["check", str(old), "--baseline", blessed, "--json", str(out)]) == 0
    content = json.loads(out.read_text())
    assert {change["metric"]: change["margin"] for change in content["changes"]} == {
        "accuracy": 0.05,
        "chosen[antonym]": 0.5,
    }
    assert content["changes"][0]["sampled"]
    assert exit_code_of(["check", str(new), "--baseline", blessed, "--pages", "given"]) == 2
    assert "the baseline was blessed with --pages sampled" in capsys.readouterr().err


def test_under_twenty_items_bless_wants_a_margin(choice_run, tmp_path, capsys):
    few = choice_run("few", [Answers(range(12))], choices(range(19)))
    arguments = ["bless", str(few), "-o", str(tmp_path / "baseline")]
    assert exit_code_of(arguments) == 2
    assert "accuracy on mine has 19 items, under 20: say what you can afford to lose" in capsys.readouterr().err
    assert exit_code_of([*arguments, "--margin", "accuracy=0.3"]) == 0
