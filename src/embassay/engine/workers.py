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


class Workers:
    """As many processes as there are cores; with one core, this process."""

    def __init__(self, count: int | None = None):
        self._count = cores() if count is None else count
        self._executor: Any = None

    def __enter__(self) -> Workers:
        """Start none yet."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Let them go; what is not finished is dropped after an error."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=kind is not None)

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """Hand out a call; what it raises is raised where its result is asked for."""
        if self._count < 2:
            return at_once(function, *arguments)
        if self._executor is None:
            from joblib.externals.loky import ProcessPoolExecutor

            self._executor = ProcessPoolExecutor(max_workers=self._count)
        future: Future[T] = self._executor.submit(function, *arguments)
        return future
