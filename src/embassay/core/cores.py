"""Work on several cores: one thread per core, while the libraries start no threads of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

T = TypeVar("T")


@cache
def cores() -> int:
    """Return the number of cores that this process may use, including the limits of a container."""
    from joblib import cpu_count

    return int(cpu_count())


def in_threads(count: int, work: Callable[[int, int], T], stop: Callable[[], None] | None = None) -> list[T]:
    """Call a function with (0, n), (1, n) … (n − 1, n), each call in a thread; return the results in this order.

    Parameters
    ----------
    stop
        Called after an error or Ctrl-C: the work should end soon, because its threads are waited for.
    """
    if count < 2:
        return [work(0, 1)]
    with single_threads(count) as pool:
        try:
            return list(pool.map(work, range(count), [count] * count))
        except BaseException:
            if stop:
                stop()
            raise


@contextmanager
def single_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Open ``count`` threads; meanwhile BLAS, and torch in these threads, use a single thread each.

    Otherwise the threads of a library would wait for each other after every product, and the threads of two libraries
    would compete for the same cores. Uses may overlap: the limits are lifted when the last one ends.
    """
    _HELD.take()
    torch = sys.modules.get("torch")
    try:
        alone = partial(torch.set_num_threads, 1) if torch else None
        with ThreadPoolExecutor(count, initializer=alone) as pool:
            yield pool
    finally:
        _HELD.give_back()


class _Held:
    """Limits the libraries to one thread as long as at least one use needs it."""

    def __init__(self) -> None:
        self._lock, self._uses = Lock(), 0
        self._undo, self._torch_too = ExitStack(), False

    def take(self) -> None:
        """Set the limits, unless another use has done so."""
        torch = sys.modules.get("torch")
        with self._lock:
            if not self._uses:
                _disown()
                self._undo.enter_context(_libraries().limit(limits=1, user_api="blas"))
            if torch and not self._torch_too:
                self._undo.callback(torch.set_num_threads, torch.get_num_threads())
                self._torch_too = True
            self._uses += 1

    def give_back(self) -> None:
        """Restore the former numbers of threads if this was the last use."""
        with self._lock:
            self._uses -= 1
            if not self._uses:
                self._torch_too = False
                _disown()
                self._undo.close()


_HELD = _Held()


def _disown() -> None:
    """Let the calling thread set the number of OpenBLAS threads.

    Since version 3.8 threadpoolctl lets only the thread that set a limit lift it, and silently ignores other threads.
    """
    from threadpoolctl import OpenBLASController

    with suppress(AttributeError):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _libraries() -> ThreadpoolController:
    """Return the controller of the loaded libraries. The search for them is slow, so it is done only once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
