"""Work on several cores: a thread for each, and no threads of a library beside them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from types import ModuleType

    from threadpoolctl import ThreadpoolController

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
    Several uses may overlap: the libraries get their threads back when the last one ends.
    """
    torch = sys.modules.get("torch")
    _HELD.take(torch)
    try:
        alone = partial(torch.set_num_threads, 1) if torch else None
        with ThreadPoolExecutor(count, initializer=alone) as pool:
            yield pool
    finally:
        _HELD.give_back()


class _Held:
    """The threads of the libraries, which are held back as long as anyone wants them to be."""

    def __init__(self) -> None:
        self._lock, self._uses = Lock(), 0
        self._undo, self._torch_too = ExitStack(), False

    def take(self, torch: ModuleType | None) -> None:
        """Hold the threads back, if nobody does yet; torch may be None."""
        with self._lock:
            if not self._uses:
                _disown()
                self._undo.enter_context(_libraries().limit(limits=1, user_api="blas"))
            if torch and not self._torch_too:
                self._undo.callback(torch.set_num_threads, torch.get_num_threads())
                self._torch_too = True
            self._uses += 1

    def give_back(self) -> None:
        """Let the libraries have as many threads as before, if nobody holds them back any more."""
        with self._lock:
            self._uses -= 1
            if not self._uses:
                self._torch_too = False
                _disown()
                self._undo.close()


_HELD = _Held()


def _disown() -> None:
    """Let this thread set the number of OpenBLAS's threads.

    From its version 3.8 on threadpoolctl lets only the thread that set a limit lift it, and says nothing to others.
    """
    from threadpoolctl import OpenBLASController

    with suppress(AttributeError):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _libraries() -> ThreadpoolController:
    """Return what holds the threads of the libraries that are loaded; numpy's is by now, and to look takes long."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
