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
    """A finished run, which is only read: its folder, and what it printed to stdout and stderr."""
    arguments = ["run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "RUN", "--no-cache"]
    folder = tmp_path_factory.mktemp("finished")
    command = [sys.executable, "-m", "embassay", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return folder / "RUN", done.stdout, done.stderr


def test_a_run_writes_its_folder_and_prints_scorecard_and_findings(finished):
    folder, out, err = finished
    files = {"run.json", "result.json", "report.html", "scores", "values.npz", "items.json"}
    assert {path.name for path in folder.iterdir()} == files
    # Four encoders with the baselines.
    assert len(list((folder / "scores").iterdir())) == 4
    assert re.search(r"^hashing +0\.0% ▼ ", out, re.M)
    assert "▲ above chance, ▼ below, ? not shown to differ (95%)" in out
    assert out.index("opposites: 280 items in 70 independent units") < out.index("accuracy") < out.index("Next")
    assert "To see which encoder may be the best" in out
    assert "negated_antonyms@1|" not in out
    assert err.splitlines()[-3:-1] == ["report: RUN/report.html", "result: RUN/result.json"]
    assert re.fullmatch(
        r"time: [\d.]+ s",
        err.splitlines()[-1],
    )


def test_result_json_is_valid_and_the_same_twice(embassay, finished, tmp_path):
    embassay("run", "-e", "hashing", "-e", "bow", "-c", "opposites", "-o", "B")
    result = (finished[0] / "result.json").read_bytes()
    assert (tmp_path / "B" / "result.json").read_bytes() == result
    jsonschema.validate(json.loads(result), SCHEMA)


def test_run_json_says_what_it_took(finished):
    record = json.loads((finished[0] / "run.json").read_text())
    assert record["state"] == "finished"
    assert record["encoders"]["bow"]["encoded"] == 280
    assert record["packages"]["numpy"]
    assert record["seconds"] > 0


def test_the_same_command_again_encodes_nothing(embassay, tmp_path, monkeypatch):
    arguments = ("run", "-e", "python:planted:constant", "-c", "opposites", "-o", "RUN")
    embassay(*arguments)
    before = (tmp_path / "RUN" / "result.json").read_bytes()
    monkeypatch.setattr("embassay.run.engine.encode._encoded", lambda *_: pytest.fail("something was encoded again"))
    assert embassay(*arguments)[0] == 0
    record = json.loads((tmp_path / "RUN" / "run.json").read_text())
    assert record["encoders"]["planted:constant"]["encoded"] == 280, "what it took is remembered"
    assert (tmp_path / "RUN" / "result.json").read_bytes() == before


def test_another_run_in_the_same_folder_is_refused_without_overwrite(embassay, finished):
    code, out, err = embassay("run", "-e", "bow", "-c", "opposites", "-o", finished[0])
    assert (code, out) == (2, "")
    assert "contains a run with different settings" in err


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
    examples = json.loads((finished[0] / "result.json").read_text())["examples"]
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
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert lines[0] == f"folder {filled}"
    assert re.fullmatch(r"on disk [\d.]+ kB", lines[1])
    assert re.fullmatch(r"limit [\d.]+ [kMG]B", lines[2])
    assert lines[3:6] == ["vectors 3", "", "encoder fingerprint dimension vectors size last used"]
    assert re.fullmatch(r"org/model,max_length=8 fedcba9876543210 384 2 3.9 kB \d{4}-\d\d-\d\d \d\d:\d\d", lines[6])
    assert lines[7].startswith("– 0123456789abcdef 8 1 ")


def test_cache_clear(embassay, filled):
    (filled / "mine.txt").write_text("")
    code, out, err = embassay("cache", "clear")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"{filled}: [\d.]+ kB freed\n", out)
    assert [path.name for path in filled.iterdir()] == ["mine.txt"]
    assert embassay("cache", "clear")[1] == f"{filled}: nothing to remove\n"


def test_a_function_of_unknown_content_is_encoded_again_and_the_others_are_not(embassay, tmp_path, monkeypatch):
    import py_compile

    code = "seen = []\n\n\ndef f(texts):\n    seen.extend(texts)\n    return [[len(text), 1.0] for text in texts]\n"
    for name in ("sourceless", "own"):
        (tmp_path / f"{name}.py").write_text(code)
    py_compile.compile(str(tmp_path / "sourceless.py"), str(tmp_path / "sourceless.pyc"))
    (tmp_path / "sourceless.py").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ("run", "-e", "python:sourceless:f", "-e", "python:own:f", "-c", "opposites", "-d", "isotropy")
    for times in (1, 2):
        code, _, err = embassay(*arguments, "--no-baselines", "-o", "RUN", "--cache", tmp_path / "cache")
        assert code == 0
        assert err.count("version that changes whenever its vectors change: python:sourceless:f,version=1") == 1
        assert len(sys.modules["sourceless"].seen) == 280 * times
    _, out, _ = embassay("cache", "info", "--cache", tmp_path / "cache")
    assert "vectors  280" in out
    assert 280 <= len(sys.modules["own"].seen) < 2 * 280


def test_remote_code_is_for_named_encoders_only(embassay):
    code, _, err = embassay("run", "-e", "bow", "-c", "opposites", "--trust-remote-code", "other")
    assert code == 2
    assert "unknown label after --trust-remote-code 'other'" in err


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


@pytest.mark.parametrize(
    ("arguments", "code"), [("list", 0), ("--help", 0), ("show nix", 2), ("run -e api:m,base_url=http://[ -c x", 2)]
)
@pytest.mark.parametrize("redirection", ["| true", "2>&1 | true", ">&- 2>&-"])
def test_a_reader_that_goes_away_changes_no_exit_code(behind, arguments, code, redirection):
    found, said = behind(arguments, redirection)
    assert found == code
    assert "Broken" not in said
    assert "Traceback" not in said


def test_a_full_disk_behind_standard_output_is_one_message(behind):
    assert behind("list", "> /dev/full") == (2, "embassay: No space left on device\n")


def test_vectors_that_depend_on_their_company_are_a_note_of_the_run_and_of_its_report(embassay, tmp_path):
    (tmp_path / "company.py").write_text(
        "def f(texts):\n    return [[float(len(t)), -1.0 if len(texts) == 1 else 90.0] for t in texts]\n"
    )
    code, _, err = embassay("run", "-e", "m=python:company:f", "-c", "opposites", "-o", "RUN")
    assert code == 0
    assert err.count("m: a text's vector depends on the other texts of its batch") == 1
    embassay("report", "RUN", "-o", "again.html")
    for page in ("RUN/report.html", "again.html"):
        notes = (tmp_path / page).read_text(encoding="utf-8").partition("<summary>Notes</summary>")[2]
        assert "depends on the other texts of its batch" in notes


# --- the encoder that the others are compared with ----------------------------------------------------------
