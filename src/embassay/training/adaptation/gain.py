"""What adaptation gained and what it cost, computed from a result and its item scores: no model and no text.

A change is the paired difference between a variant and another encoder on the same items, with the interval and the
corrected p-value of the result. Better and worse are significant differences. "Not worse" requires that a loss of the
margin is ruled out (:mod:`embassay.stats.gate`).
:mod:`embassay.training.adaptation.wording` writes the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from embassay.core.result import ALPHA, Comparison, Result
from embassay.diagnostics.metrics.item_metric import Headline
from embassay.training.adaptation.variants import BASE, BOTH, FINETUNED, PRETRAINED

SMALLEST_SHOWN = 5e-4
"""A difference below this is printed as 0, whether in points or as a plain number."""
Outcome = Literal["better", "worse", "not worse", "inconclusive", "nothing changed", "unknown"]
Headlines = Mapping[tuple[str, str], Headline]
"""The item values of the headline metric of each (diagnostic, corpus)."""


@dataclass(frozen=True)
class Gain:
    """The difference between a variant and another encoder on one headline metric.

    Attributes
    ----------
    comparison
        The paired difference ``a − b``: ``a`` is the variant and ``b`` the other encoder.
    in_domain
        Whether the corpus belongs to the domain, so that the change is the purpose of the training.
    margin
        The loss that matters.
    loss_limit
        The upper 95 % limit of the loss; None where the items are too few.
    unchanged
        Whether it is the same encoder with the same value on every item.
    """

    comparison: Comparison
    in_domain: bool
    margin: float
    loss_limit: float | None = None
    unchanged: bool = False

    @property
    def variant(self) -> str:
        """The label of the variant."""
        return self.comparison.a

    @property
    def significant(self) -> bool:
        """Whether the difference is significant and visible in the printed digits."""
        c = self.comparison
        if c.p_holm is None or c.low is None or c.high is None:
            return False
        return c.p_holm <= ALPHA and max(abs(c.low), abs(c.high)) >= SMALLEST_SHOWN

    @property
    def outcome(self) -> Outcome:
        """The conclusion about the change.

        ``nothing changed``: the same encoder with the same value on every item. ``unknown``: undefined, or too few
        units. ``better`` and ``worse``: significantly above and below 0. ``not worse``: neither, and a loss of the
        margin is ruled out.
        """
        if self.unchanged:
            return "nothing changed"
        difference = self.comparison.difference
        if difference is None or self.comparison.p_holm is None:
            return "unknown"
        if self.significant:
            return "better" if difference > 0 else "worse"
        is_ruled_out = self.loss_limit is not None and self.loss_limit <= self.margin
        return "not worse" if is_ruled_out else "inconclusive"


def changes(result: Result, headlines: Headlines, domain: Sequence[str], other: str = BASE) -> tuple[Gain, ...]:
    """Return the change of each variant on the headline metric of each diagnostic and corpus.

    Parameters
    ----------
    headlines
        The item values of the headlines. Other metrics of the result are ignored.
    domain
        The labels of the corpora of the domain; the others are general.
    other
        The label of the encoder that the variants are compared with.
    """
    fingerprints = {encoder.name: encoder.fingerprint for encoder in result.encoders}
    all_changes = []
    for comparison in result.comparisons:
        if other not in (comparison.a, comparison.b):
            continue
        headline = headlines.get((comparison.diagnostic, comparison.corpus))
        if headline is None or not headline.key.covers(comparison.key):
            continue
        oriented = minus(comparison, other)
        variant = oriented.a
        # The lexical baselines and other encoders of the run are no variants.
        if variant not in (BASE, PRETRAINED, FINETUNED, BOTH):
            continue
        # Fingerprints are equal if nothing was trained, or if training changed nothing.
        same_encoder = variant in fingerprints and fingerprints[variant] == fingerprints.get(other)
        is_same = np.array_equal(headline.values[variant], headline.values[other], equal_nan=True)
        all_changes.append(
            Gain(
                oriented,
                comparison.corpus in domain,
                headline.margin,
                headline.loss_limit(variant, other),
                unchanged=same_encoder and is_same,
            )
        )
    return tuple(all_changes)


def minus(comparison: Comparison, other: str) -> Comparison:
    """Return a comparison as the difference from ``other``, whichever of its two encoders that is."""
    if comparison.b == other:
        return comparison
    # Negating the difference swaps the limits of its interval.
    return replace(
        comparison,
        a=comparison.b,
        b=comparison.a,
        difference=_negated(comparison.difference),
        low=_negated(comparison.high),
        high=_negated(comparison.low),
    )


def _negated(value: float | None) -> float | None:
    # 0 − value and not −value: −0.0 would be printed with a sign.
    if value is None:
        return None
    return 0.0 - value
