"""Robustness of an encoder's vectors to the batch, and the time of a text alone.

Random texts are encoded again, at most a sixth as many as the run has encoded. The values are written to
``run.json`` and shown in the report's list of encoders; they are not results of a diagnostic.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from embassay.core.randomness import generator
from embassay.core.samples.base import Text
from embassay.core.types import Encoder
from embassay.core.vectors import Vectors
from embassay.models.base import adopted
from embassay.stats.geometry.closeness import paired_cosine

ALONE = 32
"""The most texts that are encoded one by one."""
TIMED = 9
"""The texts that are encoded one by one to be timed."""
SHARE = 1 / 6
"""The most texts that may be encoded again to find a drift, as a share of those that the run has encoded."""
ALARMING = 0.01
"""A drift of at least this gets a note. Rounding changes a vector by at most 1e-6, half precision by about 1e-3."""


@dataclass(frozen=True)
class Robustness:
    """The results of the checks.

    Attributes
    ----------
    sampled
        The number of texts that were encoded again.
    drift
        The largest distance 1 − cosine between the vectors of a text encoded alone and encoded with others; 0 is best.
    notes
        Warnings about the values.
    """

    sampled: int
    drift: float
    notes: tuple[str, ...] = ()


def check_robustness(encoder: Encoder, vectors: Vectors, seed: int, encoded: int) -> Robustness | None:
    """Check random texts that an encoder has just encoded; None for sparse vectors and for few texts.

    Parameters
    ----------
    encoded
        The number of texts that this run encoded; the others were cached.
    """
    texts = list(vectors.row)
    sampled = min(ALONE, int(SHARE * encoded), len(texts))
    if issparse(vectors.matrix) or not sampled:
        return None
    if adopted(encoder).batch_invariant():
        # Its vectors are the same in every batch, bit by bit.
        return Robustness(0, 0.0)
    places = generator(seed, "robustness").permutation(len(texts))[:sampled]
    alone = [np.asarray(encoder.encode([text], role)) for role, text in (texts[place] for place in places)]
    distance = 1 - paired_cosine(np.concatenate(alone), vectors.matrix[places])
    # A row of zeros has no cosine.
    drift = float(distance[~np.isnan(distance)].max(initial=0.0))
    notes: tuple[str, ...] = ()
    if drift >= ALARMING:
        notes = (
            "a text's vector depends on the other texts of its batch: the vectors of a text encoded alone and encoded "
            f"with others have a drift (1 − cosine) of up to {drift:.2g}; other batches would give other scores",
        )
    return Robustness(sampled, drift, notes)


def milliseconds_alone(encoder: Encoder, texts: Sequence[Text]) -> float:
    """Return the median time of a text encoded alone, of the first few texts, in milliseconds."""
    times = []
    for role, text in texts[:TIMED]:
        start = time.perf_counter()
        encoder.encode([text], role)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times))
