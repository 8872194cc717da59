"""Tasks in several processes: the answers of all, a killed process is replaced, any other error ends the whole."""

import importlib
import os

import pytest

from embassay.core.errors import EncoderError, SpecError
from embassay.core.processes.executors import ATTEMPTS, Executor
from embassay.core.processes.map import map_tasks

MODULE = """
import os, signal
from pathlib import Path

def square(number):
    return number * number

def pid(_):
    return os.getpid()

def threads(_):
    return os.environ["OMP_NUM_THREADS"]

def die(_):
    # As the system ends a process when there is no memory left.
    os.kill(os.getpid(), signal.SIGKILL)

def die_once(path):
    if not Path(path).exists():
        Path(path).touch()
        die(path)
    return path
"""


@pytest.fixture
def work(user_module, tmp_path, monkeypatch):
    """Return a module that other processes can import."""
    user_module("work_of_processes", MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("work_of_processes")


def mapped(function, tasks, **settings):
    messages = []
    return list(map_tasks(function, tasks, Executor(**settings), messages.append)), messages


@pytest.mark.parametrize("workers", [1, 2])
def test_all_tasks_are_done(work, workers):
    answers, messages = mapped(work.square, range(7), workers=workers)
    assert sorted(answers) == [0, 1, 4, 9, 16, 25, 36]
    assert not messages


def test_one_worker_or_one_task_needs_no_process(work):
    assert mapped(work.pid, [0, 1])[0] == [os.getpid()] * 2
    assert mapped(work.pid, [0], workers=2)[0] == [os.getpid()]
    assert mapped(work.pid, [], workers=2)[0] == []


def test_processes_have_their_number_of_threads(work):
    assert mapped(work.threads, [0, 1], workers=2, threads=3)[0] == ["3", "3"]


def test_a_task_whose_process_was_killed_is_done_again(work, tmp_path):
    paths = [str(tmp_path / name) for name in "abc"]
    (tmp_path / "a").touch()
    answers, messages = mapped(work.die_once, paths, workers=2)
    assert sorted(answers) == paths
    assert messages[0].startswith("a worker process was killed; starting again: ")


def test_after_three_losses_the_whole_is_given_up(work):
    messages = []
    with pytest.raises(EncoderError, match="was killed 3 times, probably because it ran out of memory; use fewer"):
        list(map_tasks(work.die, [0, 1], Executor(workers=2), messages.append))
    assert len(messages) == ATTEMPTS - 1


def test_any_other_error_ends_the_whole(work):
    with pytest.raises(TypeError):
        mapped(work.square, ["a", "b"], workers=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"address": "10.0.0.5:6379"}, "a Ray address needs the executor ray"),
        ({"kind": "ray", "address": "nonsense"}, "the Ray address must be HOST:PORT or auto, is 'nonsense'"),
    ],
)
def test_an_address_that_is_none_is_one_message(settings, message):
    with pytest.raises(SpecError, match=message):
        Executor(**settings)
