"""Where tasks run: in this process, or in several processes of this machine; ``ray_executor`` has those of a cluster.

An executor only schedules: what is finished is decided by the files that a task leaves, so a task may run twice.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import Any, Protocol, TypeVar

from embassay.engine.pending import at_once
from embassay.engine.workers import end_with_parent
from embassay.errors import EncoderError
from embassay.formatting import counted

Task = TypeVar("Task")
Answer = TypeVar("Answer")
ATTEMPTS = 3
"""How often a task is tried whose worker was killed."""
WAITING = 2
"""Tasks for each worker that are handed out at a time: the next one waits while one is worked on."""


class Executor(Protocol):
    """Runs calls somewhere."""

    @property
    def workers(self) -> int:
        """How many calls run at a time."""
        ...

    def submit(self, function: Callable[[Task], Answer], task: Task, /) -> Future[Answer]:
        """Start a call. If its worker dies, the future has a :class:`BrokenExecutor`."""
        ...

    def restart(self) -> None:
        """Replace workers that died; the futures of their calls are done afterwards.

        Raises
        ------
        EncoderError
            If workers cannot be started at all.
        """
        ...

    def close(self) -> None:
        """End the workers; calls that have not started are cancelled."""
        ...


class InProcess:
    """Runs each call at once, in this process."""

    workers = 1

    def submit(self, function: Callable[[Task], Answer], task: Task, /) -> Future[Answer]:
        """Run a call."""
        return at_once(function, task)

    def restart(self) -> None:
        """Do nothing: without this process nobody would notice."""

    def close(self) -> None:
        """Do nothing."""


class LocalProcesses:
    """Runs calls in several processes, which end with this one."""

    def __init__(self, workers: int, threads: int) -> None:
        """Prepare a pool; its processes start with the first calls.

        Parameters
        ----------
        workers
            The number of processes.
        threads
            How many threads each process uses.
        """
        self.workers = workers
        self._threads = threads
        self._pool = self._new_pool()
        self._running: set[Future[Any]] = set()
        # A pool whose processes have died forgets them, but ``restart`` needs their exit codes.
        self._processes: list[BaseProcess] = []

    def _new_pool(self) -> ProcessPoolExecutor:
        # A forked process would inherit locked mutexes of the threads of BLAS and tokenizers.
        return ProcessPoolExecutor(
            self.workers, get_context("spawn"), initializer=_begin, initargs=(os.getpid(), self._threads)
        )

    def submit(self, function: Callable[[Task], Answer], task: Task, /) -> Future[Answer]:
        """Start a call in a process."""
        with _without_interrupts():
            future = self._pool.submit(function, task)
        pool_processes = self._pool._processes
        if pool_processes:
            self._processes = list(pool_processes.values())
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def restart(self) -> None:
        """Replace all processes: one that dies takes the others with it.

        Raises
        ------
        EncoderError
            If a process ended before it took a task: the script that it imports has failed.
        """
        self._pool.shutdown(wait=True, cancel_futures=True)
        # A process that is killed has a negative code, and errors of tasks are returned to this process.
        if any(process.exitcode == 1 for process in self._processes):
            raise EncoderError(
                "the worker processes cannot start, because the script fails when they import it; "
                "put the call under 'if __name__ == \"__main__\":', or use one worker"
            )
        self._pool = self._new_pool()

    def close(self) -> None:
        """End the processes without waiting for their work."""
        if self._running:
            for process in self._processes:
                process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes that start now ignore Ctrl-C, which a terminal sends to all: this process ends them itself."""
    # Only the main thread may change what a signal does, and a handler that is not Python's cannot be put back.
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(parent: int, threads: int) -> None:
    """Prepare a process: it ends with its parent and uses a fixed number of threads."""
    os.environ.update(thread_settings(threads))
    end_with_parent(parent)


def thread_settings(threads: int) -> dict[str, str]:
    """Return the environment of a process that uses a fixed number of threads."""
    count = str(threads)
    return {
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "TOKENIZERS_PARALLELISM": "false",
    }


def run_all(
    executor: Executor, function: Callable[[Task], Answer], tasks: Iterable[Task], tell: Callable[[str], None]
) -> Iterator[Answer]:
    """Yield the answers of all tasks, in the order in which they are finished.

    A task whose worker was killed is tried again. Any other error ends the whole.

    Parameters
    ----------
    tell
        Takes a message when a worker was killed.

    Raises
    ------
    EncoderError
        If a task has lost its worker ``ATTEMPTS`` times.
    """
    remaining = enumerate(tasks)
    attempts: dict[int, int] = {}
    running: dict[Future[Answer], tuple[int, Task]] = {}
    most = 1 if executor.workers == 1 else WAITING * executor.workers
    while True:
        while len(running) < most:
            following = next(remaining, None)
            if following is None:
                break
            running[_started(executor, function, following[1])] = following
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        lost: list[tuple[int, Task]] = []
        for future in done:
            numbered = running.pop(future)
            try:
                answer = future.result()
            except BrokenExecutor:
                lost.append(numbered)
                continue
            yield answer
        if not lost:
            continue
        executor.restart()
        # A worker takes the tasks that wait for it with it, and a pool all of its processes.
        lost += [running.pop(future) for future in list(running) if _is_lost(future)]
        tell(f"a worker process was killed; starting again: {counted(len(lost), 'unfinished task')}")
        for number, task in lost:
            attempts[number] = attempts.get(number, 1) + 1
            _check_attempts(attempts[number])
            running[_started(executor, function, task)] = (number, task)


def _check_attempts(attempt: int) -> None:
    if attempt > ATTEMPTS:
        raise EncoderError(
            f"a worker process was killed {ATTEMPTS} times, probably because it ran out of memory; "
            "use fewer workers or smaller shards"
        )


def _is_lost(future: Future[Any]) -> bool:
    if not future.done():
        return False
    return future.cancelled() or isinstance(future.exception(), BrokenExecutor)


def _started(executor: Executor, function: Callable[[Task], Answer], task: Task) -> Future[Answer]:
    """Start a call, with new workers if the old ones have died since."""
    try:
        return executor.submit(function, task)
    except BrokenExecutor:
        executor.restart()
        return executor.submit(function, task)
