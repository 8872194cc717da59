"""Tasks in several processes: of this machine, or of a Ray cluster (``ray_cluster``).

``map_tasks`` only schedules. A task whose process was killed runs again, so a task must give the same whenever it runs.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, as_completed
from dataclasses import dataclass
from typing import Literal, TypeVar

from embassay.engine.workers import end_with_parent
from embassay.errors import EncoderError, SpecError, quoted
from embassay.formatting import counted

Task = TypeVar("Task")
Answer = TypeVar("Answer")
ATTEMPTS = 3
"""After this many killed processes without a finished task in between, the work is given up."""


@dataclass(frozen=True)
class Executor:
    """Where tasks run.

    Attributes
    ----------
    kind
        ``local``: processes of this machine; this process alone for one worker. ``ray``: workers of a Ray cluster.
    workers
        How many tasks run at a time.
    threads
        How many threads each process uses.
    device
        Of the encoder. Unless it is ``cpu``, the workers of a cluster share its GPUs.
    address
        ``HOST:PORT`` of a running Ray cluster, or ``auto`` for the one of this machine. None starts a cluster, or uses
        the one that this process has joined already.
    """

    kind: Literal["local", "ray"] = "local"
    workers: int = 1
    threads: int = 1
    device: str = "auto"
    address: str | None = None

    def __post_init__(self) -> None:
        """Raise SpecError for a malformed address, or for one that the executor does not use."""
        if self.address is not None:
            if self.kind != "ray":
                raise SpecError("a Ray address needs the executor ray")
            if not re.fullmatch(r"auto|[^\s/]+:[0-9]+", str(self.address)):
                raise SpecError(f"the Ray address must be HOST:PORT or auto, is {quoted(self.address)}")


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
        from embassay.engine.ray_cluster import map_in_cluster

        yield from map_in_cluster(function, waiting, executor, tell)
    elif min(executor.workers, len(waiting)) > 1:
        yield from _map_in_processes(function, waiting, executor, tell)
    else:
        yield from map(function, waiting)


class Losses:
    """Counts the processes that were killed before another task was finished."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell, self.count = tell, 0

    def add(self, unfinished: int) -> None:
        """Tell of a process that was killed, and how many tasks start again; EncoderError after too many."""
        self.count += 1
        if self.count == ATTEMPTS:
            raise EncoderError(
                f"a worker process was killed {ATTEMPTS} times, probably because it ran out of memory; "
                "use fewer workers or smaller shards"
            )
        self.tell(f"a worker process was killed; starting again: {counted(unfinished, 'unfinished task')}")


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
            pool.shutdown(wait=True, kill_workers=bool(remaining))


def _begin(parent: int) -> None:
    """Prepare a process: it ends with its parent, which also ends it after Ctrl-C, which a terminal sends to all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


def thread_settings(threads: int) -> dict[str, str]:
    """Return the environment of a process that uses a fixed number of threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
    return {**dict.fromkeys(names, str(threads)), "TOKENIZERS_PARALLELISM": "false"}
