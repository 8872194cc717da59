"""``embassay train``: each command offers what its trainer takes, and says what went wrong in one line."""

import inspect
from importlib import import_module

import pytest

from embassay.cli import train as training_module
from embassay.cli.app import _guarded
from embassay.training.shared import Trained

KINDS = ("words", "paragraphs", "urae")


def options(function):
    """The keyword-only parameters that are no part of every command, with their defaults."""
    found = inspect.signature(function).parameters.values()
    own = [p for p in found if p.kind is p.KEYWORD_ONLY and p.name not in {"text", "out", "advance"}]
    return {p.name: p.default for p in own}


@pytest.mark.parametrize("kind", KINDS)
def test_a_command_has_the_options_of_its_trainer(kind):
    trainer = import_module(f"embassay.training.{kind}").train
    assert options(getattr(training_module, f"train_{kind}")) == options(trainer)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_for_reaches_the_trainer(kind, monkeypatch, tmp_path, capsys):
    asked = {}

    def train(text, out, **given):
        asked.update(given, text=text, out=out)
        return Trained(out, f"{kind}:{out}", ("A note.",))

    trainer = import_module(f"embassay.training.{kind}")
    expected = {**options(trainer.train), "seed": 7, "dim": 9, "overwrite": True}
    monkeypatch.setattr(trainer, "train", train)
    arguments = ["--text", tmp_path / "t.txt", "-o", tmp_path / "m", "--seed", "7", "--dim", "9", "--overwrite"]
    assert _guarded(["train", kind, *map(str, arguments)]) == 0
    assert asked.pop("advance")(1, 2) is None
    assert asked == {**expected, "text": tmp_path / "t.txt", "out": tmp_path / "m"}
    said = capsys.readouterr()
    assert said.out == ""
    line = f"assay it with: embassay run -e {kind}:{tmp_path / 'm'}"
    assert said.err.splitlines() == ["A note.", f"model: {tmp_path / 'm'}", line]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "words", "-o", "m"], "--text"),
        (["train", "words", "--text", "none.txt"], "-o"),
        (["train", "words", "--text", "none.txt", "-o", "m", "--model", "glove"], "skipgram"),
        (["train", "sentences", "--text", "none.txt", "-o", "m"], "sentences"),
    ],
)
def test_a_wrong_command_is_refused_in_one_line(arguments, message, capsys):
    assert _guarded(arguments) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_too_little_memory_is_said(monkeypatch, tmp_path, capsys):
    def train(*given, **more):
        raise MemoryError

    monkeypatch.setattr("embassay.training.words.train", train)
    assert _guarded(["train", "words", "--text", str(tmp_path), "-o", str(tmp_path / "m")]) == 2
    assert capsys.readouterr().err.startswith("embassay: not enough memory")
