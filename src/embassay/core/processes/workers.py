"""Worker processes for long single-core work outside numpy, such as training classifiers; started when first needed.

They are processes, not threads, because all threads of a process share one random generator of liblinear: results would
depend on the order in which threads use it.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from embassay.core.processes.cores import cores
from embassay.core.processes.pending import at_once

if TYPE_CHECKING:
    from joblib.externals.loky import ProcessPoolExecutor

T = TypeVar("T")
WATCH = 2
"""Seconds between two checks whether the process that started a worker still runs."""
IDLE = 60
"""Seconds after which idle processes end; a run that starts earlier reuses them."""
_ready: dict[tuple[object, ...], ProcessPoolExecutor] = {}
"""The running processes, by their number and by sys.path; at most one entry."""


class Workers:
    """One process for each core; only this process if there is one core or it may not start others."""

    def __init__(self, count: int | None = None):
        if multiprocessing.current_process().daemon:
            # A daemonic process may not have child processes.
            self._count = 1
        elif count is None:
            self._count = cores()
        else:
            self._count = count
        self._handed_out: list[Future[Any]] = []

    def __enter__(self) -> Workers:
        """Start no process yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Keep the processes for the next run; end them if some of the work is unfinished, which nobody waits for."""
        if not all(future.done() for future in self._handed_out):
            while _ready:
                end_processes(_ready.popitem()[1])

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Submit a call to a process; its errors are raised when the result is requested."""
        if self._count < 2:
            return at_once(function, *arguments)
        future: Future[T] = _executor(self._count).submit(function, *arguments)
        self._handed_out.append(future)
        return future


def _executor(count: int) -> ProcessPoolExecutor:
    """Return ``count`` processes, kept ones if possible.

    They are separate from joblib's own processes, which a user's code may need at the same time.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    key = (count, *sys.path)
    executor = _ready.get(key)
    if executor is None or executor._flags.broken or executor._flags.shutdown:
        for other in _ready.values():
            other.shutdown(wait=False)
        _ready.clear()
        executor = ProcessPoolExecutor(count, timeout=IDLE, initializer=end_with_parent, initargs=(os.getpid(),))
        _ready[key] = executor
    return executor


def end_with_parent(parent: int) -> None:
    """End this process soon after the process that started it; that one cannot do so if it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def end_processes(executor: ProcessPoolExecutor) -> None:
    """Terminate processes during their work; loky treats this like a crash of the processes, and cleans up."""
    # Its own way, ``kill_workers``, fails in a thread while work is handed out.
    for process in list((executor._processes or {}).values()):
        process.terminate()
    executor.shutdown(wait=True)
