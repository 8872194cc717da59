"""Encode each distinct text once; vectors in the cache are read from it.

Texts are sorted by length, so that a batch has texts of similar length. They are encoded in blocks, so that finished
vectors are kept if a run is interrupted. If the last bits of a vector depend on its batch, texts are encoded in chunks,
and a chunk is cached whole or not at all: so a run that is started again encodes the same chunks that are left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from embassay.core.errors import EncoderError
from embassay.core.formatting import counted
from embassay.core.samples.base import Role, Text
from embassay.core.types import Encoder
from embassay.core.vectors import VectorMatrix, Vectors, as_array, as_float32, check_finite, with_narrow_indices
from embassay.models.base import adopted, encoder_of_vectors, key_in_cache
from embassay.run.engine.timeline import TimeLine

BLOCK = 128
"""The number of texts that are encoded together, if the encoder makes no batches itself, and cached together."""
GROWTH = 8
"""The first blocks are smaller: a block has at most this many times the texts that are encoded already."""
CACHED = 64
"""A file of the cache gets at least one in so many of the vectors so far, so that large corpora make few files."""
CHUNK = 1_024
"""The number of texts that are encoded and cached together, if a vector depends on its batch."""
Vector = NDArray[np.float32]
Rows = Sequence[Vector | None]


class Cache(Protocol):
    """Stores vectors by fingerprint, role and text."""

    def get(self, fingerprint: str, texts: Sequence[Text]) -> Rows:
        """Return the vector of each text, None for a text that is not stored."""
        ...

    def put(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Store the (n, d) vectors of the texts."""
        ...


@dataclass(frozen=True)
class Effort:
    """The work and the time that encoding took.

    Attributes
    ----------
    texts, encoded
        The number of distinct texts, and of those that were encoded; the others were cached.
    seconds
        The time of the encoder. The first batch is not timed, because an encoder without ``prepare`` may load its model
        for it.
    """

    texts: int = 0
    encoded: int = 0
    seconds: float = 0.0

    def __add__(self, other: Effort) -> Effort:
        """Add up two efforts."""
        return Effort(
            self.texts + other.texts,
            self.encoded + other.encoded,
            self.seconds + other.seconds,
        )


def encode(
    encoder: Encoder,
    texts: Sequence[Text],
    cache: Cache | None = None,
    advance: Callable[[int], None] | None = None,
    timeline: TimeLine | None = None,
) -> tuple[Vectors, Effort]:
    """Encode distinct texts, each once.

    An encoder whose vectors follow from those of a full one encodes nothing: the full vectors are cached, and its own
    are computed from them.

    Parameters
    ----------
    texts
        Distinct (role, text).
    cache
        Where vectors are read and stored; None for no cache.
    advance
        Called with the number of texts whose vectors are ready since the last call.
    timeline
        Where the time of loading the model is counted.

    Returns
    -------
    Vectors
        With one row for each text, in the order given.
    Effort
        The work and the time.

    Raises
    ------
    EncoderError
        If the encoder fails, or returns something that is not one finite vector for each text.
    """
    full = encoder_of_vectors(encoder)
    if full is not encoder:
        vectors, effort = encode(full, texts, cache, advance, timeline)
        return derived(encoder, vectors), effort
    if not encoder.card.cached:
        cache = None
    cached: Rows = [None] * len(texts)
    if cache is not None:
        cached = cache.get(key_in_cache(encoder), texts)
    ready = {text: vector for text, vector in zip(texts, cached, strict=True) if vector is not None}
    missing = _by_length(text for text in texts if text not in ready)
    advance = advance or _ignore
    advance(len(ready))
    work = _Work(encoder, cache, advance)
    if missing:
        with (timeline or TimeLine()).during("loading"), _failing():
            adopted(encoder).prepare()
        work.encode_all(missing)
    row = {text: place for place, text in enumerate(texts)}
    matrix = _assemble(row, work.texts, work.blocks, ready)
    effort = Effort(len(texts), len(missing), work.seconds)
    return Vectors(matrix, row, encoder.card.similarity), effort


def _ignore(done: int) -> None:
    """Show no progress."""


def derived(encoder: Encoder, vectors: Vectors) -> Vectors:
    """Return an encoder's vectors from those of its full one."""
    matrix = vectors.matrix
    if encoder.card.full is not None:
        with _failing():
            matrix = adopted(encoder).derive(matrix)
    # The similarity is no part of a fingerprint: encoders that compare otherwise may share their vectors.
    return replace(vectors, matrix=matrix, similarity=encoder.card.similarity)


def _is_batch_invariant(encoder: Encoder) -> bool:
    """Return whether the encoder gives the same vectors in every batch, bit by bit."""
    with _failing():
        return adopted(encoder).batch_invariant()


def _by_length(texts: Iterable[Text]) -> list[Text]:
    """Sort texts by role, then by length, then alphabetically."""
    return sorted(texts, key=lambda text: (text[0], len(text[1]), text[1]))


class _Work:
    """Encodes texts, measures the time, and caches finished vectors.

    Attributes
    ----------
    texts, blocks
        The encoded texts, and their vectors in blocks, in the same order.
    seconds
        The time of the encoder for all but the first block.
    """

    def __init__(self, encoder: Encoder, cache: Cache | None, advance: Callable[[int], None]):
        self._encoder = encoder
        self._cache = cache
        self._advance = advance
        self.texts: list[Text] = []
        self.blocks: list[VectorMatrix] = []
        self.seconds = 0.0
        # Encoded, but not yet written to the cache.
        self._uncached_texts: list[Text] = []
        self._uncached_rows: list[VectorMatrix] = []

    def encode_all(self, texts: list[Text]) -> None:
        """Encode and cache sorted texts."""
        # The answers of a service cost money, so that each is kept, also if no batch gives the same answer.
        if self._cache is None or self._encoder.card.remote or _is_batch_invariant(self._encoder):
            try:
                self._encode(texts, in_parts=True)
            finally:
                self._flush()
            return
        for start in range(0, len(texts), CHUNK):
            self._encode(texts[start : start + CHUNK], in_parts=False)
            self._flush()

    def _encode(self, chunk: list[Text], *, in_parts: bool) -> None:
        """Encode texts together; cache their vectors in parts, each as soon as it is large enough."""
        start = time.perf_counter()
        for texts, rows in _encoded(self._encoder, chunk):
            # The model may be loaded for the first texts, so they are not timed.
            if self.blocks:
                self.seconds += time.perf_counter() - start
            self.texts += texts
            self.blocks.append(rows)
            self._uncached_texts += texts
            self._uncached_rows.append(rows)
            if in_parts and len(self._uncached_texts) >= max(BLOCK, len(self.texts) // CACHED):
                self._flush()
            self._advance(len(texts))
            start = time.perf_counter()

    def _flush(self) -> None:
        """Write the vectors that are not cached yet."""
        texts = self._uncached_texts
        rows = self._uncached_rows
        self._uncached_texts = []
        self._uncached_rows = []
        # Sparse vectors are not cached. Vectors of different lengths are an error, which :func:`_assemble` raises.
        widths = {part.shape[1] for part in rows}
        if self._cache is not None and len(widths) == 1 and not issparse(rows[0]):
            self._cache.put(key_in_cache(self._encoder), texts, np.concatenate(rows))


def _encoded(encoder: Encoder, texts: list[Text]) -> Iterator[tuple[list[Text], VectorMatrix]]:
    """Yield sorted texts and their vectors as they are ready: from the encoder's own batches, or block by block.

    An encoder may have ``batches(texts, role)``. It gets all texts of a role at once, so that it can tokenise and sort
    them, and yields (places in texts, their vectors).
    """
    done = 0
    for role in dict.fromkeys(role for role, _ in texts):
        texts_of_role = [text for text in texts if text[0] == role]
        contents = [content for _, content in texts_of_role]
        with _failing():
            iterator = adopted(encoder).batches(contents, role) or _blocks(encoder, contents, role, done)
        while True:
            with _failing():
                batch = next(iterator, None)
            if batch is None:
                break
            places, rows = batch
            block = [texts_of_role[place] for place in places]
            yield block, _checked(rows, block)
        done += len(contents)


def _blocks(encoder: Encoder, texts: list[str], role: Role, done: int) -> Iterator[tuple[Sequence[int], VectorMatrix]]:
    """Yield blocks of texts of one role, after so many of other roles, and their vectors.

    The first block has one text, so that loading a model is not timed. The next ones grow, so that a slow encoder shows
    soon that it works.
    """
    start = 0
    while start < len(texts):
        size = min(BLOCK, GROWTH * (done + start)) or 1
        block = texts[start : start + size]
        yield range(start, start + len(block)), encoder.encode(block, role)
        start += size


@contextmanager
def _failing() -> Iterator[None]:
    """Turn any error of an encoder into an EncoderError with a one-line message."""
    try:
        yield
    except EncoderError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())
        raise EncoderError(f"{type(error).__name__}: {reason}") from error


def _checked(returned: object, block: Sequence[Text]) -> VectorMatrix:
    """Return the output of an encoder as float32; raise EncoderError unless it is one finite vector for each text."""
    texts = [text for _, text in block]
    with _failing():
        rows = as_array(returned)
        if np.iscomplexobj(rows):
            raise EncoderError("the encoder returned complex numbers")
        rows = as_float32(rows, texts)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EncoderError(
            f"the encoder returned shape {rows.shape} for {counted(len(texts), 'text')}, not ({len(texts)}, d)"
        )
    if rows.shape[0] != len(texts):
        raise EncoderError(f"the encoder returned {counted(rows.shape[0], 'vector')} for {counted(len(texts), 'text')}")
    check_finite(rows, texts)
    return rows


def _assemble(
    row: dict[Text, int], encoded: Sequence[Text], blocks: Sequence[VectorMatrix], ready: dict[Text, Vector]
) -> VectorMatrix:
    """Put the encoded blocks and the cached vectors into one matrix, each text in its row."""
    widths = {block.shape[1] for block in blocks}
    widths.update(len(vector) for vector in ready.values())
    if len(widths) > 1:
        raise EncoderError(f"vectors of different lengths: {', '.join(map(str, sorted(widths)))}")

    rows = [row[text] for text in encoded]
    if blocks and issparse(blocks[0]):
        # Sparse vectors are not cached, so all texts are encoded.
        return with_narrow_indices(vstack(blocks, format="csr")[np.argsort(rows)])
    matrix = np.empty((len(row), max(widths, default=0)), dtype=np.float32)
    if blocks:
        matrix[rows] = np.concatenate(blocks)
    for text, vector in ready.items():
        matrix[row[text]] = vector
    return matrix
