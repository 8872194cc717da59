"""The input of ``embassay encode``: files of ids and texts, cut into shards.

The input is read twice: once to cut and to hash it, once to encode it. Files stay in the order in which they are given,
and no shard has rows of two files. So a file that is added at the end changes no shard of the others.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import OutputError, SourceError, SpecError, first_line_of
from embassay.core.shards.shards import InputFile, ShardPlan
from embassay.core.store.paths import check_readable, source_path
from embassay.core.tables.jsonl import json_lines, listed
from embassay.core.tables.rows import FileRow

BUCKETS = 64
"""Repetitions are looked for in so many parts, of which one is in memory at a time."""
DIGEST = 16
"""Bytes of the digest of an id or a text."""
PARQUET_ROWS = 50_000
"""Rows of a Parquet file that are read at once."""
SUFFIXES = (".jsonl", ".ndjson", ".parquet")


class Columns(NamedTuple):
    """The columns that are read."""

    id: str
    text: str


@dataclass(frozen=True)
class SourceRow:
    """One text of the input, and its line in a file of JSON lines or row in a Parquet file, from 1."""

    id: str
    text: str
    line: int


@dataclass(frozen=True)
class Input:
    """The files of an input by name, how they are cut, and how many different texts they have."""

    paths: dict[str, Path]
    files: tuple[InputFile, ...]
    shards: tuple[ShardPlan, ...]
    distinct: int


def find_files(patterns: Iterable[str]) -> dict[str, Path]:
    """Return the files of paths and patterns by name, in order; those of a pattern (``corpus/*.parquet``) sorted.

    Raises
    ------
    SourceError
        If nothing matches, a file has another suffix, or two files have the same name.
    SpecError
        If there are no patterns.
    """
    paths: dict[str, Path] = {}
    for pattern in patterns:
        for path in _matches(pattern):
            if path.is_dir():
                raise SourceError("a folder; name its files, for example with the pattern *.jsonl", path)
            check_readable(path)
            if path.suffix not in SUFFIXES:
                raise SourceError(f"texts are read from {', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]} files", path)
            if path.name in paths:
                raise SourceError(
                    f"two files have the name {path.name!r}, by which shards find them: the other is "
                    f"{paths[path.name]}; rename one, or name the same file once",
                    path,
                )
            paths[path.name] = path
    if not paths:
        raise SpecError("no files of texts are given")
    return paths


def _matches(pattern: str) -> list[Path]:
    """Return the files that a path or a pattern names, sorted; the path itself if there are none."""
    path = source_path(pattern)
    # A file whose name has brackets is meant as it is written.
    if path.exists():
        return [path]
    # Path.glob takes no absolute patterns.
    start = Path(path.anchor)
    return sorted(start.glob(str(path.relative_to(start)))) or [path]


def cut(paths: dict[str, Path], columns: Columns, shard_rows: int) -> Input:
    """Read all files once: cut them into shards, hash them, count the texts, and check that no id repeats.

    Parameters
    ----------
    shard_rows
        Rows of a shard, at most.

    Raises
    ------
    SourceError
        For a row without id or text, an id that repeats, or no rows at all; with file and line.
    OutputError
        If temporary files cannot be written.
    """
    files: list[InputFile] = []
    shards: list[ShardPlan] = []
    try:
        with tempfile.TemporaryDirectory(prefix="embassay-digests-") as folder, ExitStack() as stack:
            ids, texts = _Digests(Path(folder, "ids"), stack), _Digests(Path(folder, "texts"), stack)
            for name, path in paths.items():
                rows = read_rows(path, columns)
                of_file = hashlib.sha256()
                first = 0
                while part := list(islice(rows, shard_rows)):
                    for row in part:
                        ids.add(row.id)
                        texts.add(row.text)
                    shards.append(ShardPlan(len(shards), name, first, len(part), content_hash(part)))
                    of_file.update(shards[-1].sha256.encode())
                    first += len(part)
                files.append(InputFile(name, first, of_file.hexdigest()))
            repeated, distinct = ids.first_repeated(), texts.count_distinct()
    except OSError as error:
        raise OutputError(f"{tempfile.gettempdir()}: temporary files cannot be written: {error.strerror}") from None
    if repeated is not None:
        raise _repetition(paths, columns, repeated)
    if not shards:
        raise SourceError("the files have no rows", next(iter(paths.values())))
    return Input(paths, tuple(files), tuple(shards), distinct)


def content_hash(rows: Iterable[SourceRow]) -> str:
    """Return the hash of the ids and texts of rows."""
    total = hashlib.sha256()
    for row in rows:
        # The lengths keep ("ab", "c") and ("a", "bc") apart.
        for text in (row.id, row.text):
            content = text.encode("utf-8", "surrogatepass")
            total.update(f"{len(content)}:".encode())
            total.update(content)
    return total.hexdigest()


class _Digests:
    """Finds texts that repeat with little memory: their digests are sorted into files by their first byte."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Create the files in a new folder; ``stack`` closes them."""
        folder.mkdir()
        self._files = [stack.enter_context((folder / str(number)).open("w+b")) for number in range(BUCKETS)]

    def add(self, text: str) -> None:
        """Add the digest of a text."""
        digest = _digest(text)
        self._files[digest[0] % BUCKETS].write(digest)

    def first_repeated(self) -> bytes | None:
        """Return the digest of a text that was added more than once; None if there is none."""
        for digests in self._parts():
            distinct, counts = np.unique(digests, return_counts=True)
            if len(distinct) < len(digests):
                return bytes(distinct[counts > 1][0])
        return None

    def count_distinct(self) -> int:
        """Return the number of different texts."""
        return sum(len(np.unique(digests)) for digests in self._parts())

    def _parts(self) -> Iterator[NDArray[np.void]]:
        """Yield the digests part by part; equal ones are in the same part."""
        for file in self._files:
            file.seek(0)
            yield np.frombuffer(file.read(), dtype=f"V{DIGEST}")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST).digest()


def _repetition(paths: dict[str, Path], columns: Columns, digest: bytes) -> SourceError:
    """Return the error about an id that repeats, with both places."""
    places: list[tuple[Path, SourceRow]] = []
    for path in paths.values():
        places += [(path, row) for row in read_rows(path, columns) if _digest(row.id) == digest]
    (first_path, first), (second_path, second) = places[0], places[-1]
    return SourceError(
        f"the id {second.id!r} repeats: it is also in line {first.line:,} of {first_path.name}",
        second_path,
        second.line,
        columns.id,
    )


def read_shard(path: Path, columns: Columns, plan: ShardPlan) -> tuple[list[str], list[str]]:
    """Return the ids and the texts of a shard.

    Raises
    ------
    SourceError
        If the file is not what it was when it was cut.
    """
    changed = "the file has changed since it was cut into shards"
    try:
        rows = list(islice(read_rows(path, columns, plan.row), plan.rows))
    except SourceError as error:
        # Every row was valid when the file was cut.
        raise SourceError(f"{changed}, or cannot be read ({error}); encode it into another folder", path) from None
    if content_hash(rows) != plan.sha256:
        raise SourceError(f"{changed}; encode it into another folder", path)
    return [row.id for row in rows], [row.text for row in rows]


def read_rows(path: Path, columns: Columns, first: int = 0) -> Iterator[SourceRow]:
    """Yield the rows of a file from the row ``first`` on, which is counted from 0; those before it are not checked.

    Raises
    ------
    SourceError
        For a row without id or text, or a file that cannot be read.
    """
    rows = _parquet_rows(path, columns, first) if path.suffix == ".parquet" else json_lines(path, first)
    for line, values in rows:
        row = FileRow(values, path, line)
        yield SourceRow(row.as_key(row.value(columns.id), columns.id), row.text(columns.text), line)


def _parquet_rows(path: Path, columns: Columns, first: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number, from 1, and the values of each row."""
    import polars
    from polars.exceptions import PolarsError

    try:
        frame = polars.scan_parquet(path, glob=False)
        present = frame.collect_schema().names()
        for name in columns:
            if name not in present:
                raise SourceError(f"missing column; found {listed(present)}", path, field=name)
        frame = frame.select(columns)
        while len(part := frame.slice(first, PARQUET_ROWS).collect()):
            yield from enumerate(part.iter_rows(named=True), first + 1)
            first += len(part)
    except (OSError, PolarsError) as error:
        raise SourceError(f"not a Parquet file that can be read: {first_line_of(error)}", path) from None
