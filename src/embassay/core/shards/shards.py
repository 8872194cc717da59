"""A folder of shards: what they are made of (``manifest.json``), and three files for each.

``shards/00000042.npy``
    (n, d) the vectors, to be memory-mapped; int8 vectors have a scale for each row in the Parquet file.
``shards/00000042.parquet``
    the id and the hash of the text of each row, and the scale.
``shards/00000042.json``
    the marker: counts, and the hashes of the other two files. It is written last: a shard without it is not complete.

Each file is written under another name and renamed. Nothing is changed once it is there.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from embassay.core.errors import OutputError, SourceError
from embassay.core.store.canonical import canonical, write, write_with
from embassay.core.store.partial_files import names_in, remove_left_overs
from embassay.core.store.paths import source_path

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Dtype = Literal["float32", "float16", "int8"]
SCHEMA = 1
MANIFEST, SHARDS = "manifest.json", "shards"
LOCK, MANIFEST_LOCK = ".lock", ".manifest-lock"
MAXIMUM_SHARDS = 10**12
"""The system locks a byte of a file for each shard, and has no larger files."""
Count = Annotated[int, Ge(0)]
SETTINGS = ("spec", "fingerprint", "similarity", "role", "dtype", "id_column", "text_column", "shard_rows", "schema")
"""What must be the same in all commands for a folder. The number of threads is taken from the folder."""


@dataclass(frozen=True)
class InputFile:
    """A file of texts."""

    name: str
    rows: Count
    sha256: str


@dataclass(frozen=True)
class ShardPlan:
    """One shard: a part of an input file.

    Attributes
    ----------
    file
        The name of the file.
    row
        The first row in the file, from 0.
    sha256
        Of the ids and texts.
    """

    number: Count
    file: str
    row: Count
    rows: Count
    sha256: str

    @property
    def name(self) -> str:
        """The name of its files, without suffix."""
        return f"{self.number:08d}"


@dataclass(frozen=True)
class Manifest:
    """What a folder of shards is made of; the same for all its shards.

    Attributes
    ----------
    spec, fingerprint, similarity
        Of the encoder.
    role
        The role in which the texts are encoded.
    id_column, text_column
        The columns that were read.
    threads
        How many threads encode a shard. It is fixed because sums in another order differ in the last digits.
    distinct
        How many different texts the input has. One that is in several shards is encoded for each of them.
    """

    spec: str
    fingerprint: str
    similarity: str
    role: str
    dtype: Dtype
    id_column: str
    text_column: str
    shard_rows: Count
    threads: Count
    files: tuple[InputFile, ...]
    shards: tuple[ShardPlan, ...]
    distinct: Count
    embassay: str
    schema: Count = SCHEMA

    @property
    def rows(self) -> int:
        """The number of texts."""
        return sum(shard.rows for shard in self.shards)


@dataclass(frozen=True)
class Marker:
    """What is known of a finished shard.

    Attributes
    ----------
    distinct
        How many different texts were encoded for it.
    lowest_cosine, largest_error
        Of the stored vectors with the float32 ones: their lowest cosine, and the largest difference in a coordinate,
        as a share of the vector's length. 1 and 0 for float32.
    vectors_sha256, rows_sha256
        Of the two other files.
    """

    number: Count
    rows: Count
    dim: Count
    distinct: Count
    lowest_cosine: float
    largest_error: float
    vectors_sha256: str
    rows_sha256: str


@dataclass(frozen=True)
class ShardRows:
    """The rows of a shard, before they are written.

    Attributes
    ----------
    vectors
        (n, d) of the folder's dtype.
    scale
        (n,) what int8 rows are multiplied by; None for others.
    text_hashes
        16 hexadecimal digits of each text.
    """

    vectors: NDArray[Any]
    scale: NDArray[np.float32] | None
    ids: Sequence[str]
    text_hashes: Sequence[str]
    distinct: int
    lowest_cosine: float
    largest_error: float


@dataclass(frozen=True)
class ShardFolder:
    """A folder of shards."""

    path: Path

    @property
    def _shards(self) -> Path:
        return self.path / SHARDS

    def exists(self) -> bool:
        """Return whether there is a manifest."""
        return (self.path / MANIFEST).is_file()

    def manifest(self) -> Manifest:
        """Read the manifest.

        Raises
        ------
        SourceError
            If there is none, it is damaged, or another version wrote it.
        """
        path = self.path / MANIFEST
        if not path.is_file():
            raise SourceError("not a folder of shards: there is no manifest.json", self.path)
        try:
            content = path.read_bytes()
            schema = json.loads(content)["schema"]
            # The fields of another schema may be others, so they are not looked at.
            if schema == SCHEMA:
                manifest: Manifest = _reader(Manifest).validate_json(content, strict=True)
                return manifest
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise SourceError("the manifest is damaged; encode into another folder", path) from None
        raise SourceError(f"the manifest has schema {schema}; this version reads {SCHEMA}", path)

    def open(self, manifest: Manifest) -> Manifest:
        """Create the folder, or continue one of the same encoder and input; of several processes the first creates it.

        Returns
        -------
        The manifest of the folder, whose number of threads may be another one.

        Raises
        ------
        OutputError
            If the folder holds shards of another encoder or input, or if it cannot be written to.
        """
        with self._lock_file(MANIFEST_LOCK) as file:
            _lock(file, 0, 0, wait=True)
            if not self.exists():
                # A folder without finished shards is also known as one of shards.
                self._shards.mkdir(exist_ok=True)
                write(self.path / MANIFEST, canonical(asdict(manifest)))
                return manifest
        before = self.manifest()
        changed = differences(before, manifest)
        if changed:
            raise OutputError(
                f"{self.path}: holds shards of something else ({'; '.join(changed)}); choose another folder"
            )
        remove_left_overs(self._shards)
        return before

    def _check_unused(self) -> None:
        """Raise OutputError if the folder has other files than a folder of shards; nothing is written."""
        if self.exists():
            self.manifest()
            return
        if names_in(self.path) - {LOCK, MANIFEST_LOCK, SHARDS}:
            raise OutputError(f"{self.path}: is not empty and holds no shards; choose another folder")
        # Without their manifest nobody knows which encoder made shards.
        if names_in(self._shards):
            raise OutputError(f"{self.path}: holds shards without a manifest; remove them, or choose another folder")

    @contextmanager
    def locked(self, shards: tuple[int, int] | None = None) -> Iterator[None]:
        """Hold a range of shards for this process, from the first up to but without the second; all if None.

        Processes with other ranges may work at the same time.

        Raises
        ------
        OutputError
            If another process holds one of the shards, or the folder has other files.
        """
        self._check_unused()
        first, stop = shards or (0, 0)
        with self._lock_file(LOCK) as file:
            # A byte of the file stands for each shard, whether it is there or not; a length of 0 means all of them.
            if not _lock(file, first, stop - first, wait=False):
                what = "this folder" if shards is None else f"some of the shards {first}:{stop} of this folder"
                raise OutputError(f"{self.path}: another process is encoding into {what}; wait until it ends")
            yield

    @contextmanager
    def _lock_file(self, name: str) -> Iterator[IO[bytes]]:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / name).open("ab")
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be used as a folder: {error.strerror}") from None
        with file:
            yield file

    def write_shard(self, plan: ShardPlan, rows: ShardRows) -> Marker:
        """Write the files of a shard, the marker last.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        table = _parquet(rows)
        vectors = self._file(plan, ".npy")
        write_with(vectors, lambda file: np.save(file, rows.vectors, allow_pickle=False))
        write(self._file(plan, ".parquet"), table)
        marker = Marker(
            number=plan.number,
            rows=len(rows.ids),
            dim=rows.vectors.shape[1],
            distinct=rows.distinct,
            lowest_cosine=rows.lowest_cosine,
            largest_error=rows.largest_error,
            vectors_sha256=_sha256(vectors),
            rows_sha256=hashlib.sha256(table).hexdigest(),
        )
        write(self._file(plan, ".json"), canonical(asdict(marker)))
        return marker

    def marker(self, plan: ShardPlan) -> Marker | None:
        """Return the marker of a shard; None if there is none or if it is damaged."""
        try:
            marker: Marker = _reader(Marker).validate_json(self._file(plan, ".json").read_bytes(), strict=True)
        except (OSError, ValueError):
            # The shard is made again.
            return None
        return marker if (marker.number, marker.rows) == (plan.number, plan.rows) else None

    def problem_with(self, plan: ShardPlan) -> str:
        """Read a shard, and return what is wrong with it; empty if it is complete.

        A shard without a valid marker is ``missing``, whatever other files it has.
        """
        marker = self.marker(plan)
        if marker is None:
            return "missing"
        hashes = {".npy": marker.vectors_sha256, ".parquet": marker.rows_sha256}
        for suffix, sha256 in hashes.items():
            path = self._file(plan, suffix)
            if not path.is_file():
                return f"{path.name} is missing"
            try:
                damaged = _sha256(path) != sha256
            except OSError as error:
                return f"{path.name} cannot be read: {error.strerror}"
            if damaged:
                return f"{path.name} is damaged: its hash differs"
        return ""

    def vectors(self, plan: ShardPlan) -> NDArray[Any]:
        """Return the (n, d) stored vectors of a shard, memory-mapped."""
        matrix: NDArray[Any] = np.load(self._file(plan, ".npy"), mmap_mode="r", allow_pickle=False)
        return matrix

    def rows_file(self, plan: ShardPlan) -> Path:
        """Return the Parquet file of ids and text hashes of a shard."""
        return self._file(plan, ".parquet")

    def _file(self, plan: ShardPlan, suffix: str) -> Path:
        return self._shards / f"{plan.name}{suffix}"


def text_hash(text: str) -> str:
    """Return 16 hexadecimal digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_folder_of_shards(path: Path) -> bool:
    """Return whether a path is a folder with a manifest and shards."""
    return (path / MANIFEST).is_file() and (path / SHARDS).is_dir()


def read_folder(path: str | Path) -> ShardFolder:
    """Return a folder of shards that must be there already."""
    folder = ShardFolder(source_path(path))
    folder.manifest()
    return folder


def differences(before: Manifest, now: Manifest) -> list[str]:
    """Return what differs between two manifests, with both sides."""
    changed = []
    for name in SETTINGS:
        old, new = getattr(before, name), getattr(now, name)
        if old != new:
            changed.append(f"{name.replace('_', ' ')} {old}, now {new}")
    # The hash of a file is made of those of its shards, so it depends on how the file is cut.
    if before.shard_rows != now.shard_rows:
        return changed
    old_files = {file.name: file for file in before.files}
    new_files = {file.name: file for file in now.files}
    for name in sorted(old_files.keys() | new_files.keys()):
        if name not in new_files:
            changed.append(f"{name} was in the input and is not now")
        elif name not in old_files:
            changed.append(f"{name} was not in the input")
        elif old_files[name] != new_files[name]:
            changed.append(f"{name} has changed since")
    return changed


def _lock(file: IO[bytes], first: int, length: int, *, wait: bool) -> bool:
    """Lock bytes of a file for this process until the file is closed, and return whether that was possible."""
    try:
        import fcntl
    except ImportError:
        # Windows has no such locks: there, two processes make each shard twice, and write the same bytes.
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), length, first)
    except OSError:
        return False
    return True


@cache
def _reader(record: type) -> TypeAdapter[Any]:
    """Return what reads a record from JSON, and raises ValueError for a value of another type."""
    from pydantic import TypeAdapter

    return TypeAdapter(record)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _parquet(rows: ShardRows) -> bytes:
    """Return a Parquet file with a row for each text: its id, its hash and, for int8, its scale."""
    import polars

    columns = [
        polars.Series("id", rows.ids, dtype=polars.String),
        polars.Series("text_hash", rows.text_hashes, dtype=polars.String),
    ]
    if rows.scale is not None:
        columns.append(polars.Series("scale", rows.scale, dtype=polars.Float32))
    buffer = io.BytesIO()
    polars.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()
