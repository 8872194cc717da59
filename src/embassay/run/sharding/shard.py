"""One shard: read its texts, encode each distinct one once, reduce the precision, write the files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import EncoderError, quoted
from embassay.core.samples.base import Text
from embassay.core.shards.shards import Dtype, Marker, ShardFolder, ShardPlan, ShardRows, text_hash
from embassay.core.types import Encoder, Runtime
from embassay.core.vectors import dense_rows
from embassay.run.engine.encode import encode
from embassay.run.resolve import load_encoder
from embassay.run.sharding.request import EncodeRequest
from embassay.run.sharding.source import read_shard
from embassay.run.specs import parse
from embassay.stats.geometry.closeness import dense_blocks, paired_cosine

LARGEST_INT8 = 127
MINIMUM_COSINE = 0.95
"""Of a stored vector with the float32 one. Rounding alone stays far above it: int8 costs less than 0.03 in 4,096
dimensions. Below it, numbers were too small for the dtype."""
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ShardTask:
    """Everything that a process needs to make a shard.

    Attributes
    ----------
    source, folder
        The file that holds the texts, and the folder of the shards: whole paths, since another machine may have another
        working directory.
    fingerprint
        What the encoder must have: its files may have changed since the manifest was written.
    """

    plan: ShardPlan
    source: Path
    folder: Path
    request: EncodeRequest
    fingerprint: str
    threads: int


def make_shard(task: ShardTask) -> Marker:
    """Make one shard, and return its marker.

    Raises
    ------
    SourceError
        If the input has changed since it was cut.
    EncoderError
        If the encoder fails, or is not the one of the manifest.
    OutputError
        If a file cannot be written.
    """
    request = task.request
    encoder = _encoder(request.encoder, request.device, request.trust_remote_code)
    if encoder.fingerprint != task.fingerprint:
        raise EncoderError(
            f"the encoder's files have changed while it encoded (fingerprint {task.fingerprint}, now "
            f"{encoder.fingerprint}); encode into another folder"
        )
    ids, texts = read_shard(task.source, request.columns, task.plan)
    distinct = list(dict.fromkeys(texts))
    vectors = _encoded(encoder, distinct, task)
    stored, scale = reduced(vectors, request.dtype)
    loss = precision(vectors, stored, scale)
    if loss.lowest_cosine < MINIMUM_COSINE:
        raise EncoderError(
            f"{request.dtype} cannot hold the vector of {quoted(distinct[loss.worst_row])}, whose numbers are too "
            "small or too large: the cosine of the stored vector with the float32 vector is "
            f"{loss.lowest_cosine:.3f}; use float32 and another folder"
        )
    # ``stored`` has one row for each distinct text, the shard one for each text.
    place_of_text = {text: place for place, text in enumerate(distinct)}
    places = np.array([place_of_text[text] for text in texts])
    content = ShardRows(
        vectors=stored[places],
        scale=None if scale is None else scale[places],
        ids=ids,
        text_hashes=[text_hash(text) for text in texts],
        distinct=len(distinct),
        lowest_cosine=loss.lowest_cosine,
        largest_error=loss.largest_error,
    )
    return ShardFolder(task.folder).write_shard(task.plan, content)


def _encoded(encoder: Encoder, texts: list[str], task: ShardTask) -> Floats:
    """Return the (n, d) float32 vectors of n distinct texts; an error names the encoder."""
    texts_in_role: list[Text] = [(task.request.role, text) for text in texts]
    try:
        with limited_threads(task.threads):
            vectors, _ = encode(encoder, texts_in_role)
    except EncoderError as error:
        spec = parse(task.request.encoder, "encoder")
        raise EncoderError(f"encoder {spec.label or spec.head!r}: {error}") from error
    return dense_rows(vectors.matrix)


@cache
def _encoder(spec: str, device: str, trusted: bool) -> Encoder:
    """Load an encoder; once in each process."""
    return load_encoder(spec, Runtime(device=device, trust_remote_code=trusted))


@contextmanager
def limited_threads(count: int) -> Iterator[None]:
    """Let numpy and torch use this many threads: with another number the last digits of a sum may differ."""
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(count)
    with threadpool_limits(limits=count):
        yield


def reduced(rows: Floats, dtype: Dtype) -> tuple[NDArray[Any], Floats | None]:
    """Convert float32 vectors to the dtype in which they are stored; :func:`restored_rows` is the way back.

    Parameters
    ----------
    rows
        (n, d) finite.

    Returns
    -------
    The (n, d) stored vectors, and for int8 the (n,) scales: what each row is multiplied by to restore it. A number
    that is too large for float16 becomes infinite; :func:`precision` finds it.
    """
    if dtype == "float32":
        return rows, None
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return rows.astype(np.float16), None
    largest = np.abs(rows).max(axis=1, initial=0.0)
    # A row of zeros stays one with any scale; 1 avoids a division by 0.
    scale = np.where(largest > 0, largest / LARGEST_INT8, 1).astype(np.float32)
    # If the largest coordinate is near the smallest positive float32, a 127th of it is rounded: to 0, which cannot be
    # divided by, or to a smaller number, with which quotients exceed 127.
    scale = np.maximum(scale, np.finfo(np.float32).smallest_subnormal)
    quotients = np.rint(rows / scale[:, None])
    return np.clip(quotients, -LARGEST_INT8, LARGEST_INT8).astype(np.int8), scale


def restored_rows(stored: NDArray[Any], scale: Floats | None) -> Floats:
    """Return (n, d) float32 vectors from those that are stored."""
    rows = stored.astype(np.float32)
    return rows if scale is None else rows * scale[:, None]


@dataclass(frozen=True)
class StoredPrecision:
    """How near stored vectors are to the float32 ones.

    Attributes
    ----------
    lowest_cosine
        Of a stored vector with the float32 one, in [-1, 1]; 0 for a vector that became zeros or infinite. 1 for
        float32.
    largest_error
        The largest difference in a coordinate as a share of the vector's length; 0 for float32.
    worst_row
        The row with the lowest cosine.
    """

    lowest_cosine: float = 1.0
    largest_error: float = 0.0
    worst_row: int = 0


def precision(rows: Floats, stored: NDArray[Any], scale: Floats | None) -> StoredPrecision:
    """Return the worst cosine and the worst error of (n, d) stored vectors against the float32 ones.

    A vector of zeros counts as exact.
    """
    if stored.dtype == np.float32:
        return StoredPrecision()
    restored = restored_rows(stored, scale)
    # A row with a number that became infinite counts like one that became zeros.
    restored[~np.isfinite(restored).all(axis=1)] = 0
    cosines = np.where(rows.any(axis=1), np.nan_to_num(paired_cosine(rows, restored)), 1.0)
    largest_error = 0.0
    for _, (exact, kept) in dense_blocks(rows, restored):
        lengths = np.linalg.norm(exact, axis=1)
        errors = np.abs(exact - kept).max(axis=1) / np.where(lengths > 0, lengths, 1.0)
        largest_error = max(largest_error, float(errors.max()))
    worst = int(cosines.argmin())
    return StoredPrecision(float(cosines[worst]), largest_error, worst)
