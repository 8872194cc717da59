"""Selecting differences whose parts hardly overlap, by the cosine of encoders (Bansal et al. 2025, section 5).

The paper keeps differences with a cosine below 0.25 for each of several encoders. Which two sentences are
compared is unknown. ``bd``: the second sentence and the difference. ``neighbours``: the two sentences that the
first one was fused from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from embassay.core.samples.shapes import Composition
from embassay.core.types import Encoder
from embassay.stats.geometry.closeness import paired_cosine
from embassay.stats.units import Bools
from embassay.testsets.base import Advance, Reasons, silent

Which = Literal["bd", "neighbours"]


DEFAULT: Which = "bd"
BELOW = 0.25


class Filtered(NamedTuple):
    """The samples that a filter kept, the number it rejected by reason, and how many each encoder would reject."""

    samples: Sequence[Composition]
    rejected: Reasons
    notes: Sequence[str] = ()


def filtered(
    documents: Sequence[tuple[Mapping[str, str], Sequence[Composition]]],
    encoders: Sequence[Encoder],
    *,
    which: Which = DEFAULT,
    below: float = BELOW,
    advance: Advance = silent,
) -> Filtered:
    """Return the samples of documents without the differences whose parts are too similar.

    Overlaps and unions are kept. Each distinct text is encoded once by each encoder, which is fitted on all of them.

    Parameters
    ----------
    documents
        The five texts of each, and its samples.
    encoders
        All of them must agree; without encoders, all differences are kept.
    which, below
        Which two sentences are compared, and the upper bound of their cosine.

    Returns
    -------
    The samples in their order. A difference with an undefined cosine, because a text has a zero vector, is rejected.
    """
    samples = [sample for _, of_document in documents for sample in of_document]
    pairs = dict[str, tuple[str, str]]()
    for texts, of_document in documents:
        for sample in of_document:
            if sample.operator == "difference":
                pairs[sample.id] = _compared(texts, sample, which)
    if not encoders or not pairs:
        return Filtered(samples, Counter())
    # An undefined cosine is NaN, which is not below anything.
    is_near: Bools = np.logical_not(_cosines(list(pairs.values()), encoders, advance) < below)
    rejected = {name for name, is_rejected in zip(pairs, is_near.max(axis=0), strict=True) if is_rejected}
    remaining = [sample for sample in samples if sample.id not in rejected]
    reason = f"difference with parts that are too similar (cosine {below:g} or more, or undefined)"
    notes = list[str]()
    for encoder, number in zip(encoders, is_near.sum(axis=1), strict=True):
        notes.append(f"{encoder.card.spec}: {number:,} of {len(pairs):,} differences are too similar.")
    return Filtered(remaining, Counter({reason: len(rejected)}), notes)


def _compared(texts: Mapping[str, str], sample: Composition, which: Which) -> tuple[str, str]:
    """Return the two sentences of a difference that are compared."""
    if which == "bd":
        return sample.b, sample.target
    # A difference removes a sentence from a fusion of two.
    if sample.a == texts["F12"]:
        return texts["S1"], texts["S2"]
    return texts["S2"], texts["S3"]


def _cosines(pairs: Sequence[tuple[str, str]], encoders: Sequence[Encoder], advance: Advance) -> NDArray[np.float64]:
    """Return the (encoders, pairs) cosines; NaN if undefined."""
    # Each distinct text is encoded once.
    distinct, places = np.unique(np.array(pairs, dtype=object), return_inverse=True)
    texts, places = distinct.tolist(), places.reshape(-1, 2)
    cosines = []
    for number, encoder in enumerate(encoders, 1):
        vectors = encoder.fit(texts).encode(texts, "text")
        advance(number, len(encoders))
        cosines.append(paired_cosine(vectors[places[:, 0]], vectors[places[:, 1]]))
    return np.array(cosines)
