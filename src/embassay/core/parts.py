"""Vectors of more texts than fit into memory: a folder of Parquet files, the parts, which ``embassay encode`` makes.

``manifest.json``
    the encoder, the parts in their order, and how many rows each has
``0123456789abcdef.parquet``
    a part: the id and the vector of each row

A part is named by a hash of its ids and texts, written under another name and renamed. So a part that is there is
whole, and a command that is repeated makes only those that are missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import SourceError, first_line_of
from embassay.core.store.canonical import canonical, write, write_with
from embassay.core.types import content_hash

if TYPE_CHECKING:
    from polars import Series

Dtype = Literal["float32", "float16"]
MANIFEST = "manifest.json"
CACHED = 8
"""Parts that stay in memory: more than the threads of a search read at a time."""


@dataclass(frozen=True)
class Part:
    """Some rows of an input file.

    Attributes
    ----------
    name
        A hash of its ids and texts.
    """

    name: str
    rows: int


@dataclass(frozen=True)
class Manifest:
    """What a folder of parts holds.

    Attributes
    ----------
    spec, fingerprint, similarity
        Of the encoder.
    parts
        In the order of the input.
    """

    spec: str
    fingerprint: str
    similarity: str
    dtype: Dtype
    parts: tuple[Part, ...]

    @property
    def texts_fingerprint(self) -> str:
        """A hash of the ids and the texts, in their order; the same for every encoder."""
        return content_hash(["parts", [part.name for part in self.parts]])


def is_folder_of_parts(path: Path) -> bool:
    """Return whether a folder has a manifest of parts."""
    return (path / MANIFEST).is_file()


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder of parts.

    Raises
    ------
    SourceError
        If there is none, or it is damaged.
    """
    from pydantic import TypeAdapter

    if not is_folder_of_parts(folder):
        raise SourceError(f"not a folder of 'embassay encode': it has no {MANIFEST}", folder)
    try:
        manifest: Manifest = TypeAdapter(Manifest).validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        raise SourceError("the manifest is damaged; encode into another folder", folder / MANIFEST) from None
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder of parts; OutputError if it cannot be written."""
    write(folder / MANIFEST, canonical(manifest))


def part_of(ids: Sequence[str], texts: Sequence[str]) -> Part:
    """Return the part that holds n ids and texts."""
    return Part(content_hash([list(ids), list(texts)]), len(ids))


def path_of(folder: Path, part: Part) -> Path:
    """Return the file of a part."""
    return folder / f"{part.name}.parquet"


def write_part(folder: Path, part: Part, ids: Sequence[str], vectors: NDArray[np.floating]) -> None:
    """Write a part with (n, d) vectors, whole or not at all; OutputError if it cannot be written."""
    import polars

    table = polars.DataFrame([polars.Series("id", ids), polars.Series("vector", vectors)])
    write_with(path_of(folder, part), lambda file: table.write_parquet(file, compression="uncompressed"))


class PartVectors:
    """The (n, d) vectors of a folder of parts, read when they are needed, as float32.

    A slice or an (m,) array of row numbers gives an (m, d) array, as with an array in memory.

    Attributes
    ----------
    shape
        (n, d)
    starts
        (parts + 1,) the first row of each part, and the number of rows.
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, folder: Path) -> None:
        """Read the manifest, and see that all parts are there.

        Raises
        ------
        SourceError
            If the manifest is damaged, or a part is missing or no Parquet file.
        """
        self.folder, self.manifest = folder, read_manifest(folder)
        parts = self.manifest.parts
        missing = sum(not path_of(folder, part).is_file() for part in parts)
        if missing:
            raise self._damaged(f"{missing:,} of {len(parts):,} parts are missing")
        self.starts = np.append(0, np.cumsum([part.rows for part in parts], dtype=np.int64))
        self._part = lru_cache(CACHED)(self._read)
        self.shape = (int(self.starts[-1]), self._part(0)[1].shape[1])

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.shape[0]

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the (m, d) vectors of some rows, which must exist; SourceError if a part is missing or damaged."""
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(len(self)))
        vectors = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        part_of_row = np.searchsorted(self.starts, rows, side="right") - 1
        for number in np.unique(part_of_row).tolist():
            places = np.flatnonzero(part_of_row == number)
            vectors[places] = self._part(number)[1][rows[places] - self.starts[number]]
        return vectors

    def _read(self, number: int) -> tuple[Series, NDArray[np.floating]]:
        """Return the ids and the (m, d) vectors of a part, as they are stored."""
        import polars

        part = self.manifest.parts[number]
        try:
            table = polars.read_parquet(path_of(self.folder, part))
        except (OSError, polars.exceptions.PolarsError) as error:
            raise self._damaged(f"part {part.name}: {first_line_of(error)}") from None
        vectors: NDArray[np.floating] = table["vector"].to_numpy()
        width = self.shape[1] if number else vectors.shape[-1]
        # An encoder's vector never has NaN or infinity; here they would make similarities NaN without a word.
        if vectors.shape != (part.rows, width) or not np.isfinite(vectors).all():
            raise self._damaged(f"part {part.name} has other vectors than its encoder made")
        return table["id"], vectors

    def rows_of(self, ids: Collection[str]) -> dict[str, int]:
        """Return the row of each id; ids that no row has are missing."""
        import polars

        table = polars.scan_parquet([path_of(self.folder, part) for part in self.manifest.parts]).with_row_index("row")
        matching = table.filter(polars.col("id").is_in(list(ids))).select("id", "row")
        return dict(matching.collect().iter_rows())

    def id_of(self, row: int) -> str:
        """Return the id of a row."""
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        name: str = self._part(number)[0][row - int(self.starts[number])]
        return name

    def _damaged(self, problem: str) -> SourceError:
        return SourceError(f"{problem}; repeat the 'embassay encode' that made the folder", self.folder)
