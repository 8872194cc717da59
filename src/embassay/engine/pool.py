"""Encode each distinct text once; vectors that the cache holds are read from it.

Texts are encoded by length, so that a batch holds texts of similar length, and in blocks, so that finished vectors are
kept when a run is interrupted. Where a vector depends on the batch in its last bits, texts are cut into chunks that are
the same after every restart: see ``store.ledger``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from embassay.encoders.base import Batches, BatchInvariant
from embassay.errors import EncoderError
from embassay.samples.base import Text
from embassay.types import Encoder
from embassay.vectors import VectorMatrix, Vectors, as_array, as_float32, check_finite, with_narrow_indices

BLOCK = 128
"""Texts encoded together, where an encoder does not batch by itself, and kept together."""
CHUNK = 1_024
"""Texts that are encoded again together after a kill, where a vector depends on its batch in the last bits."""
Vector = NDArray[np.float32]
Rows = Sequence[Vector | None]


class Cache(Protocol):
    """Keeps vectors by fingerprint, role and text."""

    def get(self, fingerprint: str, texts: Sequence[Text]) -> Rows:
        """Return the vector of each text, None where there is none."""
        ...

    def put(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Keep the (n, d) vectors of the texts."""
        ...


class Ledger(Protocol):
    """Remembers from one start of a run to the next what was encoded together."""

    def had_vectors(self, now: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return (n,) which texts had a vector when the run first started; ``now`` if that is now."""
        ...

    def holds(self, chunk: int, rows: Rows) -> bool:
        """Say whether these are the vectors that an earlier start has made of a chunk, all of them."""
        ...

    def finish(self, chunk: int, rows: Sequence[Vector]) -> None:
        """Remember the vectors of a chunk."""
        ...


@dataclass(frozen=True)
class Effort:
    """What encoding took.

    Attributes
    ----------
    texts, encoded
        Distinct texts, and those encoded now; the others were cached.
    timed, seconds
        Texts encoded on the clock, and how long it ran: the first batch is not on it, because a model may be
        loaded for it.
    """

    texts: int = 0
    encoded: int = 0
    timed: int = 0
    seconds: float = 0.0

    def __add__(self, other: Effort) -> Effort:
        """Add up two efforts."""
        return Effort(
            self.texts + other.texts,
            self.encoded + other.encoded,
            self.timed + other.timed,
            self.seconds + other.seconds,
        )


def encode(
    encoder: Encoder,
    texts: Sequence[Text],
    cache: Cache | None,
    advance: Callable[[int], None],
    ledger: Callable[[], Ledger] | None = None,
) -> tuple[Vectors, Effort]:
    """Encode distinct texts, each once.

    Parameters
    ----------
    texts
        Distinct (role, text).
    cache
        Where vectors are looked up and kept, or None.
    advance
        Called with the number of texts that have become ready.
    ledger
        Opens what earlier starts of the same run have encoded; called only where it matters.

    Returns
    -------
    Vectors
        With one row for each text, in the order given.
    Effort
        What it took.

    Raises
    ------
    EncoderError
        If the encoder fails, or returns something that is not one finite vector for each text.
    """
    if not encoder.card.cached:
        cache = None
    cached: Rows = [None] * len(texts)
    if cache is not None:
        cached = cache.get(encoder.fingerprint, texts)
    ready = {text: vector for text, vector in zip(texts, cached, strict=True) if vector is not None}
    chunks = _chunks(encoder, texts, ready, ledger() if ledger and cache else None)
    remaining = sum(len(chunk.texts) for chunk in chunks)
    advance(len(texts) - remaining)
    work = _Work(encoder, cache, advance)
    for chunk in chunks:
        work.encode(chunk)
    matrix = _assemble(texts, work.texts, work.blocks, ready)
    row = {text: place for place, text in enumerate(texts)}
    effort = Effort(len(texts), remaining, work.timed, work.seconds)
    return Vectors(matrix, row, encoder.card.similarity), effort


@dataclass(frozen=True)
class _Chunk:
    """Texts that are encoded in one go; ``finish`` is called with their vectors when they are in the cache."""

    texts: list[Text]
    finish: Callable[[Sequence[Vector]], None] | None = None


def _chunks(encoder: Encoder, texts: Sequence[Text], ready: dict[Text, Vector], ledger: Ledger | None) -> list[_Chunk]:
    """Return what has to be encoded; vectors that must be made again are taken out of ``ready``."""
    missing = _by_length(text for text in texts if text not in ready)
    # A service is paid for its answers, so it is never asked twice; and vectors that no batch changes need no chunks.
    if ledger is None or encoder.card.remote or (missing and _is_batch_invariant(encoder)):
        return [_Chunk(missing)] if missing else []

    ready_now = np.array([text in ready for text in texts], dtype=bool)
    ready_at_first = set(compress(texts, ledger.had_vectors(ready_now)))
    first_missing = _by_length(text for text in texts if text not in ready_at_first)
    chunks = []
    for number, start in enumerate(range(0, len(first_missing), CHUNK)):
        chunk = first_missing[start : start + CHUNK]
        if ledger.holds(number, [ready.get(text) for text in chunk]):
            continue
        for text in chunk:
            ready.pop(text, None)
        chunks.append(_Chunk(chunk, partial(ledger.finish, number)))
    # Vectors that were there at first and are gone by now: the cache was cleared, or dropped them to make room.
    lost = _by_length(text for text in ready_at_first if text not in ready)
    if lost:
        chunks.append(_Chunk(lost))
    return chunks


def _is_batch_invariant(encoder: Encoder) -> bool:
    with _failing():
        return isinstance(encoder, BatchInvariant) and encoder.batch_invariant


def _by_length(texts: Iterable[Text]) -> list[Text]:
    return sorted(texts, key=lambda text: (text[0], len(text[1]), text[1]))


class _Work:
    """Encodes chunk after chunk, on the clock, and caches what is finished, some hundred vectors at a time.

    Attributes
    ----------
    texts, blocks
        The texts that are encoded, and their vectors, block by block, in the same order.
    seconds, timed
        How long the encoder took, and for how many of the texts: those of its first block are not timed.
    """

    def __init__(self, encoder: Encoder, cache: Cache | None, advance: Callable[[int], None]):
        self._encoder, self._cache, self._advance = encoder, cache, advance
        self.texts, self.blocks = list[Text](), list[VectorMatrix]()
        self.seconds, self.timed = 0.0, 0
        # Encoded, but not yet written to the cache.
        self._uncached_texts, self._uncached_rows = list[Text](), list[VectorMatrix]()

    def encode(self, chunk: _Chunk) -> None:
        """Encode the texts of a chunk."""
        vectors: dict[Text, Vector] = {}
        start = time.perf_counter()
        try:
            for texts, rows in _encoded(self._encoder, chunk.texts):
                # A model may be loaded for the first texts: they are not on the clock.
                if self.blocks:
                    self.seconds += time.perf_counter() - start
                    self.timed += len(texts)
                self.texts += texts
                self.blocks.append(rows)
                if not issparse(rows):
                    self._put(texts, rows)
                    if chunk.finish:
                        vectors.update(zip(texts, rows, strict=True))
                self._advance(len(texts))
                start = time.perf_counter()
        finally:
            self._flush()
        if chunk.finish and len(vectors) == len(chunk.texts):
            chunk.finish([vectors[text] for text in chunk.texts])

    def _put(self, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        self._uncached_texts += texts
        self._uncached_rows.append(rows)
        if len(self._uncached_texts) >= BLOCK:
            self._flush()

    def _flush(self) -> None:
        texts, rows = self._uncached_texts, self._uncached_rows
        self._uncached_texts, self._uncached_rows = [], []
        # Vectors of different lengths are an error, which is raised when they are put together.
        if self._cache is not None and texts and len({part.shape[1] for part in rows}) == 1:
            self._cache.put(self._encoder.fingerprint, texts, np.concatenate(rows))


def _encoded(encoder: Encoder, texts: list[Text]) -> Iterator[tuple[list[Text], VectorMatrix]]:
    """Yield texts and their vectors as they are ready: by the encoder's own batches, else block by block.

    An encoder may have ``batches(texts, role)``, which yields (places in texts, their vectors) and is given all texts
    of a role at once, to tokenise and sort as suits it.
    """
    if not isinstance(encoder, Batches):
        for block in _blocks(texts):
            with _failing():
                rows = encoder.encode([text for _, text in block], block[0][0])
            yield block, _checked(rows, block)
        return
    for role in dict.fromkeys(role for role, _ in texts):
        texts_of_role = [text for text in texts if text[0] == role]
        iterator = encoder.batches([text for _, text in texts_of_role], role)
        while True:
            with _failing():
                batch = next(iterator, None)
            if batch is None:
                break
            places, rows = batch
            block = [texts_of_role[place] for place in places]
            yield block, _checked(rows, block)


def _blocks(texts: list[Text]) -> Iterator[list[Text]]:
    """Cut into blocks of one role; the very first holds one text."""
    start = 0
    while start < len(texts):
        end = start + (BLOCK if start else 1)
        block = [text for text in texts[start:end] if text[0] == texts[start][0]]
        yield block
        start += len(block)


@contextmanager
def _failing() -> Iterator[None]:
    """Turn what an encoder raises into an EncoderError of one line."""
    try:
        yield
    except EncoderError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())
        raise EncoderError(f"{type(error).__name__}: {reason}") from error


def _checked(returned: object, block: Sequence[Text]) -> VectorMatrix:
    """Return what an encoder gave as float32: one finite vector for each text."""
    texts = [text for _, text in block]
    with _failing():
        rows = as_array(returned)
        if np.iscomplexobj(rows):
            raise EncoderError("the encoder returned complex numbers")
        rows = as_float32(rows, texts)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EncoderError(
            f"the encoder returned shape {rows.shape} for {_number(len(texts), 'text')}, not ({len(texts)}, d)"
        )
    if rows.shape[0] != len(texts):
        raise EncoderError(f"the encoder returned {_number(rows.shape[0], 'vector')} for {_number(len(texts), 'text')}")
    check_finite(rows, texts)
    return rows


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _assemble(
    texts: Sequence[Text], encoded: Sequence[Text], blocks: Sequence[VectorMatrix], ready: dict[Text, Vector]
) -> VectorMatrix:
    """Put the encoded blocks and the cached vectors into one matrix, in the order of ``texts``."""
    widths = {block.shape[1] for block in blocks}
    widths.update(len(vector) for vector in ready.values())
    if len(widths) > 1:
        raise EncoderError(f"vectors of different lengths: {', '.join(map(str, sorted(widths)))}")
    if blocks and issparse(blocks[0]):
        row = {text: place for place, text in enumerate(encoded)}
        return with_narrow_indices(vstack(blocks, format="csr")[[row[text] for text in texts]])
    matrix = np.empty((len(texts), widths.pop() if widths else 0), dtype=np.float32)
    row = {text: place for place, text in enumerate(texts)}
    if blocks:
        matrix[[row[text] for text in encoded]] = np.concatenate(blocks)
    for text, vector in ready.items():
        matrix[row[text]] = vector
    return matrix
