"""A service from the command line: what a dry run says, what a run pays, what it leaves behind."""

import json

import pytest

from embassay.cli.app import exit_code_of

KEY = "sk-not-a-real-key-123-for-any-model"


@pytest.fixture
def embassay(capsys, tmp_path, monkeypatch, service):
    """Run a command in an empty folder, the service at hand; returns (code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", service.url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def call(*arguments):
        code = exit_code_of([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def record(tmp_path):
    return json.loads((tmp_path / "RUN" / "run.json").read_text(encoding="utf-8"))


def test_a_run_pays_once_and_its_second_time_sends_the_probe_only(embassay, service, tmp_path):
    arguments = ("-c", "opposites", "-e", "m=api:some-model,price=2", "-d", "negated_antonyms")
    assert embassay("run", *arguments, "-o", "RUN")[0] == 0
    route = record(tmp_path)["encoders"]["m"]["route"]
    assert route["tokens"] == 10 * sum(map(len, service.texts))
    assert route["cost"] == pytest.approx(route["tokens"] * 2 / 1e6)
    assert record(tmp_path)["encoders"]["m"]["badges"] is None
    asked = len(service.seen)
    assert embassay("run", *arguments, "-o", "AGAIN")[0] == 0
    assert [len(texts) for texts in service.texts[asked:]] == [16]
    _, out, _ = embassay("look", *arguments[:4])
    assert "280 distinct texts to encode, fewer if some are cached; about " in out
