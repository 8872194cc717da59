"""A run that is continued with more encoders or corpora has the result of a new run with all of them."""

import json
import sys

import pytest

from comparison.conftest import source
from embassay.cli.app import exit_code_of
from embassay.run.runs.folder import RunFolder

A, B = "a=python:first:encode,version=1", "b=python:second:encode,version=1"
COUNTED = """
import numpy as np

texts_of_calls = []


def encode(texts):
    texts_of_calls.extend(texts)
    return np.array([[len(text), {power} + text.count("a"), text.count("e")] for text in texts], dtype=np.float32)
"""


@pytest.fixture
def corpus(tmp_path, user_module):
    user_module("first", COUNTED.format(power=1))
    user_module("second", COUNTED.format(power=2))
    return source(tmp_path / "docs", "docs", 60, 0)


def run(out, encoders, corpora, *more, diagnostics=("retrieval,k=1", "isotropy")):
    arguments = ["run", "--quiet", "-o", str(out), "--resamples", "100"]
    for flag, values in (("-e", encoders), ("-c", corpora), ("-d", diagnostics)):
        for value in values:
            arguments += [flag, value]
    return exit_code_of([*arguments, *more])


def result_of(folder):
    return (folder / "result.json").read_bytes()


def test_only_the_encoder_that_is_added_encodes(corpus, tmp_path):
    assert run(tmp_path / "grown", [A], [corpus], "--no-cache") == 0
    scores = {path: path.stat().st_mtime_ns for path in (tmp_path / "grown" / "scores").iterdir()}
    calls_of_a, calls_of_b = sys.modules["first"].texts_of_calls, sys.modules.get("second")
    assert calls_of_a and calls_of_b is None
    calls_of_a.clear()
    assert run(tmp_path / "grown", [A, B], [corpus], "--no-cache") == 0
    assert calls_of_a == []
    assert sys.modules["second"].texts_of_calls
    assert {path: path.stat().st_mtime_ns for path in scores} == scores
    assert run(tmp_path / "whole", [A, B], [corpus], "--no-cache") == 0
    assert result_of(tmp_path / "grown") == result_of(tmp_path / "whole")
    records = [json.loads((tmp_path / name / "run.json").read_text()) for name in ("grown", "whole")]
    assert records[0]["settings"] == records[1]["settings"]
    assert records[0]["encoders"]["a"]["encoded"] == records[1]["encoders"]["a"]["encoded"] > 0


class KilledError(BaseException):
    """The process ends here."""


def test_a_command_that_was_killed_can_be_repeated(corpus, tmp_path, monkeypatch):
    assert run(tmp_path / "whole", [A, B], [corpus]) == 0
    assert run(tmp_path / "grown", [A], [corpus]) == 0

    def kill(*arguments):
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "write_result", kill)
        with pytest.raises(KilledError):
            run(tmp_path / "grown", [A, B], [corpus])
    assert run(tmp_path / "grown", [A, B], [corpus]) == 0
    assert result_of(tmp_path / "grown") == result_of(tmp_path / "whole")
