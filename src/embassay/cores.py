"""Work on several cores: a thread for each, and no threads of a library beside them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Each(Protocol):
    """Calls a function with (0, n), (1, n) … (n − 1, n), one call in each of n threads, and waits for the results."""

    def __call__(self, work: Callable[[int, int], T]) -> list[T]:
        """Return the results in this order."""
        ...


@cache
def cores() -> int:
    """Return how many cores this process may use; a container's share of a large machine is counted as such."""
    from joblib import cpu_count

    return int(cpu_count())


def by_itself(work: Callable[[int, int], T]) -> list[T]:
    """Do all the work in this thread."""
    return [work(0, 1)]


@contextmanager
def side_by_side(count: int) -> Iterator[Each]:
    """Open so many threads; the calling thread alone does the work of one."""
    if count < 2:
        yield by_itself
        return

    def each(work: Callable[[int, int], T]) -> list[T]:
        return list(pool.map(work, range(count), [count] * count))

    with single_threads(count) as pool:
        yield each


@contextmanager
def single_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Open so many threads; meanwhile numpy's products, and torch in these threads, start none of their own.

    Threads of a library wait for each other after every product, and those of two libraries for the same cores.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(count) as pool:
            yield pool
        return
    before = torch.get_num_threads()
    try:
        alone = partial(torch.set_num_threads, 1)
        with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(count, initializer=alone) as pool:
            yield pool
    finally:
        torch.set_num_threads(before)


@cache
def _libraries() -> Any:
    """Return what holds the threads of the libraries that are loaded; numpy's is by now, and to look takes long."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
