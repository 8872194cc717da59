"""``embassay encode``: from files of texts to a folder of shards."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from embassay._version import __version__
from embassay.engine.cores import cores
from embassay.engine.executors import Executor, InProcess, LocalProcesses, run_all
from embassay.engine.ray_executor import RayExecutor, check_cluster
from embassay.errors import OutputError, SpecError, quoted
from embassay.formatting import counted
from embassay.run.progress import Bar, Progress, Quiet
from embassay.run.resolve import load_encoder
from embassay.run.specs import Spec, parse
from embassay.samples.base import Role
from embassay.sharding.making import ShardTask, make_shard
from embassay.sharding.source import Columns, Input, cut, find_files
from embassay.store.shards import Dtype, Manifest, Marker, ShardFolder, ShardPlan
from embassay.types import Encoder, Runtime

SHARD_ROWS = 100_000
MAXIMUM_SHARDS = 10**12
"""The system locks a byte of a file for each shard, and has no larger files."""


@dataclass(frozen=True)
class EncodeRequest:
    """What to encode, and how.

    Attributes
    ----------
    texts
        Paths or patterns of files: JSON lines or Parquet.
    id, text
        The columns of ids and texts.
    role
        The role in which the texts are encoded.
    shard_rows
        Rows of a shard, at most.
    executor
        Where shards are made: ``local`` in processes of this machine, ``ray`` in workers of a Ray cluster.
    ray_address
        ``HOST:PORT`` of a running Ray cluster, or ``auto`` for that of this machine; a new one, local, if None.
    shards
        The first shard to be made, and the one before which to stop; all if None.
    workers
        Processes that encode at a time.
    threads
        Of each process. If None, the cores divided by the workers; 1 in a Ray cluster with an address.
    trusted
        Whether the encoder may run code from its repository.
    """

    encoder: str
    texts: Sequence[str]
    out: Path
    id: str = "id"
    text: str = "text"
    role: Role = "document"
    dtype: Dtype = "float32"
    shard_rows: int = SHARD_ROWS
    executor: Literal["local", "ray"] = "local"
    ray_address: str | None = None
    shards: tuple[int, int] | None = None
    workers: int = 1
    threads: int | None = None
    device: str = "auto"
    trusted: bool = False

    def __post_init__(self) -> None:
        """Raise SpecError for a value of another type or out of range, before anything is read or written."""
        _check_text("encoder", self.encoder)
        _check_text("id column", self.id)
        _check_text("text column", self.text)
        _check_text("device", self.device)
        _check_count("rows per shard", self.shard_rows)
        _check_count("workers", self.workers)
        if self.threads is not None:
            _check_count("threads", self.threads)
        # Any text would count as true.
        if not isinstance(self.trusted, bool):
            raise SpecError(f"trust_remote_code must be true or false, is {quoted(self.trusted)}")
        _check_choice("role", self.role, get_args(Role))
        _check_choice("dtype", self.dtype, get_args(Dtype))
        _check_choice("executor", self.executor, ("local", "ray"))
        if self.ray_address is not None:
            if self.executor != "ray":
                raise SpecError("a Ray address needs the executor ray")
            _check_address(self.ray_address)
        if self.shards is not None:
            _check_range(self.shards)


def _check_text(name: str, value: object) -> None:
    """Raise SpecError unless a value is a text."""
    if not isinstance(value, str):
        raise SpecError(f"{name} must be a text, is {quoted(value)}")


def _check_count(name: str, value: object) -> None:
    """Raise SpecError unless a value is a whole number of 1 or more."""
    # Python takes True for the whole number 1.
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SpecError(f"{name} must be a whole number of 1 or more, is {quoted(value)}")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise SpecError unless a value is one of the choices."""
    # A dtype of numpy would equal its name.
    if not isinstance(value, str) or value not in choices:
        raise SpecError(f"{name} must be one of {', '.join(choices)}, is {quoted(value)}")


def _check_address(address: object) -> None:
    """Raise SpecError unless an address is ``auto``, or a host and a port such as ``10.0.0.5:6379``."""
    if not re.fullmatch(r"auto|[^\s/]+:[0-9]+", str(address)):
        raise SpecError(f"the Ray address must be HOST:PORT or auto, is {quoted(address)}")


def _check_range(shards: object) -> None:
    """Raise SpecError unless shards are two whole numbers, the second one larger."""
    if not isinstance(shards, tuple) or [type(number) for number in shards] != [int, int]:
        raise SpecError(f"shards must be two whole numbers such as (0, 100), are {quoted(shards)}")
    first, stop = shards
    if not 0 <= first < stop <= MAXIMUM_SHARDS:
        raise SpecError(
            f"shards {first}:{stop}: the first number must be 0 or more, and the second one larger, up to 10^12"
        )


@dataclass(frozen=True)
class Encoded:
    """Shards that are complete: all of a folder, or those that were selected.

    Attributes
    ----------
    rows, shards, repeated
        Of the selected shards.
    made
        How many shards were made now; the others were there.
    encoded
        How many texts were encoded now: within a shard each distinct one once.
    repeated
        How many texts of the input repeat within their shard.
    lowest_cosine, largest_error
        Of the stored vectors with the float32 ones; see ``store.shards.Marker``.
    restarts
        How often workers were replaced now because one had been killed.
    encoded_again
        How many of the vectors are of a text that another shard has too; None where only some shards were selected.
    """

    folder: Path
    rows: int
    shards: int
    dim: int
    made: int
    encoded: int
    repeated: int
    lowest_cosine: float
    largest_error: float
    restarts: int
    encoded_again: int | None


def encode_corpus(request: EncodeRequest, *, tell: Callable[[str], None], quiet: bool = False) -> Encoded:
    """Encode files of texts into a folder of shards; what is there already is not made again.

    Parameters
    ----------
    tell
        Takes messages.

    Raises
    ------
    InputError
        If the input or the encoder is invalid, or the folder holds something else; nothing is written then.
    EncoderError
        If the encoder fails; finished shards are kept.
    """
    spec = parse(request.encoder, "encoder")
    encoder = load_encoder(spec, Runtime(device=request.device, trust_remote_code=request.trusted))
    check_encoder(encoder)
    _check_fingerprint(encoder, spec)
    folder = ShardFolder(request.out)
    progress: Progress = Quiet() if quiet else Bar()
    if request.executor == "ray":
        check_cluster(request.ray_address)
    with folder.locked(request.shards):
        parts = _input(request, folder)
        selected = _selected(request.shards, parts)
        folder.open(_manifest(request, encoder, parts))
        manifest = folder.manifest()
        if request.threads not in (None, manifest.threads):
            raise OutputError(
                f"{folder.path}: is made with {counted(manifest.threads, 'thread')} per process, not "
                f"{request.threads}; leave out the number of threads, or choose another folder"
            )
        to_make = _shards_to_make(folder, selected, tell)
        rows = sum(plan.rows for plan in selected)
        texts = counted(rows, "text")
        tell(f"{texts} in {counted(len(selected), 'shard')}; still to be made: {len(to_make):,}")
        tasks = [_task(request, spec, manifest, parts, plan) for plan in to_make]
        executor = _executor(request, manifest, len(tasks))
        made = []
        restarts = []

        def tell_of_restart(message: str) -> None:
            restarts.append(message)
            tell(message)

        try:
            with progress.encoding(spec.label or spec.head, sum(task.plan.rows for task in tasks)) as advance:
                for marker in run_all(executor, make_shard, tasks, tell_of_restart):
                    made.append(marker)
                    advance(marker.rows)
        finally:
            executor.close()
    return _summary(folder, manifest, selected, made, len(restarts))


def check_encoder(encoder: Encoder) -> None:
    """Refuse an encoder whose vectors of a text depend on other texts.

    Raises
    ------
    SpecError
        For an encoder that learns from the texts it encodes.
    """
    if encoder.card.fitted:
        raise SpecError(
            f"{encoder.name} learns from the texts that it encodes, so each shard would have other dimensions; "
            "choose an encoder with fixed vectors"
        )


def _check_fingerprint(encoder: Encoder, spec: Spec) -> None:
    """Refuse an encoder whose fingerprint changes: shards of different runs could not be told from each other.

    Raises
    ------
    SpecError
        For a callable without a source file and without a version.
    """
    # Each of these has a version in its spec, or files that are hashed, except a callable without a source file.
    if spec.head.startswith("python:") and not encoder.card.cached:
        raise SpecError(
            f"encoder {spec.head!r}: the callable has no source file to fingerprint; give it a version that changes "
            f"whenever its vectors change: {spec.head},version=1"
        )


def _input(request: EncodeRequest, folder: ShardFolder) -> Input:
    """Return the files and the shards of the input."""
    paths = find_files(request.texts)
    if request.shards is not None and folder.exists():
        manifest = folder.manifest()
        # Otherwise each of a hundred commands would read the whole input. The hash of each shard is checked when it is
        # encoded, and a command for all shards compares the whole input.
        if [file.name for file in manifest.files] == list(paths):
            return Input(paths, manifest.files, manifest.shards, manifest.distinct)
    return cut(paths, Columns(request.id, request.text), request.shard_rows)


def _manifest(request: EncodeRequest, encoder: Encoder, parts: Input) -> Manifest:
    threads = request.threads or (1 if request.ray_address else max(cores() // request.workers, 1))
    return Manifest(
        spec=encoder.card.spec,
        fingerprint=encoder.fingerprint,
        similarity=encoder.card.similarity,
        role=request.role,
        dtype=request.dtype,
        id_column=request.id,
        text_column=request.text,
        shard_rows=request.shard_rows,
        threads=threads,
        files=parts.files,
        shards=parts.shards,
        distinct=parts.distinct,
        embassay=__version__,
    )


def _selected(shards: tuple[int, int] | None, parts: Input) -> tuple[ShardPlan, ...]:
    """Return the shards from the first number up to but without the second; all if None.

    The range may end after the last shard.

    Raises
    ------
    SpecError
        If the input has no shard in the range.
    """
    if shards is None:
        return parts.shards
    first, stop = shards
    selected = parts.shards[first:stop]
    if not selected:
        raise SpecError(f"shards {first}:{stop}: the input has {counted(len(parts.shards), 'shard')}, from 0 on")
    return selected


def _shards_to_make(folder: ShardFolder, selected: Sequence[ShardPlan], tell: Callable[[str], None]) -> list[ShardPlan]:
    """Return the shards that are missing or damaged; a damaged one is made again."""
    to_make = []
    for plan in selected:
        problem = folder.problem_with(plan)
        if not problem:
            continue
        if problem != "missing":
            tell(f"shard {plan.name}: {problem}; it is made again")
            # A shard counts as complete while it has a marker.
            folder.remove_marker(plan)
        to_make.append(plan)
    return to_make


def _task(request: EncodeRequest, spec: Spec, manifest: Manifest, parts: Input, plan: ShardPlan) -> ShardTask:
    """Return everything that a worker needs to make a shard."""
    # A plan names its file, such as a.jsonl, and not where it is: a folder can be continued after the files were moved.
    source = parts.paths[plan.file]
    return ShardTask(
        plan=plan,
        # A worker of a cluster may have another working directory.
        source=source.resolve(),
        folder=request.out.resolve(),
        spec=spec,
        fingerprint=manifest.fingerprint,
        role=request.role,
        dtype=request.dtype,
        columns=Columns(request.id, request.text),
        threads=manifest.threads,
        device=request.device,
        trusted=request.trusted,
    )


def _executor(request: EncodeRequest, manifest: Manifest, tasks: int) -> Executor:
    """Return where the shards are made; no more workers than shards."""
    workers = min(request.workers, tasks)
    if request.executor == "ray" and tasks:
        return RayExecutor(workers, manifest.threads, request.device, request.ray_address)
    if workers <= 1:
        return InProcess()
    return LocalProcesses(workers, manifest.threads)


def _summary(
    folder: ShardFolder, manifest: Manifest, selected: Sequence[ShardPlan], made: Sequence[Marker], restarts: int
) -> Encoded:
    markers = list(markers_of(folder, selected))
    if len(markers) < len(selected):
        raise OutputError(
            f"{folder.path}: {len(selected) - len(markers):,} of {counted(len(selected), 'shard')} were removed or "
            "damaged while this command ran; repeat it"
        )
    encoded_again = None
    if len(selected) == len(manifest.shards):
        # Each shard has encoded its different texts; what exceeds those of the whole input was in several shards.
        encoded_again = sum(marker.distinct for marker in markers) - manifest.distinct
    return Encoded(
        folder=folder.path,
        rows=sum(marker.rows for marker in markers),
        shards=len(markers),
        dim=markers[0].dim,
        made=len(made),
        encoded=sum(marker.distinct for marker in made),
        repeated=sum(marker.rows - marker.distinct for marker in markers),
        lowest_cosine=min(marker.lowest_cosine for marker in markers),
        largest_error=max(marker.largest_error for marker in markers),
        restarts=restarts,
        encoded_again=encoded_again,
    )


def markers_of(folder: ShardFolder, plans: Sequence[ShardPlan]) -> Iterator[Marker]:
    """Yield the markers of the shards that have one."""
    for plan in plans:
        marker = folder.marker(plan)
        if marker is not None:
            yield marker


def verify(folder: ShardFolder) -> tuple[Manifest, list[tuple[ShardPlan, str]]]:
    """Read all files of a folder of shards.

    Returns
    -------
    The manifest, and each shard that is missing or damaged with what is wrong.
    """
    manifest = folder.manifest()
    checked = [(plan, folder.problem_with(plan)) for plan in manifest.shards]
    return manifest, [(plan, problem) for plan, problem in checked if problem]
