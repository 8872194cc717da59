"""Each distinct text once: one pool of texts for an encoder, read from the cache where it is there.

Texts are worked off by length, so that a batch holds texts of like length, and in blocks, so that what is
finished is kept when a run is interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from embassay.errors import EncoderError
from embassay.samples import Text
from embassay.types import Encoder
from embassay.vectors import Vectors, as_array, as_float32, check_finite

BLOCK = 128
"""Texts encoded together, where an encoder does not batch by itself, and kept together."""
Rows = Sequence[NDArray[np.float32] | None]


class Cache(Protocol):
    """Keeps vectors by fingerprint, role and text."""

    def get(self, fingerprint: str, texts: Sequence[Text]) -> Rows:
        """Return the vector of each text, None where there is none."""
        ...

    def put(self, fingerprint: str, texts: Sequence[Text], rows: NDArray[np.float32]) -> None:
        """Keep the (n, d) vectors of the texts."""
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
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Effort(*(mine + theirs for mine, theirs in pairs))


def encode(
    encoder: Encoder, texts: Sequence[Text], cache: Cache | None, advance: Callable[[int], None]
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
    cache = cache if encoder.card.cached else None
    ready = dict(zip(texts, cache.get(encoder.fingerprint, texts), strict=True)) if cache else {}
    todo = sorted((t for t in texts if ready.get(t) is None), key=lambda t: (t[0], len(t[1]), t[1]))
    advance(len(texts) - len(todo))
    done, blocks, keeper = list[Text](), list[Any](), _Keeper(encoder.fingerprint if cache else "", cache)
    seconds, timed, start = 0.0, 0, time.perf_counter()
    try:
        for block, rows in _encoded(encoder, todo):
            # A model may be loaded for the first texts: they are not on the clock.
            if blocks:
                seconds, timed = seconds + time.perf_counter() - start, timed + len(block)
            done += block
            blocks.append(rows)
            keeper.add(block, rows)
            advance(len(block))
            start = time.perf_counter()
    finally:
        keeper.flush()  # what is finished is kept, whatever has happened
    matrix = _assemble(texts, done, blocks, ready)
    row = {text: place for place, text in enumerate(texts)}
    return Vectors(matrix, row, encoder.card.similarity), Effort(len(texts), len(todo), timed, seconds)


class _Keeper:
    """Puts vectors into the cache, some hundred at a time."""

    def __init__(self, fingerprint: str, cache: Cache | None):
        self._fingerprint, self._cache = fingerprint, cache
        self._texts, self._rows = list[Text](), list[NDArray[np.float32]]()

    def add(self, texts: Sequence[Text], rows: Any) -> None:
        if self._cache is None or issparse(rows):
            return
        self._texts += texts
        self._rows.append(rows)
        if len(self._texts) >= BLOCK:
            self.flush()

    def flush(self) -> None:
        texts, rows = self._texts, self._rows
        self._texts, self._rows = [], []
        if self._cache is not None and texts and len({part.shape[1] for part in rows}) == 1:
            self._cache.put(self._fingerprint, texts, np.concatenate(rows))


def _encoded(encoder: Encoder, todo: list[Text]) -> Iterator[tuple[list[Text], Any]]:
    """Yield texts and their vectors as they are ready: by the encoder's own batches, else block by block.

    An encoder may have ``batches(texts, role)``, which yields (places in texts, their vectors) and is given all texts
    of a role at once, to tokenise and sort as suits it.
    """
    batches: Any = getattr(encoder, "batches", None)
    if batches is None:
        for block in _blocks(todo):
            with _failing():
                rows = encoder.encode([text for _, text in block], block[0][0])
            yield block, _checked(rows, block)
        return
    for role in dict.fromkeys(role for role, _ in todo):
        own = [text for text in todo if text[0] == role]
        found = batches([text for _, text in own], role)
        while (batch := _next(found)) is not None:
            block = [own[place] for place in batch[0]]
            yield block, _checked(batch[1], block)


def _next(batches: Iterator[Any]) -> Any:
    """Return the next batch, None at the end; whatever goes wrong is the encoder's failure."""
    with _failing():
        return next(batches, None)


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


def _checked(rows: Any, block: Sequence[Text]) -> Any:
    """Return what an encoder gave as float32: one finite vector for each text."""
    texts = [text for _, text in block]
    with _failing():
        rows = as_array(rows)
        if np.iscomplexobj(rows):
            raise EncoderError("it returned complex numbers")
        rows = as_float32(rows, texts)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise EncoderError(f"it returned shape {rows.shape} for {_number(len(texts), 'text')}, not ({len(texts)}, d)")
    if rows.shape[0] != len(texts):
        raise EncoderError(f"it returned {_number(rows.shape[0], 'vector')} for {_number(len(texts), 'text')}")
    check_finite(rows, texts)
    return rows


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _assemble(texts: Sequence[Text], done: Sequence[Text], blocks: Sequence[Any], ready: dict[Text, Any]) -> Any:
    """Put the encoded blocks and the cached rows into one matrix, in the order of ``texts``."""
    width = {block.shape[1] for block in blocks} | {len(r) for r in ready.values() if r is not None}
    if len(width) > 1:
        raise EncoderError(f"vectors of different lengths: {', '.join(map(str, sorted(width)))}")
    if blocks and issparse(blocks[0]):
        place = {text: row for row, text in enumerate(done)}
        return vstack(blocks, format="csr")[[place[text] for text in texts]]
    matrix = np.empty((len(texts), width.pop() if width else 0), dtype=np.float32)
    place = {text: row for row, text in enumerate(texts)}
    if blocks:
        matrix[[place[text] for text in done]] = np.concatenate(blocks)
    for text, row in ready.items():
        if row is not None:
            matrix[place[text]] = row
    return matrix
