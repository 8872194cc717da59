"""Robustness of an encoder's vectors to the batch, to half precision and to the wording of prompts.

A random sample of texts is encoded again, at most a third as many as the run has encoded. The values are written to
``run.json`` and shown in the report's list of encoders; they are not results of a diagnostic.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from embassay.encoders.base import BatchInvariant, Reworded
from embassay.geometry.closeness import paired_cosine, unit_rows
from embassay.randomness import generator
from embassay.samples.base import Text
from embassay.types import Encoder
from embassay.vectors import VectorMatrix, Vectors

SAMPLE = 256
ALONE = 32
"""The most texts of the sample that are encoded one by one."""
TIMED, FEWEST_TIMED = 9, 3
"""The texts that are encoded one by one only to be timed, and the fewest times that a median is taken of."""
NEAREST = 10
SHARE = 1 / 3
"""The most texts that may be encoded again, as a share of those that the run has encoded."""
FEWEST = 2 * NEAREST
"""The fewest texts among which the ten nearest of each are compared."""
ALARMING = 0.01
"""A drift of at least this gets a note. Rounding changes a vector by at most 1e-6, half precision by about 1e-3."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Robustness:
    """The results of the checks; None where a check does not apply.

    Attributes
    ----------
    sampled
        The number of texts in the sample.
    drift
        The largest distance 1 − cosine between the vectors of a text encoded alone and encoded with others; 0 is best.
    half_ties
        The share of texts that have two equally near texts among their ten nearest in half precision (float16), but
        not in float32; 0 is best.
    prompts
        For each role with a prompt: the mean cosine between a text's vectors with the prompt and with other wordings of
        it, and the share of its ten nearest texts that are the same; 1 is best.
    reason
        Why there are no values, if a check failed.
    notes
        Warnings about the values.
    query_milliseconds
        The median time for one text encoded alone, a query where there are some.
    """

    sampled: int
    drift: float | None = None
    half_ties: float | None = None
    prompts: dict[str, dict[str, float]] | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()
    query_milliseconds: float | None = field(default=None, compare=False)


def check_robustness(
    encoder: Encoder, vectors: Vectors, texts: Sequence[Text], seed: int, encoded: int | None = None
) -> Robustness | None:
    """Check a sample of the texts that an encoder has just encoded; None for sparse vectors.

    If an encoder has the method ``reworded(role)``, it yields encoders with other wordings of that role's prompt. An
    encoder whose ``batch_invariant()`` is true gives the same vectors in every batch, bit by bit; its drift is 0.

    Parameters
    ----------
    encoded
        The number of texts that this run encoded, all by default; the others were cached.
    """
    if issparse(vectors.matrix) or len(texts) < 2:
        return None
    if encoded is None:
        encoded = len(texts)
    budget = SHARE * encoded
    sample = _draw(texts, seed)

    is_batch_invariant = isinstance(encoder, BatchInvariant) and encoder.batch_invariant()
    # An encoder without drift is encoded alone for the time of one query only.
    most = TIMED if is_batch_invariant else ALONE
    step = max(1, len(sample) // most)
    evenly_spaced = sample[::step][:most]
    # This may take half of the budget, so that the other half is for the prompts.
    alone = evenly_spaced[: int(budget / 2)]
    budget -= len(alone)
    rows, milliseconds = encode_alone(encoder, alone)
    drift: float | None = 0.0
    if not is_batch_invariant:
        drift = batch_drift(rows, alone, vectors)
    notes = []
    if drift is not None and drift >= ALARMING:
        notes.append(
            "a text's vector depends on the other texts of its batch: the vectors of a text encoded alone and "
            "encoded with others "
            f"have a drift (1 − cosine) of up to {drift:.2g}; other batches would give other scores"
        )
    return Robustness(
        sampled=len(sample),
        drift=drift,
        half_ties=half_ties(_rows(vectors, sample)),
        prompts=prompt_sensitivity(encoder, sample, vectors, budget) or None,
        notes=tuple(notes),
        query_milliseconds=milliseconds,
    )


def _draw(texts: Sequence[Text], seed: int) -> list[Text]:
    """Return a random sample of at most ``SAMPLE`` texts, in their order."""
    # "badges" is an earlier name of this module. Another name of the stream would draw other samples.
    shuffled = generator(seed, "badges").permutation(len(texts))
    return [texts[place] for place in np.sort(shuffled[:SAMPLE])]


def _rows(vectors: Vectors, texts: Sequence[Text]) -> VectorMatrix:
    """Return the (n, d) vectors of the texts."""
    return vectors.matrix[[vectors.row[text] for text in texts]]


def half_ties(rows: ArrayLike) -> float | None:
    """Return the share of rows with two of their ten nearest other rows tied in float16, but not in float32.

    None for fewer than three rows that are not zero.
    """
    units = unit_rows(np.asarray(rows, dtype=np.float64))
    units = units[~np.isnan(units).any(axis=1)]
    if len(units) < 3:
        return None
    # The cosines in descending order: ties are neighbours.
    descending = -np.sort(-_cosines_to_others(units), axis=1)
    nearest = descending[:, :NEAREST]
    tied_in_half = np.diff(nearest.astype(np.float16), axis=1) == 0
    tied_in_single = np.diff(nearest.astype(np.float32), axis=1) == 0
    tied_in_half_only = tied_in_half & ~tied_in_single
    return float(tied_in_half_only.any(axis=1).mean())


def _cosines_to_others(units: Floats) -> Floats:
    """Return the (n, n) cosines of unit vectors, with −inf on the diagonal."""
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    return np.asarray(cosines)


def encode_alone(encoder: Encoder, texts: Sequence[Text]) -> tuple[list[VectorMatrix], float | None]:
    """Return the (1, d) vector of each text encoded alone, and the median time of a query in milliseconds.

    Without queries it is that of all texts; None for fewer than ``FEWEST_TIMED``.
    """
    rows = []
    times: list[float] = []
    for role, text in texts:
        start = time.perf_counter()
        rows.append(encoder.encode([text], role))
        times.append(1000 * (time.perf_counter() - start))
    times_of_queries = [elapsed for (role, _), elapsed in zip(texts, times, strict=True) if role == "query"]
    timed = times_of_queries if len(times_of_queries) >= FEWEST_TIMED else times
    return rows, float(np.median(timed)) if len(timed) >= FEWEST_TIMED else None


def batch_drift(rows: Sequence[VectorMatrix], texts: Sequence[Text], vectors: Vectors) -> float | None:
    """Return the largest 1 − cosine between a text's vector encoded alone and with others; None if undefined.

    Parameters
    ----------
    rows
        The (1, d) vector of each text, encoded alone.
    """
    if not texts:
        return None
    cosine = paired_cosine(np.concatenate([np.asarray(row) for row in rows]), _rows(vectors, texts))
    if np.isnan(cosine).all():
        return None
    return float(max(0.0, np.nanmax(1 - cosine)))


def prompt_sensitivity(
    encoder: Encoder, sample: Sequence[Text], vectors: Vectors, budget: float
) -> dict[str, dict[str, float]]:
    """Compare, for each role, the vectors with those under other wordings of its prompt, within a budget of texts.

    Roles without other wordings, and roles for which the budget is too small, are left out.
    """
    if not isinstance(encoder, Reworded):
        return {}
    reworded = {}
    for role in dict.fromkeys(role for role, _ in sample):
        encoders = list(encoder.reworded(role))
        if encoders:
            reworded[role] = encoders

    results: dict[str, dict[str, float]] = {}
    for role, encoders in reworded.items():
        role_budget = budget / len(reworded)
        texts_of_role = [text for text in sample if text[0] == role]
        # The first wording may take half of the budget, so that a second one is possible.
        texts = texts_of_role[: int(role_budget / 2)]
        # Nearest neighbours among very few texts say nothing.
        if len(texts) < min(FEWEST, len(texts_of_role)):
            continue
        affordable = encoders[: int(role_budget / len(texts))]
        results[role] = _compare_wordings(texts, vectors, affordable)
    return results


def _compare_wordings(texts: Sequence[Text], vectors: Vectors, others: Sequence[Encoder]) -> dict[str, float]:
    """Compare the vectors of texts of one role with those under other prompts; return means over the prompts."""
    rows = np.asarray(_rows(vectors, texts), dtype=np.float64)
    role = texts[0][0]
    cosines, same_nearest = [], []
    for other in others:
        other_rows = np.asarray(other.encode([text for _, text in texts], role), dtype=np.float64)
        cosines.append(float(np.nanmean(paired_cosine(rows, other_rows))))
        same_nearest.append(_same_nearest(rows, other_rows))
    return {
        "cosine": float(np.mean(cosines)),
        "same_nearest": float(np.mean(same_nearest)),
        "wordings": float(len(others)),
    }


def _same_nearest(first: Floats, second: Floats) -> float:
    """Return the mean share of each row's nearest other rows in the first set that are also nearest in the second."""
    number = min(NEAREST, len(first) - 1)
    if not number:
        return 1.0
    nearest, others = _nearest(first, number), _nearest(second, number)
    is_in_both = (nearest[:, :, None] == others[:, None, :]).any(axis=2)
    return float(is_in_both.mean())


def _nearest(rows: Floats, number: int) -> NDArray[np.int64]:
    """Return the (n, number) nearest other rows of each row; undefined cosines count as 0."""
    cosines = _cosines_to_others(np.nan_to_num(unit_rows(rows)))
    return np.argsort(-cosines, axis=1, kind="stable")[:, :number]
