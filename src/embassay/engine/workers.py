"""Processes that work beside this one, for what holds a core alone and is not numpy: started when first needed.

Processes, not threads: liblinear draws from one generator that all threads of a process share, so that its results
would depend on who comes first.
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

from embassay.engine.cores import cores
from embassay.engine.pending import at_once

if TYPE_CHECKING:
    from joblib.externals.loky import ProcessPoolExecutor

T = TypeVar("T")
WATCH = 2
"""Seconds between two looks whether the process that started a worker is still there."""
IDLE = 60
"""Seconds after which processes without work end; a run that comes before finds them ready."""
_ready: dict[tuple[object, ...], ProcessPoolExecutor] = {}
"""The processes that are there, by how many they are and where they look for modules: one entry at most."""


class Workers:
    """As many processes as there are cores; with one core, and where none may be started, this process."""

    def __init__(self, count: int | None = None):
        alone = multiprocessing.current_process().daemon
        self._count = 1 if alone else cores() if count is None else count
        self._handed_out: list[Future[Any]] = []

    def __enter__(self) -> Workers:
        """Start none yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Leave them for the next run; where something is not finished, nobody waits for it: end them."""
        if not all(future.done() for future in self._handed_out):
            while _ready:
                _end(_ready.popitem()[1])

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Hand out a call; what it raises is raised where its result is asked for."""
        if self._count < 2:
            return at_once(function, *arguments)
        future: Future[T] = _executor(self._count).submit(function, *arguments)
        self._handed_out.append(future)
        return future


def _executor(count: int) -> ProcessPoolExecutor:
    """Return so many processes; joblib's own are another lot, which a user's code may want at the same time."""
    from joblib.externals.loky import ProcessPoolExecutor

    key = (count, *sys.path)
    found = _ready.get(key)
    if found is None or found._flags.broken or found._flags.shutdown:
        for other in _ready.values():
            other.shutdown(wait=False)
        _ready.clear()
        found = _ready[key] = ProcessPoolExecutor(
            count, timeout=IDLE, initializer=_end_with_parent, initargs=(os.getpid(),)
        )
    return found


def _end_with_parent(parent: int) -> None:
    """End this process soon after the one that started it has been killed, which can no longer tell it to."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _end(executor: ProcessPoolExecutor) -> None:
    """End processes in the middle of their work: to loky they have died, which it knows how to deal with."""
    for process in list(executor._processes.values()):
        process.terminate()
    executor.shutdown(wait=True)
