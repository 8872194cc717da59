"""``embassay check`` and ``embassay bless`` on the command line, and ``[check]`` in the config file."""

import json

import pytest

from comparison.choice_runs import Answers
from embassay.cli.app import exit_code_of


@pytest.fixture
def runs(choice_run):
    return choice_run("new", [Answers(range(120))]), choice_run("old", [Answers(range(180))])


def test_bless_and_check_write_everything_before_the_exit(runs, tmp_path, capsys):
    new, old = runs
    assert exit_code_of(["bless", str(old), "-o", str(tmp_path / "baseline")]) == 0
    assert "kB)" in capsys.readouterr().err
    files = {name: tmp_path / "out" / name for name in ("junit", "markdown", "json")}
    flags = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    assert exit_code_of(["check", str(new), "--baseline", str(tmp_path / "baseline"), *flags]) == 1
    assert all(path.stat().st_size for path in files.values())
    out = capsys.readouterr().out
    assert out.startswith("regression model accuracy on mine −30.0 [")
    assert all(len(line) <= 80 for line in out.splitlines())
    # The same baseline passes.
    assert exit_code_of(["check", str(old), "--baseline", str(tmp_path / "baseline")]) == 0


def test_the_config_file_and_the_command_line(runs, tmp_path, capsys):
    new, old = runs
    config = tmp_path / "check.toml"
    config.write_text(
        'encoders = ["bow"]\n[check]\non = ["mine"]\ninconclusive = "fail"\n'
        '[check.margins]\naccuracy = 0.9\n"chosen[antonym]" = 0.9\n[check.floors]\n"negated_antonyms.accuracy" = 0.5\n'
    )
    arguments = ["check", str(new), "--baseline", str(old), "--config", str(config)]
    assert exit_code_of([*arguments, "--json", str(tmp_path / "a.json")]) == 0
    content = json.loads((tmp_path / "a.json").read_text())
    assert [change["margin"] for change in content["changes"]] == [0.9, 0.9]
    assert len(content["floors"]) == 1
    assert exit_code_of([*arguments, "--margin", "accuracy=0.02"]) == 1
    assert exit_code_of([*arguments, "--floor", "negated_antonyms.accuracy=0.7"]) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[check]\nmargin = {accuracy = 0.1}\n", "unknown setting; known settings: margins, floors, on, inconclusive"),
        ('[check]\ninconclusive = "maybe"\n', "'pass' or 'fail'"),
        ('[check.margins]\naccuracy = "2%"\n', "check.margins.accuracy"),
    ],
)
def test_a_wrong_config_is_one_message_with_its_place(runs, tmp_path, capsys, text, says):
    config = tmp_path / "check.toml"
    config.write_text(text)
    assert exit_code_of(["check", str(runs[0]), "--baseline", str(runs[1]), "--config", str(config)]) == 2
    message = capsys.readouterr().err
    assert says in message
    assert str(config) in message
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--margin", "accuracy"], "--margin accuracy: write METRIC=X"),
        (["--margin", "=0.1"], "--margin =0.1: write METRIC=X"),
        (["--floor", "accuracy=high"], "--floor accuracy=high: write METRIC=X"),
        (["--on", "nothing"], "unknown diagnostic or corpus 'nothing'"),
        (["--config", "missing.toml"], "no such file"),
    ],
)
def test_a_wrong_flag_is_one_message(runs, capsys, flags, says):
    assert exit_code_of(["check", str(runs[0]), "--baseline", str(runs[1]), *flags]) == 2
    message = capsys.readouterr().err
    assert says in message
    assert message.count("\n") == 1


def test_no_baseline_and_no_run(runs, tmp_path, capsys):
    assert exit_code_of(["check", str(runs[0]), "--baseline", str(tmp_path / "none")]) == 2
    assert exit_code_of(["check", str(tmp_path / "none"), "--baseline", str(runs[0])]) == 2
    assert exit_code_of(["bless", str(tmp_path / "none"), "-o", str(tmp_path / "b")]) == 2
    assert capsys.readouterr().err.count("not a finished run") == 3


def test_an_inconclusive_check_is_exit_code_4(choice_run, capsys):
    new, old = choice_run("new", [Answers(range(2, 182))]), choice_run("old", [Answers(range(180))])
    arguments = ["check", str(new), "--baseline", str(old)]
    assert exit_code_of(arguments) == 4
    assert exit_code_of([*arguments, "--inconclusive", "pass"]) == 0
    assert exit_code_of([*arguments, "--inconclusive", "fail"]) == 1
    assert "(inconclusive counts as fail)" in capsys.readouterr().out.replace("\n  ", " ")
