"""What the diagnostics share: figures and differences to flat rows, and the verdict on a headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from embassay.result import Comparison, Estimate, Row, Verdict
from embassay.stats.compare import ALPHA, Difference, not_separable, smallest_difference
from embassay.stats.units import Floats, effective_number, ratio_variance
from embassay.types import Draws, ItemScores

ROUNDING = 1e-9
"""Standard errors below this are rounding."""


def row(
    scores: ItemScores,
    draws: Draws,
    quantity: str,
    subset: str,
    estimate: Estimate,
    condition: str = "",
    measure: str = "",
    **more: str,
) -> Row:
    """Make a row of an estimate.

    Parameters
    ----------
    measure
        The scores' own measure by default.
    more
        What else the figure depends on, for its signature.
    """
    origin = scores.origin
    return Row(
        origin.diagnostic,
        origin.corpus,
        origin.encoder,
        subset,
        measure or scores.measure,
        condition,
        quantity,
        **vars(estimate),
        signature=scores.signature(draws, measure, **more),
    )


def comparisons(
    scores: ItemScores,
    quantity: str,
    subset: str,
    found: Sequence[Difference],
    condition: str = "",
    measure: str = "",
) -> tuple[Comparison, ...]:
    """Make the rows of one family of differences; ``scores`` are any encoder's of that family."""
    shared = {f.name for f in fields(Comparison)} & {f.name for f in fields(Difference)}
    return tuple(
        Comparison(
            scores.origin.diagnostic,
            scores.origin.corpus,
            subset,
            measure or scores.measure,
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
    unit: NDArray[np.int64] | None = None,
    subset: str = "all",
    condition: str = "",
    chance: float | None = None,
    of_shares: bool = True,
    leader: str = "Best",
    notes: Iterable[str] = (),
) -> Verdict:
    """Name the best encoder on a headline quantity, and those not separable from it.

    Parameters
    ----------
    scores
        Those of all encoders on one corpus.
    headline
        The (m,) item values of the quantity, larger is better, and their estimate, by encoder.
    unit
        (m,) the units of these items; those of the scores by default.
    of_shares
        Whether the items are yes or no, so that a small gap needs units that disagree.
    """
    asked = [s.origin.encoder for s in scores if not s.origin.baseline]
    level = {name: estimate.value for name, (_, estimate) in headline.items() if estimate.value is not None}
    ranked = sorted((name for name in asked if name in level), key=lambda name: -level[name])
    best = ranked[0] if ranked else None
    figure = headline[best][1] if best else None
    values = {n: headline[n][0] for n in ranked or level}
    own = scores[0].unit if unit is None else unit
    gap, units = visible_difference(values, own, differences, of_shares)
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
        leader=leader,
        notes=tuple(notes),
    )


def visible_difference(
    values: Mapping[str, Floats], unit: NDArray[np.int64], differences: Sequence[Difference], of_shares: bool = True
) -> tuple[float | None, int | None]:
    """Return the gap that this corpus would show for every pair of these encoders (power 80 %), and its units.

    With one encoder: the gap to a second one of the same spread whose errors are independent of its own. Nothing
    where under two units are defined for both.
    """
    found = [
        (d.error, d.units, _worth(unit, values[d.a], values[d.b]) if of_shares else None)
        for d in differences
        if d.a in values and d.b in values and d.error is not None
    ]
    if len(values) == 1:
        only = next(iter(values.values()))
        defined = ~np.isnan(only)
        units = len(np.unique(unit[defined]))
        error = (2 * ratio_variance(only[defined], unit[defined])) ** 0.5
        found = [(error, units, _worth(unit, only, only) if of_shares else None)] if units > 1 else []
    if not found:
        return None, None
    if not of_shares and max(error for error, *_ in found) < ROUNDING:
        return None, None  # the same values: they do not say what a gap would vary by
    pairs = sum(d.p is not None for d in differences)
    return max(smallest_difference(error, n, pairs) for error, _, n in found), min(units for _, units, _ in found)


def _worth(unit: NDArray[np.int64], *values: Floats) -> float:
    """Return how many independent items two encoders' shares are worth, the fewer of the two; units at the least."""
    defined = ~np.isnan(values).any(axis=0)
    units, items = len(np.unique(unit[defined])), int(defined.sum())
    worth = min(effective_number(v[defined], unit[defined]) for v in values)
    return float(min(max(worth, units), items))


def unranked(scores: Sequence[ItemScores], notes: Iterable[str]) -> Verdict:
    """Return the verdict of a diagnostic that puts no encoder before another."""
    origin, unit = scores[0].origin, scores[0].unit
    asked = tuple(s.origin.encoder for s in scores if not s.origin.baseline)
    return Verdict(
        origin.diagnostic,
        origin.corpus,
        "",
        items=len(unit),
        units=len(np.unique(unit)),
        candidates=asked,
        notes=tuple(notes),
    )


def _higher(name: str, than: str, differences: Sequence[Difference]) -> bool:
    """Say whether an encoder is significantly higher than another."""
    for d in differences:
        if {d.a, d.b} == {name, than} and d.difference is not None and d.p_holm is not None:
            return d.p_holm < ALPHA and (d.difference > 0) == (d.a == name)
    return False
