"""What the diagnostics share: figures and differences to flat rows, and the verdict on a headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from embassay.result import Comparison, Estimate, Row, Verdict
from embassay.stats.compare import ALPHA, Difference, not_separable, smallest_difference
from embassay.stats.resample import Floats
from embassay.stats.shares import ratio_variance
from embassay.types import Draws, ItemScores


def row(scores: ItemScores, draws: Draws, quantity: str, subset: str, estimate: Estimate, condition: str = "") -> Row:
    """Make a row of an estimate."""
    origin = scores.origin
    return Row(
        origin.diagnostic,
        origin.corpus,
        origin.encoder,
        subset,
        scores.measure,
        condition,
        quantity,
        **vars(estimate),
        signature=scores.signature(draws),
    )


def comparisons(
    scores: ItemScores, quantity: str, subset: str, found: Sequence[Difference], condition: str = ""
) -> tuple[Comparison, ...]:
    """Make the rows of one family of differences; ``scores`` are any encoder's of that family."""
    shared = {f.name for f in fields(Comparison)} & {f.name for f in fields(Difference)}
    return tuple(
        Comparison(
            scores.origin.diagnostic,
            scores.origin.corpus,
            subset,
            scores.measure,
            condition,
            quantity,
            pairs_in_family=max(1, sum(other.p is not None for other in found)),
            **{name: getattr(d, name) for name in shared},
        )
        for d in found
    )


def verdict(
    scores: Sequence[ItemScores],
    headline: Mapping[str, tuple[Floats, Estimate]],
    quantity: str,
    differences: Sequence[Difference],
    *,
    subset: str = "all",
    condition: str = "",
    chance: float | None = None,
    notes: Iterable[str] = (),
) -> Verdict:
    """Name the best encoder on a headline quantity, and those not separable from it.

    Parameters
    ----------
    scores
        Those of all encoders on one corpus.
    headline
        The (n,) item values of the quantity, larger is better, and their estimate, by encoder.
    """
    asked = [s.origin.encoder for s in scores if not s.origin.baseline]
    level = {name: estimate.value for name, (_, estimate) in headline.items() if estimate.value is not None}
    ranked = sorted((name for name in asked if name in level), key=lambda name: -level[name])
    best = ranked[0] if ranked else None
    figure = headline[best][1] if best else None
    gap, units = visible_difference({n: headline[n][0] for n in ranked or level}, scores[0].unit, differences)
    return Verdict(
        scores[0].origin.diagnostic,
        scores[0].origin.corpus,
        quantity,
        items=len(scores[0].unit),
        units=len(np.unique(scores[0].unit)),
        subset=subset,
        measure=scores[0].measure,
        condition=condition,
        candidates=tuple(ranked),
        undefined=tuple(name for name in asked if name not in level),
        best=best,
        value=figure.value if figure else None,
        low=figure.low if figure else None,
        high=figure.high if figure else None,
        not_separable=not_separable(best, ranked, differences) if best else (),
        above=tuple(n for n in level if best and n not in asked and _higher(n, best, differences)),
        chance=chance,
        smallest_difference=gap,
        smallest_units=units,
        notes=tuple(notes),
    )


def visible_difference(
    values: Mapping[str, Floats], unit: NDArray[np.int64], differences: Sequence[Difference]
) -> tuple[float | None, int | None]:
    """Return the gap that this corpus would show for every pair of these encoders (power 80 %), and its units.

    With one encoder: the gap to a second one of the same spread whose errors are independent of its own. Nothing
    where under two units are defined for both.
    """
    found = [(d.error, d.units) for d in differences if d.a in values and d.b in values and d.error is not None]
    if len(values) == 1:
        only = next(iter(values.values()))
        defined = ~np.isnan(only)
        units = len(np.unique(unit[defined]))
        found = [((2 * ratio_variance(only[defined], unit[defined])) ** 0.5, units)] if units > 1 else []
    if not found:
        return None, None
    units = min(units for _, units in found)
    pairs = sum(d.p is not None for d in differences)
    return smallest_difference(max(error for error, _ in found), units, pairs), units


def _higher(name: str, than: str, differences: Sequence[Difference]) -> bool:
    """Say whether an encoder is significantly higher than another."""
    for d in differences:
        if {d.a, d.b} == {name, than} and d.difference is not None and d.p_holm is not None:
            return d.p_holm < ALPHA and (d.difference > 0) == (d.a == name)
    return False
