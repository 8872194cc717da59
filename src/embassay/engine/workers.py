"""Processes that work beside this one, for what holds a core alone and is not numpy: started when first needed.

Processes, not threads: liblinear draws from one generator that all threads of a process share, so that its results
would depend on who comes first.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from embassay.cores import cores
from embassay.pending import at_once

T = TypeVar("T")
IDLE = 60
"""Seconds after which processes without work end; a run that comes before finds them ready."""


class Workers:
    """As many processes as there are cores; with one core, this process."""

    def __init__(self, count: int | None = None):
        self._count = cores() if count is None else count
        self._executor: Any = None

    def __enter__(self) -> Workers:
        """Start none yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Leave them for the next run; after an error end them, and drop what is not finished."""
        if self._executor is not None and kind is not None:
            self._executor.shutdown(wait=True, kill_workers=True)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Hand out a call; what it raises is raised where its result is asked for."""
        if self._count < 2:
            return at_once(function, *arguments)
        if self._executor is None:
            from joblib.externals.loky import get_reusable_executor

            self._executor = get_reusable_executor(max_workers=self._count, timeout=IDLE)
        future: Future[T] = self._executor.submit(function, *arguments)
        return future
