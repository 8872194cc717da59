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

from embassay.engine.pool import encode
from embassay.errors import EncoderError
from embassay.run.resolve import load_encoder
from embassay.run.specs import Spec
from embassay.samples.base import Role, Text
from embassay.sharding.source import Columns, read_shard
from embassay.store.shards import Dtype, Marker, ShardFolder, ShardPlan, ShardRows, text_hash
from embassay.types import Encoder, Runtime

SAMPLE = 1_000
"""Vectors of a shard that are compared with the float32 ones, at most."""
LARGEST_INT8 = 127
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ShardTask:
    """Everything that a process needs to make a shard.

    Attributes
    ----------
    spec
        Of the encoder, as it was given.
    fingerprint
        What the encoder must have: its files may have changed since the manifest was written.
    trusted
        Whether the encoder may run code from its repository.
    """

    plan: ShardPlan
    source: Path
    folder: Path
    spec: Spec
    fingerprint: str
    role: Role
    dtype: Dtype
    columns: Columns
    threads: int
    device: str
    trusted: bool


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
    encoder = _encoder(task.spec.head, tuple(sorted(task.spec.options.items())), task.device, task.trusted)
    if encoder.fingerprint != task.fingerprint:
        raise EncoderError(
            f"the encoder has changed since the first shard (fingerprint {task.fingerprint}, now "
            f"{encoder.fingerprint}); encode into another folder"
        )
    ids, texts = read_shard(task.source, task.columns, task.plan)
    distinct: list[Text] = [(task.role, text) for text in dict.fromkeys(texts)]
    with limited_threads(task.threads):
        vectors, _ = encode(encoder, distinct, None, lambda done: None)
    matrix = vectors.matrix
    dense = np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float32)
    row_of_text = {text: row for row, (_, text) in enumerate(distinct)}
    rows = dense[[row_of_text[text] for text in texts]]
    stored, scale = reduced(rows, task.dtype)
    sample = slice(0, SAMPLE)
    restored = restored_rows(stored[sample], None if scale is None else scale[sample])
    lowest_cosine, largest_error = precision(rows[sample], restored)
    content = ShardRows(
        vectors=stored,
        scale=scale,
        ids=ids,
        text_hashes=[text_hash(text) for text in texts],
        distinct=len(distinct),
        sampled=len(rows[sample]),
        lowest_cosine=lowest_cosine,
        largest_error=largest_error,
    )
    return ShardFolder(task.folder).write_shard(task.plan, content)


@cache
def _encoder(head: str, options: tuple[tuple[str, Any], ...], device: str, trusted: bool) -> Encoder:
    """Load an encoder; once in each process."""
    return load_encoder(Spec(head, options=dict(options)), Runtime(device=device, trust_remote_code=trusted))


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
    """Return vectors in a dtype with fewer bits, and for int8 what each row is multiplied by.

    Parameters
    ----------
    rows
        (n, d) finite.

    Raises
    ------
    EncoderError
        If float16 cannot hold a coordinate.
    """
    if dtype == "float32":
        return rows, None
    if dtype == "float16":
        half = rows.astype(np.float16)
        if not np.isfinite(half).all():
            raise EncoderError("a coordinate is too large for float16; use float32 or int8")
        return half, None
    largest = np.abs(rows).max(axis=1, initial=0.0)
    # A row of zeros stays one, whatever it is multiplied by.
    scale = np.where(largest > 0, largest / LARGEST_INT8, 1).astype(np.float32)
    return np.rint(rows / scale[:, None]).astype(np.int8), scale


def restored_rows(stored: NDArray[Any], scale: Floats | None) -> Floats:
    """Return (n, d) float32 vectors from those that are stored."""
    rows = stored.astype(np.float32)
    return rows if scale is None else rows * scale[:, None]


def precision(rows: Floats, restored: Floats) -> tuple[float, float]:
    """Return how near stored vectors are to the float32 ones.

    Returns
    -------
    The lowest cosine, and the largest difference in a coordinate as a share of the vector's length; 1 and 0 where there
    is nothing to compare.
    """
    exact, stored = rows.astype(np.float64), restored.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1)
    defined = lengths > 0
    if not defined.any():
        return 1.0, 0.0
    exact, stored, lengths = exact[defined], stored[defined], lengths[defined]
    stored_lengths = np.linalg.norm(stored, axis=1)
    # A vector that is stored as zeros has the cosine 0.
    stored_lengths[stored_lengths == 0] = 1
    products = np.einsum("ij,ij->i", exact, stored)
    cosines = products / (lengths * stored_lengths)
    errors = np.abs(exact - stored).max(axis=1) / lengths
    # Rounding may leave a cosine just above 1.
    lowest_cosine = min(float(cosines.min()), 1.0)
    return lowest_cosine, float(errors.max())
