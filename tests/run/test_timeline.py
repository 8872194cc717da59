"""The time line of a run: each second belongs to the part in which it passed, checked with a clock of its own."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from embassay.core.types import Card
from embassay.run import command as session
from embassay.run import execute
from embassay.run.engine import timeline
from embassay.run.request import RunRequest


@pytest.fixture
def clock(monkeypatch):
    """A clock that only stands still or is moved by the test."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(timeline, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


class Slow:
    """An encoder that takes 7 seconds to load, 3 to encode any number of texts, and none for anything else."""

    name, fingerprint = "slow", "slow-1"

    def __init__(self, clock):
        self.clock, self.card, self.calls, self.loads = clock, Card("slow"), 0, 0

    def fit(self, texts):
        return self

    def prepare(self):
        self.loads += 1
        self.clock.now += 7

    def encode(self, texts, role="text"):
        assert self.loads
        self.calls += 1
        self.clock.now += 3
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)


def later(clock, seconds, function):
    def slow(*args, **kwargs):
        clock.now += seconds
        return function(*args, **kwargs)

    return slow


def test_a_part_interrupts_another_one_and_no_second_counts_twice(clock):
    line = timeline.TimeLine()
    clock.now += 1
    with line.during("encoding"):
        clock.now += 10
        with line.during("loading"):
            clock.now += 100
        clock.now += 1_000
    clock.now += 10_000
    assert line.seconds() == {"loading": 10_101, "encoding": 1_010, "scoring and statistics": 0, "report": 0}


def test_loading_a_model_is_not_called_statistics(clock, monkeypatch, tmp_path, capsys):
    slow = Slow(clock)
    monkeypatch.setattr(session, "prepare", later(clock, 20, session.prepare))
    monkeypatch.setattr(execute, "summarise", later(clock, 50, execute.summarise))
    monkeypatch.setattr(session, "draw", later(clock, 200, session.draw))
    request = RunRequest([slow], ["opposites"], baselines=False, out=tmp_path / "run", cache=tmp_path, resamples=50)
    assert session.carry_out(request) == 0
    encoding = 3 * slow.calls
    assert encoding
    assert (
        f"time: loading 27.0 s, encoding {encoding:.1f} s, scoring and statistics 50.0 s, report 200.0 s"
        in capsys.readouterr().err
    )
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    parts = {"loading": 27.0, "encoding": encoding, "scoring and statistics": 50.0, "report": 200.0}
    assert record["timeline"] == parts

    # With its scores and vectors at hand, the model is not loaded.
    again = Slow(clock)
    request = RunRequest([again], ["opposites"], baselines=False, out=tmp_path / "2", cache=tmp_path, resamples=50)
    assert session.carry_out(request) == 0
    assert (again.loads, again.calls) == (0, 0)
    assert "time: loading 20.0 s, encoding 0.0 s, scoring and statistics 50.0 s" in capsys.readouterr().err
