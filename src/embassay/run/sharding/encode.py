"""``embassay encode``: from files of texts to a folder of shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from embassay._version import __version__
from embassay.core.errors import OutputError, SpecError
from embassay.core.formatting import counted
from embassay.core.processes.map import map_tasks
from embassay.core.processes.ray_cluster import check_cluster
from embassay.core.shards.shards import Manifest, Marker, ShardFolder, ShardPlan
from embassay.core.types import Encoder, Runtime
from embassay.run.progress import Bar, Progress, Quiet
from embassay.run.resolve import load_encoder
from embassay.run.sharding.request import EncodeRequest
from embassay.run.sharding.shard import ShardTask, make_shard
from embassay.run.sharding.source import Input, cut, find_files
from embassay.run.specs import parse
from embassay.search.retrievers.base import Retriever


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
    encoder = load_encoder(spec, Runtime(device=request.device, trust_remote_code=request.trust_remote_code))
    check_encoder(encoder)
    folder = ShardFolder(request.out)
    progress: Progress = Quiet() if quiet else Bar()
    if request.executor == "ray":
        check_cluster(request.ray_address)
    parts = _input(request, folder)
    selected = _selected(request.shards, parts)
    with folder.locked(request.shards):
        manifest = folder.open(_manifest(request, encoder, parts))
        if request.threads not in (None, manifest.threads):
            raise OutputError(
                f"{folder.path}: is made with {counted(manifest.threads, 'thread')} per process, not "
                f"{request.threads}; leave out the number of threads, or choose another folder"
            )
        to_make = _shards_to_make(folder, selected, tell)
        rows = sum(plan.rows for plan in selected)
        tell(f"{counted(rows, 'text')} in {counted(len(selected), 'shard')}; still to be made: {len(to_make):,}")
        out = request.out.resolve()
        # A plan names its file, such as a.jsonl, and not where it is: a folder can be continued after files were moved.
        tasks = [
            ShardTask(plan, parts.paths[plan.file].resolve(), out, request, manifest.fingerprint, manifest.threads)
            for plan in to_make
        ]
        made: list[Marker] = []
        restarts: list[str] = []

        def tell_of_restart(message: str) -> None:
            restarts.append(message)
            tell(message)

        executor = request.executor_with(manifest.threads)
        total = sum(plan.rows for plan in to_make)
        with (
            progress.encoding(spec.label or spec.head, total) as advance,
            closing(map_tasks(make_shard, tasks, executor, tell_of_restart)) as markers,
        ):
            for marker in markers:
                made.append(marker)
                advance(marker.rows)
    return _summary(folder, manifest, selected, made, len(restarts))


def check_encoder(encoder: Encoder) -> None:
    """Refuse an encoder with which shards of different runs would not fit together.

    Raises
    ------
    SpecError
        For a retriever, an encoder that learns from the texts it encodes, and a callable that cannot be told from
        another.
    """
    if isinstance(encoder, Retriever):
        raise SpecError(f"{encoder.card.spec} gives lists of documents, not vectors: there is nothing to encode")
    if encoder.card.fitted:
        raise SpecError(
            f"{encoder.name} learns from the texts that it encodes, so each shard would have other dimensions; "
            "choose an encoder with fixed vectors"
        )
    # Each encoder has a version in its spec, or files that are hashed, except a callable without a source file.
    if encoder.card.spec.startswith("python:") and not encoder.card.cached:
        raise SpecError(
            f"encoder {encoder.card.spec!r}: the callable has no source file to fingerprint; give it a version that "
            f"changes whenever its vectors change: {encoder.card.spec},version=1"
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
    return cut(paths, request.columns, request.shard_rows)


def _manifest(request: EncodeRequest, encoder: Encoder, parts: Input) -> Manifest:
    return Manifest(
        spec=encoder.card.spec,
        fingerprint=encoder.fingerprint,
        similarity=encoder.card.similarity,
        role=request.role,
        dtype=request.dtype,
        id_column=request.id,
        text_column=request.text,
        shard_rows=request.shard_rows,
        threads=request.default_threads,
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
        to_make.append(plan)
    return to_make


def _summary(
    folder: ShardFolder, manifest: Manifest, selected: Sequence[ShardPlan], made: Sequence[Marker], restarts: int
) -> Encoded:
    markers = [marker for plan in selected if (marker := folder.marker(plan))]
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


def verify(folder: ShardFolder) -> tuple[Manifest, list[tuple[ShardPlan, str]]]:
    """Read all files of a folder of shards.

    Returns
    -------
    The manifest, and each shard that is missing or damaged with what is wrong.
    """
    manifest = folder.manifest()
    checked = [(plan, folder.problem_with(plan)) for plan in manifest.shards]
    return manifest, [(plan, problem) for plan, problem in checked if problem]
