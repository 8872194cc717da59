"""What the diagnostics share: figures and differences to flat rows, and the verdict on a headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from embassay.stats.compare import Difference, not_separable, smallest_difference
from embassay.stats.resample import Floats
from embassay.stats.shares import ratio_variance
from embassay.types import Comparison, Draws, Estimate, ItemScores, Row, Verdict


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
            pairs_in_family=len(found),
            **{name: getattr(d, name) for name in shared},
        )
        for d in found
    )


def verdict(
    scores: Sequence[ItemScores],
    values: Mapping[str, Floats],
    quantity: str,
    differences: Sequence[Difference],
    *,
    chance: float | None = None,
    notes: Iterable[str] = (),
) -> Verdict:
    """Name the best encoder on a headline quantity, and those not separable from it.

    Parameters
    ----------
    scores
        Those of all encoders on one corpus; baselines are no candidates unless there is nothing else.
    values
        The (n,) item values of the quantity by encoder, larger is better.
    """
    candidates = [s.origin.encoder for s in scores if not s.origin.baseline] or list(values)
    level = {name: float(np.nanmean(v)) for name, v in values.items() if not np.isnan(v).all()}
    ranked = sorted((name for name in candidates if name in level), key=lambda name: -level[name])
    best = ranked[0] if ranked else None
    unit = scores[0].unit
    return Verdict(
        scores[0].origin.diagnostic,
        scores[0].origin.corpus,
        quantity,
        items=len(unit),
        units=len(np.unique(unit)),
        best=best,
        not_separable=not_separable(best, ranked, differences) if best else (),
        above=tuple(n for n in level if best and n not in candidates and level[n] > level[best]),
        chance=chance,
        smallest_difference=visible_difference({name: values[name] for name in ranked}, unit, differences),
        notes=tuple(notes),
    )


def visible_difference(
    values: Mapping[str, Floats], unit: NDArray[np.int64], differences: Sequence[Difference]
) -> float | None:
    """Return the gap that this corpus would show for every pair of these encoders (power 80 %).

    With one encoder: the gap to a second one of the same spread whose errors are independent of its own.
    """
    errors = [d.error for d in differences if d.a in values and d.b in values and d.error is not None]
    if len(values) == 1:
        only = next(iter(values.values()))
        defined = ~np.isnan(only)
        errors = [(2 * ratio_variance(only[defined], unit[defined])) ** 0.5]
    units = len(np.unique(unit))
    return smallest_difference(max(errors), units, len(differences)) if errors and units > 1 else None
