"""Several pieces of work at a time, in threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
SLICE = 0.2
"""Seconds after which a wait looks again: on Windows, Ctrl-C does not interrupt a wait without an end."""


def wait(stop: Event, seconds: float) -> None:
    """Wait until the seconds are over or ``stop`` is set."""
    end = time.monotonic() + seconds
    while (remaining := end - time.monotonic()) > 0:
        if stop.wait(min(remaining, SLICE)):
            return


def each(work: Callable[[T], R], items: Sequence[T], workers: int, stop: Event) -> Iterator[tuple[int, R]]:
    """Work on items in several threads, and yield (place, result) as they are ready.

    After a failure nothing new is begun; what was under way is waited for and yielded, then the failure is raised.

    Parameters
    ----------
    stop
        Set when there is no more to be done, also where the caller abandons the iteration.
    """

    def work_unless_stopped(item: T) -> R:
        if stop.is_set():
            raise CancelledError
        try:
            return work(item)
        except BaseException:
            # Set here and not by the thread that collects: it would be too late for the next item of this thread.
            stop.set()
            raise

    done: SimpleQueue[Future[R]] = SimpleQueue()
    executor = ThreadPoolExecutor(workers, thread_name_prefix="embassay-request")
    places: dict[Future[R], int] = {}
    failure: BaseException | None = None
    try:
        for place, item in enumerate(items):
            future = executor.submit(work_unless_stopped, item)
            places[future] = place
            future.add_done_callback(done.put)
        for _ in items:
            future = _next_done(done)
            error = future.exception()
            if error is None:
                yield places[future], future.result()
            elif not isinstance(error, CancelledError):
                failure = failure or error
    finally:
        stop.set()
        executor.shutdown(wait=False, cancel_futures=True)
    if failure is not None:
        raise failure


def _next_done(done: SimpleQueue[Future[R]]) -> Future[R]:
    while True:
        try:
            return done.get(timeout=SLICE)
        except Empty:
            continue
