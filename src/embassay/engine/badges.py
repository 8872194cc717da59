"""How far an encoder's vectors can be trusted: what moves them that should not, on a seeded sample of texts.

Texts are encoded again for this, at most a third as many tokens as the run has encoded. None of this is a result: it
goes into ``run.json`` and into the report's list of encoders.
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
from embassay.samples.base import Role, Text
from embassay.types import Encoder
from embassay.vectors import Vectors

SAMPLE = 256
ALONE = 32
"""Texts of the sample that are encoded once more, one by one."""
NEAREST = 10
SHARE = 1 / 3
"""How many tokens may be encoded again, as a share of those that the run has encoded."""
FEWEST = 2 * NEAREST
"""Texts that the ten nearest of each can be compared among."""
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


def badges(
    encoder: Encoder, vectors: Vectors, texts: Sequence[Text], seed: int, encoded: int | None = None
) -> Badges | None:
    """Look at a sample of the texts that an encoder has just encoded; None for sparse vectors.

    ``encoder.reworded(role)`` yields encoders that differ in the wording of that role's prompt, where there is such a
    method. One that is ``batch_invariant`` has been seen to give the same vectors in every batch, bit by bit.

    Parameters
    ----------
    encoded
        How many of the texts were encoded in this run, all by default; the others were cached.
    """
    if issparse(vectors.matrix) or len(texts) < 2:
        return None
    share = SHARE * (len(texts) if encoded is None else encoded) / len(texts)
    budget = share * _tokens(encoder, texts).sum()
    chosen = generator(seed, "badges").permutation(len(texts))[:SAMPLE]
    sample = [texts[n] for n in np.sort(chosen)]
    rows = vectors.matrix[[vectors.row[text] for text in sample]]
    drift, spent = _drift(encoder, sample, vectors, budget / 2)
    prompts = _prompts(encoder, sample, vectors, budget - spent)
    return Badges(len(sample), drift, half_ties(rows), prompts or None, notes=tuple(_notes(drift)))


def _tokens(encoder: Any, texts: Sequence[Text]) -> NDArray[np.int64]:
    """Return (n,) the tokens of each text with its role's prompt; about as many where the encoder cannot tell."""
    count = getattr(encoder, "count_tokens", None)
    if count is None:
        return np.array([len(text.split()) + 2 for _, text in texts], dtype=np.int64)
    sizes = np.zeros(len(texts), dtype=np.int64)
    for role in {role for role, _ in texts}:
        places = [n for n, text in enumerate(texts) if text[0] == role]
        sizes[places] = count([texts[n][1] for n in places], role)
    return sizes


def _fitting(sizes: NDArray[np.int64], budget: float) -> int:
    """Return how many texts, the first ones, have no more tokens together than the budget."""
    return int(np.searchsorted(np.cumsum(sizes), budget, side="right"))


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


def _drift(encoder: Encoder, sample: Sequence[Text], vectors: Vectors, budget: float) -> tuple[float | None, float]:
    """Return how far a text's vector alone is from the one among others, at most, and the tokens that this took."""
    if getattr(encoder, "batch_invariant", False):
        return 0.0, 0.0
    alone = sample[:: max(1, len(sample) // ALONE)][:ALONE]
    sizes = _tokens(encoder, alone)
    alone = alone[: _fitting(sizes, budget)]
    if not alone:
        return None, 0.0
    single = [np.asarray(encoder.encode([text], role)) for role, text in alone]
    together = vectors.matrix[[vectors.row[text] for text in alone]]
    cosine = paired_cosine(np.concatenate(single), together)
    drift = None if np.isnan(cosine).all() else float(max(0.0, np.nanmax(1 - cosine)))
    return drift, float(sizes[: len(alone)].sum())


def _prompts(encoder: Encoder, sample: Sequence[Text], vectors: Vectors, budget: float) -> dict[str, dict[str, float]]:
    """Return by role how near the vectors under other wordings of its prompt are, as far as the budget goes."""
    reworded: Callable[[Role], Any] = getattr(encoder, "reworded", lambda role: ())
    others = {role: list(reworded(role)) for role in dict.fromkeys(role for role, _ in sample)}
    others = {role: wordings for role, wordings in others.items() if wordings}
    found: dict[str, dict[str, float]] = {}
    for role, wordings in others.items():
        of_role = [text for text in sample if text[0] == role]
        # Half of what a role may take is for its first wording, so that there are two where there is room for some.
        texts = of_role[: _fitting(_tokens(wordings[0], of_role), budget / len(others) / 2)]
        if len(texts) < min(FEWEST, len(of_role)):
            continue
        within = []
        remaining = budget / len(others)
        for wording in wordings:
            remaining -= _tokens(wording, texts).sum()
            if remaining < 0:
                break
            within.append(wording)
        if spread := _spread(texts, vectors, within):
            found[role] = spread
    return found


def _spread(sample: Sequence[Text], vectors: Vectors, others: Sequence[Any]) -> dict[str, float] | None:
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
