"""Where tasks run: in processes of this machine, or of a Ray cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from embassay.core.errors import EncoderError, SpecError, quoted
from embassay.core.formatting import counted

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


def thread_settings(threads: int) -> dict[str, str]:
    """Return the environment of a process that uses a fixed number of threads."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
    return {**dict.fromkeys(names, str(threads)), "TOKENIZERS_PARALLELISM": "false"}
