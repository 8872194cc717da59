"""Robustness of an encoder's vectors to the batch.

Random texts are encoded again, at most a sixth as many as the run has encoded. The values are written to
``run.json`` and shown in the report's list of encoders; they are not results of a diagnostic.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import issparse

from embassay.core.randomness import generator
from embassay.core.samples.base import Text
from embassay.core.types import Encoder
from embassay.core.vectors import VectorMatrix, Vectors
from embassay.models.base import adopted
from embassay.stats.geometry.closeness import paired_cosine

ALONE = 32
"""The most texts that are encoded one by one."""
TIMED, FEWEST_TIMED = 9, 3
"""The texts that are encoded one by one only to be timed, and the fewest times that a median is taken of."""
SHARE = 1 / 6
"""The most texts that may be encoded again, as a share of those that the run has encoded."""
ALARMING = 0.01
"""A drift of at least this gets a note. Rounding changes a vector by at most 1e-6, half precision by about 1e-3."""


@dataclass(frozen=True)
class Robustness:
    """The results of the checks; None where a check does not apply.

    Attributes
    ----------
    sampled
        The number of texts that were encoded again.
    drift
        The largest distance 1 − cosine between the vectors of a text encoded alone and encoded with others; 0 is best.
    notes
        Warnings about the values.
    query_milliseconds
        The median time for one text encoded alone, a query where there are some.
    """

    sampled: int
    drift: float | None = None
    notes: tuple[str, ...] = ()
    query_milliseconds: float | None = field(default=None, compare=False)


def check_robustness(encoder: Encoder, vectors: Vectors, seed: int, encoded: int) -> Robustness | None:
    """Check random texts that an encoder has just encoded; None for sparse vectors.

    An encoder whose ``batch_invariant()`` is true gives the same vectors in every batch, bit by bit; its drift is 0.

    Parameters
    ----------
    encoded
        The number of texts that this run encoded; the others were cached.
    """
    texts = list(vectors.row)
    if issparse(vectors.matrix) or len(texts) < 2:
        return None
    is_batch_invariant = adopted(encoder).batch_invariant()
    # An encoder without drift is encoded alone for the time of one query only.
    most = min(TIMED if is_batch_invariant else ALONE, int(SHARE * encoded))
    places = generator(seed, "robustness").permutation(len(texts))[:most]
    rows, milliseconds = encode_alone(encoder, [texts[place] for place in places])
    drift = 0.0 if is_batch_invariant else None
    if rows and not is_batch_invariant:
        distance = 1 - paired_cosine(np.concatenate([np.asarray(row) for row in rows]), vectors.matrix[places])
        # A row of zeros has no cosine.
        drift = None if np.isnan(distance).all() else float(max(0.0, np.nanmax(distance)))
    notes: tuple[str, ...] = ()
    if drift is not None and drift >= ALARMING:
        notes = (
            "a text's vector depends on the other texts of its batch: the vectors of a text encoded alone and encoded "
            f"with others have a drift (1 − cosine) of up to {drift:.2g}; other batches would give other scores",
        )
    return Robustness(len(rows), drift, notes=notes, query_milliseconds=milliseconds)


def encode_alone(encoder: Encoder, texts: Sequence[Text]) -> tuple[list[VectorMatrix], float | None]:
    """Return the (1, d) vector of each text encoded alone, and the median time of a query in milliseconds.

    Without queries it is that of all texts; None for fewer than ``FEWEST_TIMED``.
    """
    rows, times = [], []
    for role, text in texts:
        start = time.perf_counter()
        rows.append(encoder.encode([text], role))
        times.append(1000 * (time.perf_counter() - start))
    of_queries = [milliseconds for (role, _), milliseconds in zip(texts, times, strict=True) if role == "query"]
    timed = of_queries if len(of_queries) >= FEWEST_TIMED else times
    return rows, float(np.median(timed)) if len(timed) >= FEWEST_TIMED else None
