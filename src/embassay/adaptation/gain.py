"""What adaptation gained and what it cost, computed from a result and its item scores: no model and no text.

A change is the paired difference between a variant and another encoder on the same items. It has the interval over
independent units and the Holm-corrected p-value of the result. Better and worse are significant differences. "Not
worse" requires a test that rules out a loss of the margin (:mod:`embassay.stats.noninferiority`).
:mod:`embassay.adaptation.wording` writes the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from embassay.adaptation.variants import BASE
from embassay.result import ALPHA, Comparison, Result
from embassay.stats.noninferiority import UNCHANGED, Headline, NotWorse
from embassay.types import Draws

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
    test
        The test that the variant is not worse; None for a metric without a better direction.
    """

    comparison: Comparison
    in_domain: bool
    test: NotWorse | None = None

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
        units. ``better``: significantly above 0. Otherwise the outcome of the test.
        """
        if self.test is not None and self.test.note == UNCHANGED:
            return "nothing changed"
        difference = self.comparison.difference
        if self.test is None or difference is None or self.comparison.p_holm is None:
            return "unknown"
        if self.significant and difference > 0:
            return "better"
        return self.test.outcome


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
    family = "all"
    if other == BASE:
        family = "reference"
    fingerprints = {encoder.name: encoder.fingerprint for encoder in result.encoders}
    draws = Draws(result.seed, result.resamples)
    all_changes = []
    for comparison in result.comparisons:
        if comparison.family != family or other not in (comparison.a, comparison.b):
            continue
        headline = headlines.get((comparison.diagnostic, comparison.corpus))
        if headline is None or not headline.key.covers(comparison.key):
            continue
        oriented = minus(comparison, other)
        variant = oriented.a
        # Fingerprints are equal if nothing was trained, or if training changed nothing.
        same = variant in fingerprints and fingerprints[variant] == fingerprints.get(other)
        test = headline.not_worse(variant, other, draws, p=comparison.p_holm, same_encoder=same)
        all_changes.append(Gain(oriented, comparison.corpus in domain, test))
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
