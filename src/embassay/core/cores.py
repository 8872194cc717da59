"""Work on several cores: one thread per core, while the libraries start no threads of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache


@cache
def cores() -> int:
    """Return the number of cores that this process may use, including the limits of a container."""
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def single_threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Open ``count`` threads; meanwhile BLAS, and torch in these threads, use a single thread each.

    Otherwise the threads of a library would wait for each other after every product, and the threads of two libraries
    would compete for the same cores.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(count, initializer=_use_one_torch_thread) as pool:
        yield pool


def _use_one_torch_thread() -> None:
    """Let torch, if it is loaded, use a single thread in the calling thread; all others keep their number."""
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
