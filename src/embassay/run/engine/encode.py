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
from scipy.sparse import issparse, vstack

from embassay.core.errors import EncoderError, reason_of
from embassay.core.grouping import grouped
from embassay.core.samples.base import Role, Text
from embassay.core.types import Encoder
from embassay.core.vectors import VectorMatrix, Vectors, checked_vectors, with_narrow_indices
from embassay.models.base import FullEncoder, adopted, encoder_of_vectors, key_in_cache
from embassay.run.cache.cache import VectorCache

BLOCK = 128
"""The number of texts that are encoded together, if the encoder makes no batches itself."""
CHUNK = 1_024
"""The number of texts that are encoded and cached together."""
Block = tuple[list[Text], VectorMatrix]
"""Texts and their (n, d) vectors."""


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
    cached = cache.get(key_in_cache(encoder), texts) if cache else []
    stored = {text: vector for text, vector in zip(texts, cached, strict=False) if vector is not None}
    advance(len(stored))
    # By role, then by length, then alphabetically.
    missing = sorted(set(texts) - stored.keys(), key=lambda text: (text[0], len(text[1]), text[1]))
    blocks: list[Block] = []
    if missing:
        with as_encoder_error():
            model.prepare()
            blocks += _encode_all(model, missing, cache, advance)
    blocks += [([text], vector[None]) for text, vector in stored.items()]
    row = {text: place for place, text in enumerate(texts)}
    return Vectors(_matrix(row, blocks), row, encoder.card.similarity), len(missing)


def _encode_all(
    encoder: FullEncoder, texts: list[Text], cache: VectorCache | None, advance: Callable[[int], None]
) -> Iterator[Block]:
    """Encode sorted texts, cache their vectors, and yield them."""
    # The answers of a service cost money, so each is kept, also if no batch gives the same answer.
    keeps_parts = encoder.card.remote or encoder.batch_invariant()
    for first in range(0, len(texts), CHUNK):
        blocks: list[Block] = []
        is_whole = False
        try:
            for block in _encoded(encoder, texts[first : first + CHUNK]):
                blocks.append(block)
                advance(len(block[0]))
            is_whole = True
        finally:
            if is_whole or keeps_parts:
                _store(encoder, blocks, cache)
        yield from blocks


def _store(encoder: Encoder, blocks: Sequence[Block], cache: VectorCache | None) -> None:
    """Cache the vectors of blocks, except sparse ones; different lengths are an error later."""
    if cache is not None and len({rows.shape[1] for _, rows in blocks}) == 1 and not issparse(blocks[0][1]):
        in_order = [text for block, _ in blocks for text in block]
        cache.put(key_in_cache(encoder), in_order, np.concatenate([rows for _, rows in blocks]))


def _encoded(encoder: FullEncoder, texts: list[Text]) -> Iterator[Block]:
    """Yield sorted texts and their vectors as they are ready: from the encoder's own batches, or block by block."""
    for role, group in groupby(texts, key=lambda text: text[0]):
        contents = [content for _, content in group]
        for places, returned in encoder.batches(contents, role) or _blocks(encoder, contents, role):
            block = [contents[place] for place in places]
            rows = checked_vectors(returned, block)
            yield [(role, content) for content in block], rows


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


def _matrix(row: dict[Text, int], blocks: Sequence[Block]) -> VectorMatrix:
    """Put the vectors of blocks into one matrix, each text in its row."""
    widths = {rows.shape[1] for _, rows in blocks}
    if len(widths) > 1:
        raise EncoderError(f"vectors of different lengths: {', '.join(map(str, sorted(widths)))}")
    if blocks and issparse(blocks[0][1]):
        order = np.argsort([row[text] for texts, _ in blocks for text in texts])
        return with_narrow_indices(vstack([rows for _, rows in blocks], format="csr")[order])
    matrix = np.empty((len(row), max(widths, default=0)), dtype=np.float32)
    for texts, rows in blocks:
        matrix[[row[text] for text in texts]] = rows
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
