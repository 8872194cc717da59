"""Work on several cores: a thread for each, and no threads of a library beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
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
    """Open so many threads.

    Meanwhile numpy's products start no threads of their own: theirs wait for each other after every product.
    """
    if count < 2:
        yield by_itself
        return

    def each(work: Callable[[int, int], T]) -> list[T]:
        return list(pool.map(work, range(count), [count] * count))

    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(count) as pool:
        yield each


@cache
def _libraries() -> Any:
    """Return what holds the threads of the libraries that are loaded; numpy's is by now, and to look takes long."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
