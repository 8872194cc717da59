"""Tasks in several processes: of this machine, or of a Ray cluster (``ray_cluster``).

``map_tasks`` only schedules. A task whose process was killed runs again, so a task must give the same whenever it runs.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, as_completed

from embassay.core.processes.executors import Answer, Executor, Losses, Task, thread_settings
from embassay.core.processes.ray_cluster import map_in_cluster
from embassay.core.processes.workers import end_processes, end_with_parent


def map_tasks(
    function: Callable[[Task], Answer], tasks: Iterable[Task], executor: Executor, tell: Callable[[str], None]
) -> Generator[Answer, None, None]:
    """Yield the answers of all tasks, in the order in which they are finished.

    A task whose process was killed is tried again. Any other error ends the whole. Close the generator if not all
    answers are taken (``contextlib.closing``): unfinished work is ended then.

    Parameters
    ----------
    tell
        Takes a message when a process was killed.

    Raises
    ------
    EncoderError
        If processes are killed ``ATTEMPTS`` times before a task is finished.
    """
    waiting = list(tasks)
    if executor.kind == "ray" and waiting:
        yield from map_in_cluster(function, waiting, executor, tell)
    elif min(executor.workers, len(waiting)) > 1:
        yield from _map_in_processes(function, waiting, executor, tell)
    else:
        yield from map(function, waiting)


def _map_in_processes(
    function: Callable[[Task], Answer], tasks: list[Task], executor: Executor, tell: Callable[[str], None]
) -> Iterator[Answer]:
    from joblib.externals.loky import ProcessPoolExecutor

    remaining = dict(enumerate(tasks))
    losses = Losses(tell)
    while remaining:
        pool = ProcessPoolExecutor(
            min(executor.workers, len(remaining)),
            initializer=_begin,
            initargs=(os.getpid(),),
            env=thread_settings(executor.threads),
        )
        futures = {pool.submit(function, task): number for number, task in remaining.items()}
        try:
            for future in as_completed(futures):
                answer = future.result()
                del remaining[futures[future]]
                losses.count = 0
                yield answer
        except BrokenExecutor:
            # A process that dies takes the others of its pool with it.
            losses.add(len(remaining))
        finally:
            if remaining:
                end_processes(pool)
            else:
                pool.shutdown(wait=True)


def _begin(parent: int) -> None:
    """Prepare a process: it ends with its parent, which also ends it after Ctrl-C, which a terminal sends to all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
