"""How far an encoder's vectors can be trusted: what moves them that should not, on a seeded sample of texts.

None of this is a result: it goes into ``run.json`` and into the report's list of encoders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from embassay.geometry.closeness import paired_cosine, unit_rows
from embassay.randomness import generator
from embassay.samples import Role, Text
from embassay.types import Encoder
from embassay.vectors import Vectors

SAMPLE = 256
ALONE = 32
"""Texts of the sample that are encoded once more, one by one."""
NEAREST = 10
ALARMING = 0.01
"""The drift from which a note is due: rounding moves a vector by 1e-6 at most, half precision by about 1e-3."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Badges:
    """What was found; None where it does not apply.

    Attributes
    ----------
    sampled
        How many texts it rests on.
    drift
        The largest distance 1 − cosine of a text's vector encoded alone and among others; 0 is best.
    half_ties
        The share of texts of whose ten nearest two are exactly as near in half precision (float16), but not in
        float32; 0 is best.
    prompts
        For each role that has a prompt: the mean cosine of a text's vectors under the prompt and under other wordings
        of it, and the share of its ten nearest texts that stay; 1 is best.
    reason
        Why there is nothing, where looking went wrong.
    notes
        What a reader of the figures has to know.
    """

    sampled: int
    drift: float | None = None
    half_ties: float | None = None
    prompts: dict[str, dict[str, float]] | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()


def badges(encoder: Encoder, vectors: Vectors, texts: Sequence[Text], seed: int) -> Badges | None:
    """Look at a sample of the texts that an encoder has just encoded; None for sparse vectors.

    ``encoder.reworded(role)`` yields encoders that differ in the wording of that role's prompt, where there is such a
    method.
    """
    if issparse(vectors.matrix) or len(texts) < 2:
        return None
    chosen = generator(seed, "badges").permutation(len(texts))[:SAMPLE]
    sample = [texts[n] for n in np.sort(chosen)]
    rows = vectors.matrix[[vectors.row[text] for text in sample]]
    alone = sample[:: max(1, len(sample) // ALONE)][:ALONE]
    reworded: Callable[[Role], Any] = getattr(encoder, "reworded", lambda role: ())
    prompts = {
        role: found
        for role in dict.fromkeys(role for role, _ in sample)
        if (found := _spread([t for t in sample if t[0] == role], vectors, reworded(role)))
    }
    drift = _drift(encoder, alone, vectors)
    return Badges(len(sample), drift, half_ties(rows), prompts or None, notes=tuple(_notes(drift)))


def _notes(drift: float | None) -> Iterator[str]:
    if drift is not None and drift >= ALARMING:
        yield (
            "a text's vector depends on the texts that it is encoded with: alone and among others it differs by a "
            f"drift (1 − cosine) of up to {drift:.2g}; in other batches the figures would be others"
        )


def half_ties(rows: Any) -> float | None:
    """Return the share of rows of whose ten nearest other rows two tie in float16, but not in float32."""
    scaled = unit_rows(np.asarray(rows, dtype=np.float64))
    scaled = scaled[~np.isnan(scaled).any(axis=1)]
    if len(scaled) < 3:
        return None
    exact = scaled @ scaled.T
    np.fill_diagonal(exact, -np.inf)
    nearest = -np.sort(-exact, axis=1)[:, :NEAREST]
    full, half = nearest.astype(np.float32), nearest.astype(np.float16)
    tied = (np.diff(half, axis=1) == 0) & (np.diff(full, axis=1) != 0)
    return float(tied.any(axis=1).mean())


def _drift(encoder: Encoder, alone: Sequence[Text], vectors: Vectors) -> float | None:
    single = [np.asarray(encoder.encode([text], role)) for role, text in alone]
    together = vectors.matrix[[vectors.row[text] for text in alone]]
    cosine = paired_cosine(np.concatenate(single), together)
    return None if np.isnan(cosine).all() else float(max(0.0, np.nanmax(1 - cosine)))


def _spread(sample: Sequence[Text], vectors: Vectors, others: Any) -> dict[str, float] | None:
    """Return how near the vectors under other prompts are to those under the own one, and how many neighbours stay."""
    own = np.asarray(vectors.matrix[[vectors.row[text] for text in sample]], dtype=np.float64)
    cosines, kept = list[float](), list[float]()
    for other in others:
        rows = np.asarray(other.encode([text for _, text in sample], sample[0][0]), dtype=np.float64)
        cosines.append(float(np.nanmean(paired_cosine(own, rows))))
        kept.append(_same_nearest(own, rows))
    if not cosines:
        return None
    return {"cosine": float(np.mean(cosines)), "same_nearest": float(np.mean(kept)), "wordings": float(len(cosines))}


def _same_nearest(first: Floats, second: Floats) -> float:
    """Return the mean share of a row's nearest other rows that are its nearest in both sets."""
    number = min(NEAREST, len(first) - 1)
    nearest = []
    for rows in (first, second):
        scaled = np.nan_to_num(unit_rows(rows))
        cosine = scaled @ scaled.T
        np.fill_diagonal(cosine, -np.inf)
        nearest.append(np.argsort(-cosine, axis=1, kind="stable")[:, :number])
    same = [len(set(a) & set(b)) / number for a, b in zip(nearest[0].tolist(), nearest[1].tolist(), strict=True)]
    return float(np.mean(same)) if number else 1.0
