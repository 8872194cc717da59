"""``embassay encode``: from Parquet files of ids and texts to a folder of parts (``core.parts``).

The input is read twice: once to cut it into parts, and once to encode those that are missing.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embassay.core.cores import cores
from embassay.core.errors import (
    EncoderError,
    InputError,
    MissingExtraError,
    OutputError,
    SourceError,
    SpecError,
    first_line_of,
    quoted,
    reason_of,
)
from embassay.core.formatting import counted
from embassay.core.parts import (
    Manifest,
    Part,
    PartVectors,
    is_folder_of_parts,
    part_of,
    path_of,
    read_manifest,
    write_manifest,
    write_part,
)
from embassay.core.samples.base import Text
from embassay.core.store.canonical import names_in
from embassay.core.store.paths import open_file, source_path
from embassay.core.types import Encoder, Runtime
from embassay.models.arrays import dense_rows
from embassay.run.encode_options import EncodeOptions
from embassay.run.engine.encode import encode
from embassay.run.progress import counting
from embassay.run.resolve import load_encoder
from embassay.run.specs import parse

if TYPE_CHECKING:
    from polars import DataFrame

ROWS = 10_000
"""Rows of a part, at most: what is in memory at a time, and what a killed process loses."""
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Encoded:
    """A folder of parts that is complete.

    Attributes
    ----------
    made
        How many of the parts were made now; the others were there.
    """

    folder: Path
    rows: int
    dim: int
    parts: int
    made: int


@dataclass(frozen=True)
class PartTask:
    """Everything that a process needs to make a part.

    Attributes
    ----------
    source, first
        The file of texts, and the part's first row in it, from 0.
    fingerprint
        What the encoder must have: its files may have changed since the manifest was written.
    """

    part: Part
    source: Path
    first: int
    folder: Path
    encoder: str
    fingerprint: str
    options: EncodeOptions


def encode_texts(
    encoder: str,
    texts: Iterable[str | Path],
    folder: Path,
    options: EncodeOptions,
    *,
    tell: Callable[[str], None],
    quiet: bool = False,
) -> Encoded:
    """Encode Parquet files of texts into a folder of parts; a part that is there already is not made again.

    Parameters
    ----------
    tell
        Takes messages.

    Raises
    ------
    InputError
        If the input or the encoder is invalid, or the folder holds something else; nothing is written then.
    EncoderError
        If the encoder fails; finished parts are kept.
    """
    model = _loaded(encoder, options.device, options.trust_remote_code)
    check_encoder(model)
    # Whole paths: another machine may have another working directory.
    tasks = [
        PartTask(part, path, first, folder.resolve(), encoder, model.fingerprint, options)
        for path, first, part in _cut([source_path(path).resolve() for path in texts], options)
    ]
    parts = tuple(task.part for task in tasks)
    _begin(folder, Manifest(model.card.spec, model.fingerprint, model.card.similarity, options.dtype, parts))
    to_make = [task for task in tasks if not path_of(folder, task.part).is_file()]
    rows = sum(part.rows for part in parts)
    tell(f"{counted(rows, 'text')} in {counted(len(parts), 'part')}; still to be made: {len(to_make):,}")
    with counting(_label(encoder), sum(task.part.rows for task in to_make), quiet=quiet) as advance:
        if options.executor == "ray" and to_make:
            for made in in_ray(to_make, options.workers, use_gpu=options.device != "cpu"):
                advance(made.rows)
        else:
            for task in to_make:
                make_part(task, advance)
    return Encoded(folder, rows, PartVectors(folder).shape[1], len(parts), len(to_make))


def _label(encoder: str) -> str:
    """Return what messages call the encoder of a spec."""
    spec = parse(encoder, "encoder")
    return spec.label or spec.head


def check_encoder(encoder: Encoder) -> None:
    """Refuse an encoder whose parts, made by different commands, would not fit together.

    Raises
    ------
    SpecError
        For an encoder that learns from the texts it encodes, and a callable that cannot be told from another.
    """
    card = encoder.card
    if card.fitted:
        raise SpecError(
            f"{encoder.name} learns from the texts that it encodes, so each part would have other dimensions; "
            "choose an encoder with fixed vectors"
        )
    if not card.known:
        raise SpecError(
            f"encoder {card.spec!r}: the callable has no source file to fingerprint; give it a version that "
            f"changes whenever its vectors change: {card.spec},version=1"
        )


def _cut(paths: Sequence[Path], options: EncodeOptions) -> Iterator[tuple[Path, int, Part]]:
    """Yield each part with its file and its first row there; no part has rows of two files.

    Raises
    ------
    SourceError
        For a row without id or text, an id that repeats, or no rows at all.
    """
    import polars

    # 8 bytes of each id: the ids themselves may not fit into memory.
    hashes = [polars.Series("id", dtype=polars.UInt64)]
    for path in paths:
        first = 0
        while len(rows := read_rows(path, options, first, ROWS)):
            hashes.append(rows["id"].hash())
            yield path, first, part_of(rows["id"].to_list(), rows["text"].to_list())
            first += len(rows)
    ids = polars.concat(hashes)
    if not len(ids):
        raise SourceError("the files have no rows", paths[0]) if paths else SpecError("no files of texts are given")
    if len(ids) > ids.n_unique():
        row = int(ids.is_duplicated().arg_max() or 0)
        raise SourceError(f"the id of row {row + 1:,} of all files repeats", paths[0], None, options.id)


def read_rows(path: Path, options: EncodeOptions, first: int, count: int) -> DataFrame:
    """Return the columns ``id`` and ``text`` of up to ``count`` rows of a file, from the row ``first`` on.

    Raises
    ------
    SourceError
        If the file cannot be read, lacks a column, or has a row without id or text.
    """
    import polars

    open_file(path).close()
    columns = {"id": polars.col(options.id).cast(polars.String), "text": polars.col(options.text)}
    try:
        rows = polars.scan_parquet(path, glob=False).slice(first, count).select(**columns).collect()
        is_blank = rows.select(polars.any_horizontal(polars.all().fill_null("").str.strip_chars() == "")).to_series()
    except (OSError, polars.exceptions.PolarsError) as error:
        wanted = f"ids in {options.id!r} and texts in {options.text!r}"
        raise SourceError(f"not a Parquet file of {wanted}: {first_line_of(error)}", path) from None
    if is_blank.any():
        raise SourceError(f"row {first + int(is_blank.arg_max() or 0) + 1:,} has no id or no text", path)
    return rows


def _begin(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a new folder, or of one of the same encoder, whose parts stay; OutputError otherwise."""
    if is_folder_of_parts(folder):
        before = read_manifest(folder)
        if (before.fingerprint, before.dtype) != (manifest.fingerprint, manifest.dtype):
            raise OutputError(
                f"{folder}: holds {before.dtype} vectors of {before.spec} ({before.fingerprint}), not {manifest.dtype} "
                f"vectors of {manifest.spec} ({manifest.fingerprint}); choose another folder"
            )
    elif names_in(folder):
        raise OutputError(f"{folder}: is not empty and holds no vectors of 'embassay encode'; choose another folder")
    write_manifest(folder, manifest)


def make_part(task: PartTask, advance: Advance = lambda done: None) -> Part:
    """Make one part, and return it.

    Parameters
    ----------
    advance
        Takes the number of texts that have been encoded.

    Raises
    ------
    SourceError
        If the input has changed since it was cut.
    EncoderError
        If the encoder fails or has changed, or float16 cannot hold its vectors.
    OutputError
        If the part cannot be written.
    """
    options = task.options
    encoder = _loaded(task.encoder, options.device, options.trust_remote_code)
    if encoder.fingerprint != task.fingerprint:
        raise EncoderError("the encoder's files have changed while it encoded; encode into another folder")
    rows = read_rows(task.source, options, task.first, task.part.rows)
    ids, texts = rows["id"].to_list(), rows["text"].to_list()
    if part_of(ids, texts) != task.part:
        raise SourceError("the file has changed while it was encoded; repeat the command", task.source)
    distinct: list[Text] = [("document", text) for text in dict.fromkeys(texts)]
    try:
        encoded, _ = encode(encoder, distinct, advance=advance)
    except EncoderError as error:
        raise EncoderError(f"encoder {_label(task.encoder)!r}: {error}") from error
    exact = dense_rows(encoded.take(texts, "document"))
    with np.errstate(over="ignore"):
        stored = exact.astype(options.dtype)
    is_lost = ~np.isfinite(stored).all(axis=1) | (exact.any(axis=1) & ~stored.any(axis=1))
    if is_lost.any():
        text = quoted(texts[int(is_lost.argmax())])
        raise EncoderError(f"{options.dtype} cannot hold the vector of {text}; use float32 and another folder")
    write_part(task.folder, task.part, ids, stored)
    advance(len(texts) - len(distinct))
    return task.part


@cache
def _loaded(spec: str, device: str, trusted: bool) -> Encoder:
    """Load an encoder; once in each process."""
    return load_encoder(spec, Runtime(device=device, trust_remote_code=trusted))


OBJECT_STORE = 100 * 2**20
"""Bytes of the shared memory of a cluster that is started here; only tasks and their answers pass through it."""
ADDRESS = "RAY_ADDRESS"
"""The variable by which Ray itself finds a running cluster."""


def in_ray(tasks: Sequence[PartTask], workers: int, *, use_gpu: bool) -> Iterator[Part]:
    """Make parts by tasks of Ray, and yield each when it is finished.

    Parameters
    ----------
    workers
        Tasks at a time; they share the cores, and the GPUs if they use them.

    Raises
    ------
    MissingExtraError
        If Ray is not installed.
    InputError
        If no cluster can be started or joined.
    EncoderError
        If a task is killed again and again.
    """
    ray = _import_ray()
    with _cluster(ray):
        resources = ray.cluster_resources()
        threads = max(int(resources.get("CPU", 1)) // workers, 1)
        # A worker finds the modules that this process finds, such as that of a "python:" encoder.
        paths = os.pathsep.join(os.path.abspath(path) for path in sys.path)  # noqa: PTH100
        remote = ray.remote(make_part).options(
            num_cpus=threads,
            num_gpus=min(resources.get("GPU", 0) / workers, 1) if use_gpu else 0,
            runtime_env={"env_vars": {"OMP_NUM_THREADS": str(threads), "PYTHONPATH": paths}},
        )
        running = [remote.remote(task) for task in tasks]
        while running:
            done, running = ray.wait(running)
            try:
                yield ray.get(done[0])
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except ray.exceptions.RayError as error:
                raise EncoderError(f"a worker of Ray failed: {reason_of(error)}") from None


def _import_ray() -> Any:
    """Import Ray, which sends no statistics and lets nobody else use a cluster that is started here."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray reads this when it is imported. Without a token in memory it would write one into the user's home folder.
    if ADDRESS not in os.environ and "ray" not in sys.modules and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        import ray
    except ImportError:
        raise MissingExtraError("the executor ray", "ray") from None
    return ray


@contextmanager
def _cluster(ray: Any) -> Iterator[None]:
    """Join the cluster at ``RAY_ADDRESS``, or start one on this machine, and leave it at the end."""
    if ray.is_initialized():
        yield
        return
    settings: dict[str, Any] = {}
    # The path of a socket has at most 107 characters, so a long TMPDIR cannot be used.
    with tempfile.TemporaryDirectory(prefix="embassay-ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        if ADDRESS not in os.environ:
            settings = {
                "num_cpus": cores(),
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE,
                "_temp_dir": folder,
            }
        try:
            try:
                ray.init(**settings, log_to_driver=False, logging_level=logging.ERROR)
            except Exception as error:
                raise InputError(f"Ray cannot start or join a cluster: {reason_of(error)}") from None
            yield
        finally:
            ray.shutdown()
