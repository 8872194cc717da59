"""Work on several cores: a thread for each, and no threads of a library beside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def side_by_side(count: int) -> Iterator[Callable[[Callable[[int], T]], list[T]]]:
    """Open so many threads; what comes back calls a function with 0, 1 … count − 1, one in each, and waits.

    Meanwhile numpy's products start no threads of their own: theirs wait for each other after every product.
    """
    if count < 2:
        yield lambda work: [work(0)]
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(count) as pool:
        yield lambda work: list(pool.map(work, range(count)))
