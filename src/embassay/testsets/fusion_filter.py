"""Selecting differences whose parts hardly overlap, by the cosine of encoders (Bansal et al. 2025, section 5).

The paper keeps differences with a cosine below 0.25 for each of several encoders. Which two sentences are
compared is unknown. ``bd``: the second sentence and the difference. ``neighbours``: the two sentences that the
first one was fused from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from embassay.core.samples.shapes import Composition
from embassay.core.types import Encoder
from embassay.stats.geometry.closeness import paired_cosine
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
    samples = list[Composition]()
    pairs = dict[str, tuple[str, str]]()
    for texts, of_document in documents:
        samples += of_document
        for sample in of_document:
            if sample.operator == "difference":
                pairs[sample.id] = _compared(texts, sample, which)
    if not pairs:
        return Filtered(samples, Counter())
    distinct = sorted({text for pair in pairs.values() for text in pair})
    place = {text: number for number, text in enumerate(distinct)}
    first, second = ([place[pair[side]] for pair in pairs.values()] for side in (0, 1))
    rejected, notes = set[str](), list[str]()
    for number, encoder in enumerate(encoders, 1):
        vectors = encoder.fit(distinct).encode(distinct, "text")
        cosines = paired_cosine(vectors[first], vectors[second]).tolist()
        advance(number, len(encoders))
        # An undefined cosine is NaN, which is not below anything.
        near = [name for name, cosine in zip(pairs, cosines, strict=True) if not cosine < below]
        rejected.update(near)
        notes.append(f"{encoder.card.spec}: {len(near):,} of {len(pairs):,} differences are too similar.")
    reason = f"difference with parts that are too similar (cosine {below:g} or more, or undefined)"
    remaining = [sample for sample in samples if sample.id not in rejected]
    return Filtered(remaining, Counter({reason: len(rejected)}), notes)


def _compared(texts: Mapping[str, str], sample: Composition, which: Which) -> tuple[str, str]:
    """Return the two sentences of a difference that are compared."""
    if which == "bd":
        return sample.b, sample.target
    # A difference removes a sentence from a fusion of two.
    if sample.a == texts["F12"]:
        return texts["S1"], texts["S2"]
    return texts["S2"], texts["S3"]
