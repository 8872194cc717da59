"""What ``embassay encode`` is asked to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

from pydantic import TypeAdapter, ValidationError

from embassay.core.errors import SpecError, quoted
from embassay.core.processes.cores import cores
from embassay.core.processes.executors import Executor
from embassay.core.shards.shards import MAXIMUM_SHARDS
from embassay.run.sharding.options import EncodeOptions, Positive
from embassay.run.sharding.source import Columns

SHARD_ROWS = 100_000


@dataclass(frozen=True)
class EncodeRequest(EncodeOptions):
    """What to encode, and how.

    Attributes
    ----------
    texts
        Paths or patterns of files: JSON lines or Parquet.
    shard_rows
        Rows of a shard, at most.
    shards
        The first shard to be made, and the one before which to stop; all if None.
    """

    encoder: str
    texts: Sequence[str]
    out: Path
    shard_rows: Positive = SHARD_ROWS
    shards: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Raise SpecError for a value of another type or out of range, before anything is read or written."""
        for name, kind in get_type_hints(EncodeRequest, include_extras=True).items():
            value = getattr(self, name)
            try:
                TypeAdapter(kind).validate_python(value, strict=True)
            except ValidationError as error:
                raise SpecError(f"{name}: {error.errors()[0]['msg'].lower()}, is {quoted(value)}") from None
        if self.id == self.text:
            raise SpecError(f"ids and texts must be in different columns, are both in {quoted(self.id)}")
        self.executor_with(1)
        first, stop = self.shards or (0, 1)
        if not 0 <= first < stop <= MAXIMUM_SHARDS:
            raise SpecError(
                f"shards {first}:{stop}: the first number must be 0 or more, and the second one larger, up to 10^12"
            )

    @property
    def columns(self) -> Columns:
        """The columns that are read."""
        return Columns(self.id, self.text)

    def executor_with(self, threads: int) -> Executor:
        """Return where shards are made, by processes with a number of threads."""
        return Executor(self.executor, self.workers, threads, self.device, self.ray_address)

    @property
    def default_threads(self) -> int:
        """The number of threads of each process in a new folder."""
        return self.threads or (1 if self.ray_address else max(cores() // self.workers, 1))
