"""The time line of a run: each second belongs to the part in which it passed, checked with a clock of its own."""

from types import SimpleNamespace

import pytest

from embassay.run.engine import timeline


@pytest.fixture
def clock(monkeypatch):
    """A clock that only stands still or is moved by the test."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(timeline, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


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
