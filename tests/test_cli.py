"""The command line as a user meets it: what it prints, where, and with which exit code."""

import json
import os
import re
import subprocess
import sys
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

from embassay.cli.app import exit_code_of

SCHEMA = json.loads(files("embassay.core.data").joinpath("result.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def embassay(capsys, tmp_path, monkeypatch):
    """Run a command in an empty folder; returns (code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = exit_code_of([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a finished run, which is only read."""
    arguments = ["run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-cache"]
    folder = tmp_path_factory.mktemp("finished")
    command = [sys.executable, "-m", "embassay", *arguments]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return folder / "RUN"


def test_result_json_is_valid_and_the_same_twice(embassay, finished, tmp_path):
    embassay("run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "B")
    result = (finished / "result.json").read_bytes()
    assert (tmp_path / "B" / "result.json").read_bytes() == result
    jsonschema.validate(json.loads(result), SCHEMA)


def test_an_encoder_that_fails_is_named_and_the_others_finish(embassay, tmp_path):
    (tmp_path / "broken_here.py").write_text("def f(texts):\n    raise RuntimeError('no memory left')\n")
    code, out, err = embassay("run", "-e", "bad=python:broken_here:f", "-e", "bow", "-c", "opposites", "-o", "RUN")
    assert code == 3
    assert err.count("failed: bad: RuntimeError: no memory left") == 1
    assert "bow" in out
    # On a terminal, both are read together.
    assert "failed" not in out
    assert "Add a second encoder" not in out
    result = json.loads((tmp_path / "RUN" / "result.json").read_text())
    assert [e["name"] for e in result["encoders"]] == ["bow", "tfidf", "random"]
    assert json.loads((tmp_path / "RUN" / "run.json").read_text())["state"] == "failed in part"
    assert "failed: bad: RuntimeError: no memory left" in embassay("show", "RUN")[1]


def test_every_encoder_failing_leaves_no_report(embassay, tmp_path):
    (tmp_path / "broken_there.py").write_text("def f(texts):\n    return [[float('nan')]] * len(texts)\n")
    code, _, err = embassay("run", "-e", "bad=python:broken_there:f", "-c", "opposites", "-o", "R", "--no-baselines")
    assert code == 3
    assert "NaN or infinity" in err
    assert not (tmp_path / "R" / "report.html").exists()


def test_no_texts_keeps_no_sentence(embassay, finished, tmp_path):
    embassay("run", "-e", "bow", "-c", "opposites", "-o", "WITHOUT", "--no-texts")
    examples = json.loads((finished / "result.json").read_text())["examples"]
    sentences = {text for example in examples for text in example["texts"].values()}
    assert len(sentences) == 280
    for name in ("result.json", "report.html"):
        content = (tmp_path / "WITHOUT" / name).read_text()
        assert not any(sentence in content for sentence in sentences)


def test_no_texts_keeps_no_word_of_what_an_encoder_says_when_it_fails(embassay, tmp_path):
    (tmp_path / "telltale.py").write_text("def f(texts):\n    raise ValueError(texts[0])\n")
    code, _, err = embassay("run", "-e", "bad=python:telltale:f", "-c", "opposites", "-o", "R", "--no-texts")
    record = json.loads((tmp_path / "R" / "run.json").read_text())
    assert code == 3
    assert err.count("failed: bad: ") == 1
    reason = "the reason is not stored because it may contain texts"
    assert record["failures"] == [{"encoder": "bad", "diagnostic": "", "corpus": "", "reason": reason}]


# Wrong names and numbers are in golden/mistakes.txt.


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A cache with vectors of two encoders."""
    from embassay.run.cache.cache import VectorCache

    monkeypatch.setenv("EMBASSAY_CACHE", str(tmp_path / "cache"))
    cache = VectorCache(tmp_path / "cache")
    cache.note("0123456789abcdef", "")
    cache.put("0123456789abcdef", [("text", "a")], np.ones((1, 8), dtype=np.float32))
    cache.note("fedcba9876543210", "org/model,max_length=8")
    cache.put("fedcba9876543210", [("text", "a"), ("text", "b")], np.ones((2, 384), dtype=np.float32))
    return tmp_path / "cache"


def test_cache_info(embassay, filled):
    code, out, err = embassay("cache", "info")
    assert (code, err) == (0, "")
    first, second, third = out.splitlines()
    assert re.fullmatch(rf"{filled}: [\d.]+ kB of at most [\d.]+ [kMG]B", first)
    named = re.escape("org/model,max_length=8 (fedcba9876543210)")
    assert re.fullmatch(rf"{named}: 2 vectors, 3.7 kB, last used \d{{4}}-\d\d-\d\d \d\d:\d\d", second)
    assert third.startswith("unknown (0123456789abcdef): 1 vector, ")


def test_cache_clear(embassay, filled):
    (filled / "mine.txt").write_text("")
    code, out, err = embassay("cache", "clear")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{filled}: [\d.]+ kB freed\n", out)
    assert [path.name for path in filled.iterdir()] == ["mine.txt"]


def test_help_and_version_are_quick_and_import_nothing_heavy():
    code = (
        "import sys\nfrom embassay.cli.app import exit_code_of\nexit_code_of(['--help'])\n"
        "heavy = {'torch', 'sklearn', 'numpy', 'scipy', 'polars', 'altair', 'pydantic', 'transformers'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "run" in done.stdout


@pytest.fixture
def behind(tmp_path):
    """Run a command whose output goes where a shell says; returns its exit code and what it said."""

    def call(arguments, redirection):
        command = f"{sys.executable} -m embassay {arguments} {redirection}; exit ${{PIPESTATUS[0]}}"
        environment = os.environ | {"EMBASSAY_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stderr

    return call


@pytest.mark.parametrize(("arguments", "code"), [("--help", 0), ("show nix", 2)])
@pytest.mark.parametrize("redirection", ["| true", "2>&1 | true", ">&- 2>&-"])
def test_a_reader_that_goes_away_changes_no_exit_code(behind, arguments, code, redirection):
    found, said = behind(arguments, redirection)
    assert found == code
    assert "Broken" not in said
    assert "Traceback" not in said


def test_a_full_disk_behind_standard_output_is_one_message(behind):
    assert behind("list", "> /dev/full") == (2, "embassay: No space left on device\n")
