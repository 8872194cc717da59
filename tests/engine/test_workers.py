"""Work handed to other processes: what comes back, and what a run makes of it."""

import os

import pytest

import embassay.diagnostics.localization as localization
from embassay.engine.workers import Workers
from embassay.plan import prepare
from embassay.run import execute
from embassay.store.results import to_bytes
from embassay.types import Draws, Runtime


def test_with_one_process_it_is_done_here_and_at_once():
    with Workers(1) as workers:
        future = workers.submit(os.getpid)
        assert future.done()
        assert future.result() == os.getpid()


def test_with_two_it_is_done_elsewhere():
    with Workers(2) as workers:
        assert {workers.submit(os.getpid).result() for _ in range(4)} - {os.getpid()}


def test_what_goes_wrong_there_is_raised_here():
    with Workers(2) as workers, pytest.raises(ValueError, match="invalid literal"):
        workers.submit(int, "seven").result()


def test_no_process_is_started_before_there_is_work():
    with Workers(2) as workers:
        assert workers._executor is None


def test_a_run_gives_the_same_bytes_with_one_process_and_with_two(monkeypatch):
    monkeypatch.setattr(localization, "LIGHT", 0)
    plan = prepare(
        ["bow", "hashing", "random,dim=16"], ["paraphrases"], ["localization"], runtime=Runtime(), baselines=False
    )
    one, two = (execute(plan, Draws(resamples=50), workers=count).result for count in (1, 2))
    assert len(one.rows) > 180
    assert to_bytes(one) == to_bytes(two)
