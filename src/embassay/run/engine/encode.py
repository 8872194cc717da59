"""Encode each distinct text once; vectors in the cache are read from it.

Texts are sorted by length, so that a batch has texts of similar length. They are encoded in blocks, so that finished
vectors are kept if a run is interrupted. If the last bits of a vector depend on its batch, a chunk of texts is cached
whole or not at all: so a run that is started again encodes the same chunks that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby

import numpy as np
from scipy.sparse import issparse, safely_cast_index_arrays, vstack

from embassay.core.errors import EncoderError, reason_of
from embassay.core.grouping import grouped
from embassay.core.samples.base import Role, Text
from embassay.core.types import Encoder
from embassay.core.vectors import VectorMatrix, Vectors
from embassay.models.arrays import checked_vectors
from embassay.models.base import FullEncoder, adopted, encoder_of_vectors, key_in_cache
from embassay.run.cache.cache import VectorCache

BLOCK = 128
"""The number of texts that are encoded together, if the encoder makes no batches itself."""
CHUNK = 1_024
"""The number of texts that are encoded and cached together."""
Block = tuple[Sequence[int], VectorMatrix]
"""The places of n texts among all texts, and their (n, d) vectors."""


def encode(
    encoder: Encoder,
    texts: Sequence[Text],
    cache: VectorCache | None = None,
    advance: Callable[[int], None] = lambda done: None,
) -> tuple[Vectors, int]:
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

    Returns
    -------
    Vectors
        With one row for each text, in the order given.
    int
        How many of them were encoded; the others were cached.

    Raises
    ------
    EncoderError
        If the encoder fails, or returns something that is not one finite vector for each text.
    """
    model, full = adopted(encoder), encoder_of_vectors(encoder)
    if full is not encoder:
        vectors, encoded = encode(full, texts, cache, advance)
        with as_encoder_error():
            matrix = model.derive(vectors.matrix)
        # The similarity is no part of a fingerprint: encoders that compare otherwise may share their vectors.
        return replace(vectors, matrix=matrix, similarity=encoder.card.similarity), encoded
    if not encoder.card.cached:
        cache = None
    cached = cache.get(key_in_cache(encoder), texts) if cache else [None] * len(texts)
    missing = [place for place, vector in enumerate(cached) if vector is None]
    # By role, then by length, then alphabetically.
    missing.sort(key=lambda place: (texts[place][0], len(texts[place][1]), texts[place][1]))
    advance(len(texts) - len(missing))
    blocks: list[Block] = [([place], vector[None]) for place, vector in enumerate(cached) if vector is not None]
    if missing:
        with as_encoder_error():
            model.prepare()
            blocks += _encode_all(model, texts, missing, cache, advance)
    row = {text: place for place, text in enumerate(texts)}
    return Vectors(_matrix(len(texts), blocks), row, encoder.card.similarity), len(missing)


def _encode_all(
    encoder: FullEncoder,
    texts: Sequence[Text],
    places: Sequence[int],
    cache: VectorCache | None,
    advance: Callable[[int], None],
) -> Iterator[Block]:
    """Encode the texts at some places, which are sorted, cache their vectors, and yield them."""
    # The answers of a service cost money, so each is kept, also if no batch gives the same answer.
    keeps_parts = encoder.card.remote or encoder.batch_invariant()
    for first in range(0, len(places), CHUNK):
        blocks: list[Block] = []
        is_whole = False
        try:
            for block in _encoded(encoder, texts, places[first : first + CHUNK]):
                blocks.append(block)
                advance(len(block[0]))
            is_whole = True
        finally:
            # Sparse vectors are not cached; vectors of different lengths are an error later.
            lengths = {rows.shape[1] for _, rows in blocks}
            if cache and (is_whole or keeps_parts) and len(lengths) == 1 and not issparse(blocks[0][1]):
                in_order = [texts[place] for block_places, _ in blocks for place in block_places]
                cache.put(key_in_cache(encoder), in_order, np.concatenate([rows for _, rows in blocks]))
        yield from blocks


def _encoded(encoder: FullEncoder, texts: Sequence[Text], places: Sequence[int]) -> Iterator[Block]:
    """Yield sorted places and vectors as they are ready: from the encoder's own batches, or block by block."""
    for role, group in groupby(places, key=lambda place: texts[place][0]):
        of_role = list(group)
        contents = [texts[place][1] for place in of_role]
        for batch, returned in encoder.batches(contents, role) or _blocks(encoder, contents, role):
            rows = checked_vectors(returned, [contents[number] for number in batch])
            yield [of_role[number] for number in batch], rows


def _blocks(encoder: Encoder, texts: list[str], role: Role) -> Iterator[tuple[Sequence[int], VectorMatrix]]:
    """Yield the places of texts of one role, block by block, and their vectors."""
    for start in range(0, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        yield range(start, start + len(block)), encoder.encode(block, role)


@contextmanager
def as_encoder_error() -> Iterator[None]:
    """Raise whatever an encoder or retriever raises as an EncoderError: it may be of another package."""
    try:
        yield
    except EncoderError:
        raise
    except (Exception, SystemExit) as error:
        raise EncoderError(reason_of(error)) from error


def _matrix(number: int, blocks: Sequence[Block]) -> VectorMatrix:
    """Put the vectors of blocks into one matrix, those of each text in the row of its place."""
    widths = {rows.shape[1] for _, rows in blocks}
    if len(widths) > 1:
        raise EncoderError(f"vectors of different lengths: {', '.join(map(str, sorted(widths)))}")
    if blocks and issparse(blocks[0][1]):
        order = np.argsort([place for places, _ in blocks for place in places])
        sparse = vstack([rows for _, rows in blocks], format="csr")[order]
        # liblinear accepts 32-bit indices only.
        sparse.indices, sparse.indptr = safely_cast_index_arrays(sparse, np.int32)
        return sparse
    matrix = np.empty((number, max(widths, default=0)), dtype=np.float32)
    for places, rows in blocks:
        matrix[places] = rows
    return matrix


def tokens_of(texts: Iterable[Text], count: Callable[[Sequence[str], Role], Iterable[int] | None]) -> dict[Text, int]:
    """Return the tokens of distinct (role, text).

    Parameters
    ----------
    count
        Returns the (n,) tokens of n texts of a role; None where they are not known, and these texts are left out.
    """
    tokens: dict[Text, int] = {}
    for role, of_role in grouped(texts, lambda text: text[0]).items():
        counts = count([text for _, text in of_role], role)
        if counts is not None:
            tokens |= zip(of_role, map(int, counts), strict=True)
    return tokens
