"""All shards of a folder as one matrix, of which only the rows that are asked for are in memory.

Files are opened for each access and closed again. Pages of an open memory map count as memory of the process, which
would then grow with the folder.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import SourceError
from embassay.core.processes.executors import Executor
from embassay.core.shards.shards import Manifest, ShardFolder, ShardPlan

if TYPE_CHECKING:
    from polars import DataFrame

Ints = NDArray[np.int64]
Column = Literal["id", "text_hash"]
CACHED = 16
"""The number of shards whose scales, and whose ids, stay in memory."""


class ShardVectors:
    """The (n, d) vectors of a folder of shards, read on access as float32.

    A slice or an (m,) array of row numbers gives an (m, d) array, as with an array in memory. The rows are in the order
    of the shards.

    Attributes
    ----------
    shape
        (n, d)
    dtype
        float32, whatever the files hold.
    starts
        (shards + 1,) the first row of each shard, and the number of rows.
    executor
        Where the shards are searched; in this process if None.
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, folder: ShardFolder, executor: Executor | None = None) -> None:
        """Read the manifest and the markers.

        Raises
        ------
        SourceError
            If the manifest is damaged, or a shard is missing or has a file of another size. The contents of the files
            are not compared with their hashes: that would read everything twice.
        """
        self.folder, self.executor = folder, executor
        self.manifest: Manifest = folder.manifest()
        sizes = np.array([plan.rows for plan in self.manifest.shards], dtype=np.int64)
        self.starts: Ints = np.append(0, np.cumsum(sizes))
        dimensions = 0
        for plan in self.manifest.shards:
            marker = folder.marker(plan)
            if marker is None:
                raise _damaged(folder, f"shard {plan.name} is missing")
            dimensions = marker.dim
        # Each file is compared with this shape when it is opened.
        self.shape = (int(self.starts[-1]), dimensions)
        self._scale = lru_cache(CACHED)(self._read_scale)
        self._ids = lru_cache(CACHED)(self._read_ids)
        for number in range(len(self.manifest.shards)):
            self._opened(number)

    def __reduce__(self) -> tuple[type[ShardVectors], tuple[ShardFolder]]:
        """Pass the folder to another process, which opens it again and searches it itself."""
        return ShardVectors, (ShardFolder(self.folder.path.resolve()),)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the (m, d) vectors of some rows.

        Raises
        ------
        IndexError
            If there is no such row.
        SourceError
            If a file of a shard is missing or damaged.
        """
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        if rows.dtype == np.bool_ or (len(rows) and not 0 <= rows.min() <= rows.max() < len(self)):
            raise IndexError(f"rows must be a slice or row numbers from 0 to {len(self) - 1}")
        vectors = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        shard_of_row = np.searchsorted(self.starts, rows, side="right") - 1
        for number in np.unique(shard_of_row).tolist():
            places = np.flatnonzero(shard_of_row == number)
            vectors[places] = self._read(number, rows[places] - self.starts[number])
        return vectors

    def _read(self, number: int, rows: Ints) -> NDArray[np.float32]:
        """Return some rows of a shard, given by their numbers within it."""
        vectors = self._opened(number)[rows].astype(np.float32)
        if self.manifest.dtype == "int8":
            vectors *= self._scale(number)[rows][:, None]
        # No encoder's vector is stored with such a number. It would make similarities NaN without a word.
        if not np.isfinite(vectors).all():
            raise _damaged(self.folder, f"shard {self.manifest.shards[number].name} has NaN or infinity")
        return vectors

    def _opened(self, number: int) -> NDArray[Any]:
        """Return the (m, d) stored vectors of a shard, memory-mapped; raise SourceError for a file of another size."""
        plan = self.manifest.shards[number]
        try:
            stored = self.folder.vectors(plan)
        except (OSError, ValueError, EOFError) as error:
            raise _damaged(self.folder, f"shard {plan.name}: {error}") from None
        if stored.shape != (plan.rows, self.shape[1]) or stored.dtype != self.manifest.dtype:
            held = f"{stored.dtype} of shape {stored.shape}"
            raise _damaged(self.folder, f"shard {plan.name} holds {held}, which is not what the manifest says")
        return stored

    def _read_scale(self, number: int) -> NDArray[np.float32]:
        """Return what the int8 rows of a shard are multiplied by."""
        table = _table(self.folder, self.manifest.shards[number], ["scale"])
        scale: NDArray[np.float32] = table["scale"].to_numpy()
        return scale

    def rows_of(self, column: Column, wanted: Collection[str]) -> dict[str, int]:
        """Return the first row that has each of some ids or text hashes; those that no row has are missing.

        All shards are read, one after the other.
        """
        import polars

        rows: dict[str, int] = {}
        values = polars.Series(list(wanted), dtype=polars.String)
        for number, plan in enumerate(self.manifest.shards):
            table = _table(self.folder, plan, [column]).with_row_index("row")
            matching = table.filter(polars.col(column).is_in(values.implode()))
            for row_in_shard, value in matching.iter_rows():
                # The shards are read in their order, so the first row that has a value is already there.
                rows.setdefault(value, int(self.starts[number]) + row_in_shard)
        return rows

    def id_of(self, row: int) -> str:
        """Return the id of a row."""
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self._ids(number)[row - int(self.starts[number])]

    def _read_ids(self, number: int) -> list[str]:
        return list(_table(self.folder, self.manifest.shards[number], ["id"])["id"])


def open_shards(path: str | Path, executor: Executor | None = None) -> ShardVectors:
    """Return the vectors of a folder of shards that must be complete, to be searched by an executor.

    Raises
    ------
    SourceError
        If it is none, or a shard is missing or damaged.
    """
    return ShardVectors(ShardFolder(Path(path)), executor)


def _table(folder: ShardFolder, plan: ShardPlan, columns: list[str]) -> DataFrame:
    """Return some columns of the Parquet file of a shard.

    Raises
    ------
    SourceError
        If the file cannot be read, lacks a column, or has another number of rows than the plan.
    """
    import polars

    path = folder.rows_file(plan)
    try:
        table = polars.read_parquet(path, columns=columns)
    except (OSError, polars.exceptions.PolarsError) as error:
        # For a column that is missing, polars adds lines about its query.
        reason = str(error).splitlines()[0]
        raise _damaged(folder, f"shard {plan.name}: {reason}") from None
    if len(table) != plan.rows:
        raise _damaged(folder, f"shard {plan.name} has {len(table):,} rows instead of {plan.rows:,}")
    return table


def _damaged(folder: ShardFolder, problem: str) -> SourceError:
    return SourceError(f"{problem}; repeat the 'embassay encode' that made the folder", folder.path)
