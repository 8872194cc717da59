"""Work handed to other processes: what comes back, and what a run makes of it."""

import os

import pytest

import embassay.diagnostics.localization.localization as localization
from embassay.diagnostics.localization.scores import classify
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.record import settings_of
from embassay.run.request import RunRequest
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.results import to_bytes


def test_an_encoder_whose_process_dies_is_named_and_the_others_finish(monkeypatch):
    def lost(matrix, *arguments):
        if matrix.shape[1] == 16:
            os._exit(1)
        return classify(matrix, *arguments)

    monkeypatch.setattr(localization, "LIGHT", 0)
    monkeypatch.setattr(localization, "cores", lambda: 2)
    monkeypatch.setattr(localization, "classify", lost)
    plan = prepare(
        RunRequest(["random,dim=16", "hashing"], ["paraphrases"], ["localization"], resamples=50, baselines=False)
    )
    outcome = execute(plan)
    assert [(f.encoder, f.diagnostic) for f in outcome.result.failed] == [("random", "")]
    assert "a worker process was killed, probably because it ran out of memory" in outcome.result.failed[0].reason
    assert {e.name for e in outcome.result.encoders} == {"hashing"}


def test_what_is_ready_is_kept_when_a_later_encoder_is_interrupted(monkeypatch, tmp_path):
    def interrupted(self, texts, role="text"):
        raise KeyboardInterrupt

    plan = prepare(RunRequest(["bow", "hashing"], ["paraphrases"], ["localization"], resamples=50, baselines=False))
    monkeypatch.setattr(type(plan.entries[1].encoder), "encode", interrupted)
    folder = RunFolder(tmp_path / "RUN")
    folder.open(settings_of(plan))
    with pytest.raises(KeyboardInterrupt):
        execute(plan, folder)
    assert len(list((tmp_path / "RUN" / "scores").iterdir())) == 1


@pytest.mark.slow
def test_a_run_gives_the_same_bytes_with_one_process_and_with_two(monkeypatch):
    monkeypatch.setattr(localization, "LIGHT", 0)
    plan = prepare(
        RunRequest(
            ["bow", "hashing", "random,dim=16"], ["paraphrases"], ["localization"], resamples=50, baselines=False
        )
    )
    results = []
    for count in (1, 2):
        monkeypatch.setattr(localization, "cores", lambda count=count: count)
        results.append(execute(plan).result)
    one, two = results
    assert len(one.rows) > 180
    assert to_bytes(one) == to_bytes(two)
