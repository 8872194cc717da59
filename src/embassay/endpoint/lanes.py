"""Several pieces of work at a time, in threads that do not keep the process from ending."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
SLICE = 0.2
"""Seconds that a wait lasts before it looks whether it has become needless: so Ctrl-C is heard on every system."""
ENDED = -1
Done = SimpleQueue[tuple[int, Any, BaseException | None]]
"""(place of the item, result, None), (place, None, failure), or (ENDED, None, None) from a thread that is through."""


def wait(stop: Event, seconds: float) -> None:
    """Wait, unless everything is to stop."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and not stop.wait(min(left, SLICE)):
        pass


def each(work: Callable[[T], R], items: Sequence[T], lanes: int, stop: Event) -> Iterator[tuple[int, R]]:
    """Work on items in so many threads, and yield (place, result) as they are ready.

    After a failure nothing new is begun; what was under way is waited for and yielded, then the failure is raised.
    An interrupt waits for nothing.

    Parameters
    ----------
    stop
        Set when there is no more to be done, also where the caller has lost interest.
    """
    todo, lock, done = iter(enumerate(items)), Lock(), Done()

    def lane() -> None:
        while not stop.is_set():
            with lock:
                found = next(todo, None)
            if found is None:
                break
            try:
                done.put((found[0], work(found[1]), None))
            except BaseException as error:
                stop.set()
                done.put((found[0], None, error))
        done.put((ENDED, None, None))

    running = min(lanes, len(items))
    try:
        for _ in range(running):
            Thread(target=lane, daemon=True, name="embassay-request").start()
        yield from _collected(done, running)
    finally:
        stop.set()


def _collected(done: Done, running: int) -> Iterator[tuple[int, Any]]:
    """Yield results until every thread has ended, then raise the first failure."""
    failure: BaseException | None = None
    while running:
        try:
            place, result, error = done.get(timeout=SLICE)
        except Empty:
            continue
        if error is not None:
            failure = failure or error
        elif place == ENDED:
            running -= 1
        else:
            yield place, result
    if failure is not None:
        raise failure
