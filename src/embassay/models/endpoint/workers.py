"""Working on several items at a time in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import Event
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
SLICE = 0.2
"""Maximum seconds of a single wait, because on Windows Ctrl-C does not interrupt a wait without a timeout."""


def each(work: Callable[[T], R], items: Sequence[T], workers: int, stop: Event) -> Iterator[tuple[int, R]]:
    """Work on items in several threads, and yield (index, result) as they are ready.

    After a failure no new item is started; the results of started items are yielded, then the failure is raised.

    Parameters
    ----------
    stop
        Set at the end, also if the caller abandons the iteration. No item is started after it is set.
    """

    def work_unless_stopped(item: T) -> R:
        if stop.is_set():
            raise CancelledError
        try:
            return work(item)
        except BaseException:
            # Set here, because the collecting thread would set it too late for the next item of this thread.
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
        while places:
            try:
                future = done.get(timeout=SLICE)
            except Empty:
                continue
            place = places.pop(future)
            error = future.exception()
            if error is None:
                yield place, future.result()
            elif not isinstance(error, CancelledError):
                failure = failure or error
    finally:
        stop.set()
        executor.shutdown(wait=False, cancel_futures=True)
    if failure is not None:
        raise failure
