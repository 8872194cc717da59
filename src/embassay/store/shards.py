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
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from embassay.errors import OutputError, SourceError
from embassay.store.canonical import canonical, write, write_with
from embassay.store.partial_files import remove_left_overs
from embassay.store.paths import source_path

Dtype = Literal["float32", "float16", "int8"]
SCHEMA = 1
MANIFEST, SHARDS = "manifest.json", "shards"
LOCK, MANIFEST_LOCK = ".lock", ".manifest-lock"


@dataclass(frozen=True)
class InputFile:
    """A file of texts."""

    name: str
    rows: int
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
    offset
        Where it begins in a file of JSON lines, in bytes; 0 for Parquet.
    line
        The line before the first row of JSON lines, for messages; 0 for Parquet.
    sha256
        Of the ids and texts.
    """

    number: int
    file: str
    row: int
    rows: int
    offset: int
    line: int
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
    shard_rows: int
    threads: int
    files: tuple[InputFile, ...]
    shards: tuple[ShardPlan, ...]
    distinct: int
    embassay: str
    schema: int = SCHEMA

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

    number: int
    rows: int
    dim: int
    distinct: int
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
    _shards: Path = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Set the folder of the shards' files."""
        object.__setattr__(self, "_shards", self.path / SHARDS)

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
            content = json.loads(path.read_bytes())
            schema = content["schema"]
            # The fields of another schema may be others, so they are not looked at.
            if schema == SCHEMA:
                return _manifest_from(content)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            raise SourceError("the manifest is damaged; encode into another folder", path) from None
        raise SourceError(f"the manifest has schema {schema}; this version reads {SCHEMA}", path)

    def open(self, manifest: Manifest) -> None:
        """Create the folder, or continue one of the same encoder and input; of several processes the first creates it.

        Raises
        ------
        OutputError
            If the folder holds shards of another encoder or input, or other files; or if it cannot be written to.
        """
        with self._lock_file(MANIFEST_LOCK) as file:
            _lock(file, 0, 0, wait=True)
            if self.exists():
                self._check_same(manifest)
                remove_left_overs(self._shards)
            else:
                self._create(manifest)

    def _check_same(self, manifest: Manifest) -> None:
        """Raise OutputError if the folder's manifest has another encoder, input or setting."""
        changed = differences(self.manifest(), manifest)
        if changed:
            raise OutputError(
                f"{self.path}: holds shards of something else ({'; '.join(changed)}); choose another folder"
            )

    def _create(self, manifest: Manifest) -> None:
        """Write the manifest of a new folder; raise OutputError if the folder has other files."""
        try:
            # A folder without finished shards is also known as one of shards.
            self._shards.mkdir(exist_ok=True, parents=True)
            others = [path for path in self.path.iterdir() if path.name not in (LOCK, MANIFEST_LOCK, SHARDS)]
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be used as a folder: {error.strerror}") from None
        if [path for path in others if path.suffix != ".part"]:
            raise OutputError(f"{self.path}: is not empty and holds no shards; choose another folder")
        # Without their manifest nobody knows which encoder made shards.
        if [path for path in self._shards.iterdir() if path.suffix != ".part"]:
            raise OutputError(f"{self.path}: holds shards without a manifest; remove them, or choose another folder")
        write(self.path / MANIFEST, canonical(asdict(manifest)))

    @contextmanager
    def locked(self, shards: tuple[int, int] | None = None) -> Iterator[None]:
        """Hold a range of shards for this process, from the first up to but without the second; all if None.

        Processes with other ranges may work at the same time. A folder that is new and still has no manifest afterwards
        is removed again.

        Raises
        ------
        OutputError
            If another process holds one of the shards.
        """
        first, stop = shards or (0, 0)
        is_new = not self.path.exists()
        with self._lock_file(LOCK) as file:
            # A byte of the file stands for each shard, whether it is there or not; a length of 0 means all of them.
            if not _lock(file, first, stop - first, wait=False):
                what = "this folder" if shards is None else f"some of the shards {first}:{stop} of this folder"
                raise OutputError(f"{self.path}: another process is encoding into {what}; wait until it ends")
            try:
                yield
            finally:
                if is_new and not self.exists():
                    self._remove_empty()

    def _remove_empty(self) -> None:
        """Remove the folder if nothing but locks is in it."""
        with suppress(OSError):
            self._shards.rmdir()
        with suppress(OSError):
            for name in (LOCK, MANIFEST_LOCK):
                (self.path / name).unlink(missing_ok=True)
            self.path.rmdir()

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
            content = json.loads(self._file(plan, ".json").read_bytes())
            marker = Marker(**content)
            _check_types(marker)
        except (OSError, ValueError, TypeError, RecursionError):
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

    def remove_marker(self, plan: ShardPlan) -> None:
        """Remove the marker of a damaged shard, so that it is made again.

        Raises
        ------
        OutputError
            If it cannot be removed.
        """
        marker = self._file(plan, ".json")
        try:
            marker.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{marker}: cannot be removed: {error.strerror}") from None

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
    old, new = _settings(before), _settings(now)
    for name, value in new.items():
        if old[name] != value:
            changed.append(f"{name.replace('_', ' ')} {old[name]}, now {value}")
    old_files = {file.name: file for file in before.files}
    new_files = {file.name: file for file in now.files}
    # The hash of a file is made of those of its shards, so it depends on how the file is cut.
    is_cut_alike = before.shard_rows == now.shard_rows
    for name in sorted(old_files.keys() | new_files.keys()):
        if name not in new_files:
            changed.append(f"{name} was in the input and is not now")
        elif name not in old_files:
            changed.append(f"{name} was not in the input")
        elif old_files[name].rows != new_files[name].rows or (is_cut_alike and old_files[name] != new_files[name]):
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


def _manifest_from(content: dict[str, Any]) -> Manifest:
    """Return the manifest of JSON content.

    Raises
    ------
    ValueError, KeyError, TypeError
        If the content is not that of a manifest: the file may have been written by someone else.
    """
    settings = dict(content)
    files = tuple(InputFile(**part) for part in settings.pop("files"))
    shards = tuple(ShardPlan(**part) for part in settings.pop("shards"))
    manifest = Manifest(**settings, files=files, shards=shards)
    _check_types(manifest, *files, *shards)
    if [plan.number for plan in shards] != list(range(len(shards))):
        raise ValueError("the shards are not numbered from 0")
    names = {file.name for file in files}
    if not all(plan.file in names for plan in shards):
        raise ValueError("a shard is of a file that is not listed")
    return manifest


def _check_types(*records: Manifest | InputFile | ShardPlan | Marker) -> None:
    """Raise ValueError for a value that is not of the type of its field, or a whole number below 0.

    Tuples of records are not looked into: their records are checked on their own.
    """
    for record in records:
        for part in fields(record):
            value = getattr(record, part.name)
            # Annotations are texts in this module. Python takes True for the whole number 1, so types are compared.
            if part.type == "int" and not (type(value) is int and value >= 0):
                raise ValueError(f"{part.name} is not a whole number of 0 or more")
            if part.type == "float" and not (type(value) in (int, float) and math.isfinite(value)):
                raise ValueError(f"{part.name} is not a finite number")
            if part.type == "str" and type(value) is not str:
                raise ValueError(f"{part.name} is not a text")
            if part.type == "Dtype" and value not in get_args(Dtype):
                raise ValueError(f"{part.name} is not one of {get_args(Dtype)}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settings(manifest: Manifest) -> Mapping[str, Any]:
    """Return what must be the same in two manifests, other than the input."""
    # The number of threads and the version are taken from the folder.
    ignored = ("files", "shards", "distinct", "threads", "embassay")
    return {part.name: getattr(manifest, part.name) for part in fields(manifest) if part.name not in ignored}


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
