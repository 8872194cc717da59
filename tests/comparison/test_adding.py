"""Encoders are added to a finished run: the result is that of a run with all of them."""

import json
import shutil

import pytest

from comparison.conftest import source
from embassay.cli.app import exit_code_of

pytestmark = pytest.mark.slow

A, B = "a=hashing,dim=256", "b=hashing,dim=32"


@pytest.fixture
def corpus(tmp_path):
    return source(tmp_path / "docs", "docs", 60, 0)


def run(corpus, out, *encoders, add=False):
    arguments = ["run", "--no-cache", "--quiet", "-o", str(out), "--resamples", "100"]
    for encoder in encoders:
        arguments += ["-e", encoder]
    arguments += ["--add"] if add else ["-c", corpus, "-d", "retrieval,k=1", "-d", "isotropy"]
    return exit_code_of(arguments)


def test_the_result_is_that_of_a_run_with_all_encoders(corpus, tmp_path):
    assert run(corpus, tmp_path / "whole", A, B) == 0
    assert run(corpus, tmp_path / "grown", A) == 0
    before = json.loads((tmp_path / "grown/result.json").read_text())
    assert run(corpus, tmp_path / "grown", B, add=True) == 0
    assert (tmp_path / "grown/result.json").read_bytes() == (tmp_path / "whole/result.json").read_bytes()
    after = json.loads((tmp_path / "grown/result.json").read_text())

    def values(result):
        return {(r["encoder"], r["metric"], r["subset"], r["condition"]): r["value"] for r in result["rows"]}

    assert values(before).items() <= values(after).items()
    assert "b" in (tmp_path / "grown/report.html").read_text()


class KilledError(BaseException):
    """The process ends here."""


def test_a_command_that_was_killed_late_can_be_repeated(corpus, tmp_path, monkeypatch):
    assert run(corpus, tmp_path / "whole", A, B) == 0
    assert run(corpus, tmp_path / "one", A) == 0

    def kill(*arguments):
        raise KilledError

    for place, step in (
        ("embassay.store.runs.folder.RunFolder", "write_result"),
        ("embassay.store.runs.folder.RunFolder", "write_record"),
        ("embassay.comparison.adding", "present"),
    ):
        grown = shutil.copytree(tmp_path / "one", tmp_path / step)
        with monkeypatch.context() as patched:
            patched.setattr(f"{place}.{step}", kill)
            with pytest.raises(KilledError):
                run(corpus, grown, B, add=True)
        assert run(corpus, grown, B, add=True) == 0
        assert (grown / "result.json").read_bytes() == (tmp_path / "whole/result.json").read_bytes()
        settings = [json.loads((folder / "run.json").read_text())["settings"] for folder in (grown, tmp_path / "whole")]
        assert settings[0] == settings[1]


def test_an_encoder_is_added_to_a_run_that_joins_two_corpora(corpus, tmp_path):
    general = source(tmp_path / "general", "general", 60, 1)
    arguments = ["-c", corpus, "-c", general, "-d", "retrieval,k=1", "-d", "shift,domain=docs,general=general"]
    arguments += ["--no-texts", "--no-cache", "--quiet", "--resamples", "100"]
    assert exit_code_of(["run", "-e", A, "-e", B, *arguments, "-o", str(tmp_path / "whole")]) == 0
    assert exit_code_of(["run", "-e", A, *arguments, "-o", str(tmp_path / "grown")]) == 0
    assert run(corpus, tmp_path / "grown", B, add=True) == 0
    assert (tmp_path / "grown/result.json").read_bytes() == (tmp_path / "whole/result.json").read_bytes()


def test_the_command_with_all_encoders_finds_it_complete(corpus, tmp_path, capsys):
    assert run(corpus, tmp_path / "grown", A) == 0
    assert run(corpus, tmp_path / "grown", B, add=True) == 0
    assert run(corpus, tmp_path / "grown", A, B) == 0
    assert "different settings" not in capsys.readouterr().err


def test_the_scores_of_the_others_are_not_made_again(corpus, tmp_path):
    assert run(corpus, tmp_path / "grown", A) == 0
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "grown/scores").iterdir()}
    assert run(corpus, tmp_path / "grown", B, add=True) == 0
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert len(list((tmp_path / "grown/scores").iterdir())) == len(files) + 2


def test_what_cannot_be_added_is_refused_and_nothing_changes(corpus, tmp_path, capsys):
    out = tmp_path / "grown"
    assert run(corpus, out, A) == 0
    before = (out / "result.json").read_bytes()
    for arguments, message in (
        (["-e", "a=hashing,dim=16"], "has an encoder 'a' already"),
        (["-e", B, "-c", corpus], "--add takes encoders only"),
        ([], "--add needs the encoders to add"),
    ):
        assert exit_code_of(["run", "--add", "--quiet", "-o", str(out), *arguments]) == 2
        assert message in capsys.readouterr().err
    (tmp_path / "docs.csv").write_text("id,question,document\nq1,something else,d1\n")
    assert run(corpus, out, B, add=True) == 2
    assert "the corpus 'docs' has changed since (fingerprint" in capsys.readouterr().err
    assert (out / "result.json").read_bytes() == before
    assert exit_code_of(["run", "--add", "-e", B, "-o", str(tmp_path / "nothing")]) == 2
    assert exit_code_of(["run", "--add", "--dry-run", "-e", B, "-o", str(out)]) == 2
    assert "--dry-run cannot be combined with --add" in capsys.readouterr().err


def test_an_encoder_that_fails_is_named_and_the_others_stay(corpus, tmp_path, capsys):
    (tmp_path / "broken.py").write_text("def encode(texts):\n    raise RuntimeError('no memory')\n")
    out = tmp_path / "grown"
    assert run(corpus, out, A) == 0
    import sys

    sys.path.insert(0, str(tmp_path))
    try:
        assert run(corpus, out, "python:broken:encode,version=1", add=True) == 3
    finally:
        sys.path.remove(str(tmp_path))
    result = json.loads((out / "result.json").read_text())
    assert [failure["encoder"] for failure in result["failures"]] == ["broken:encode"]
    assert "a" in [encoder["name"] for encoder in result["encoders"]]
