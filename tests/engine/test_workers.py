"""Work handed to other processes: what comes back, and what a run makes of it."""

import os
import time
from concurrent.futures import BrokenExecutor, Future

import pytest

import embassay.core.processes.workers as workers_module
import embassay.diagnostics.localization.localization as localization
from embassay.core.processes.pending import at_once
from embassay.core.processes.workers import Workers
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.record import settings_of
from embassay.run.request import RunRequest
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.results import to_bytes


def test_with_two_it_is_done_elsewhere():
    with Workers(2) as workers:
        assert {workers.submit(os.getpid).result() for _ in range(4)} - {os.getpid()}


def test_what_goes_wrong_there_is_raised_here():
    with Workers(2) as workers, pytest.raises(ValueError, match="invalid literal"):
        workers.submit(int, "seven").result()


def test_a_process_that_dies_is_told_of_and_the_next_work_has_another():
    with Workers(2) as workers:
        with pytest.raises(BrokenExecutor):
            workers.submit(os._exit, 1).result()
        assert workers.submit(abs, -3).result() == 3


def test_work_that_nobody_waits_for_is_ended():
    with Workers(2) as workers:
        work = workers.submit(time.sleep, 60)
    assert work.exception() is not None, "it did not come to its end"
    assert not workers_module._ready


def test_an_encoder_whose_process_dies_is_named_and_the_others_finish(monkeypatch, tmp_path):
    def lost(self, function, *arguments):
        future = at_once(function, *arguments)
        if arguments[0].shape[1] == 16:
            future = Future()
            future.set_exception(BrokenExecutor("gone"))
        return future

    monkeypatch.setattr(localization, "LIGHT", 0)
    monkeypatch.setattr(Workers, "submit", lost)
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
    one, two = (execute(plan, workers=count).result for count in (1, 2))
    assert len(one.rows) > 180
    assert to_bytes(one) == to_bytes(two)


@pytest.mark.slow
def test_workers_end_when_the_process_that_started_them_is_killed(tmp_path, wait_until):
    import signal
    import subprocess
    import sys

    program = (
        "import os, time\n"
        "from embassay.core.processes.workers import Workers\n"
        "with Workers(2) as workers:\n"
        "    print(workers.submit(os.getpid).result(), flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        worker = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)

    def ended():
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(ended, "the end of a worker")
