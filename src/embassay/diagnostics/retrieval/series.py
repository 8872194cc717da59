"""The pictures and findings of retrieval: densities, what a similarity means, curves over ψ, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from embassay.diagnostics.retrieval.rows import NAME, SUBSETS, View
from embassay.result import Row, Series
from embassay.stats.density import bandwidth, density
from embassay.stats.exams import GRID
from embassay.stats.thresholds import points
from embassay.stats.units import Floats

POINTS = 160
STEP = 0.05
STEPS = 20
"""How finely the card is ruled: 0.05 of a cosine, twentieths of the range of a dot product."""


def series_of(views: Sequence[View], rows: Sequence[Row]) -> Iterator[Series]:
    """Yield what is drawn of one corpus."""
    corpus = views[0].scores.origin.corpus
    drawable = [v for v in views if len(v.answers.top)]
    if drawable:
        lines = [line for view in drawable for line in _densities(view)]
        data = {"x": "similarity", "y": "density", "at": (), "lines": lines}
        yield Series(NAME, corpus, "densities", "curve", data)
        yield _card(drawable)
    at = {(r.encoder, r.quantity, r.subset): r.value for r in rows}
    for name, quantity, prefix, title in (
        ("coe", "coe", "", "COE"),
        ("roe", "roe", "", "ROE"),
        ("accuracy_at_tau", "accuracy_at_tau", "pooled:", "success at τ"),
        ("unanswerable_dropped", "unanswerable_dropped", "pooled:", "share that finds nothing"),
    ):
        lines = [
            {"encoder": v.encoder, "line": title, "y": [at.get((v.encoder, quantity, f"{prefix}psi{n}")) for n in GRID]}
            for v in drawable
        ]
        if any(y is not None for line in lines for y in line["y"]):
            curve: dict[str, Any] = {
                "x": "ψ, percentile of the retrieved similarities",
                "y": title,
                "at": GRID,
                "lines": lines,
                "psi": views[0].psi,
            }
            yield Series(NAME, corpus, name, "curve", curve)


def findings(view: View, rows: Sequence[Row]) -> Iterator[str]:
    """Say what an encoder's similarities are good for: what to drop, and what that costs and saves."""
    own = {(r.quantity, r.subset): r.value for r in rows if r.encoder == view.encoder and not r.condition}
    if "search" in view.scores.labels:
        yield f"{view.encoder}: {view.scores.labels['search'][0]}; what it did not find counts as missed"
    if (before := own.get((view.headline, "all"))) is None:
        return
    yield f"{view.encoder}: {_threshold(view, own, before)}"


def _threshold(view: View, own: Mapping[tuple[str, str], float | None], before: float) -> str:
    """Say what to drop, what that is known to lose, and what it did here; or why nothing is recommended."""
    found = view.recommended
    if found.value is None or found.guarantee is None:
        return f"no threshold is recommended: {found.reason}"
    subset = SUBSETS[found.guarantee]
    promised = "(95% confidence)" if found.guarantee == "confidence" else "on average, without 95% confidence"
    after, kept = own[("accuracy_at_tau", subset)] or 0.0, own[("kept", subset)] or 0.0
    # Rounded down: a threshold a little higher could lose more than is promised.
    threshold = np.floor(found.value * 1000) / 1000
    told = (
        f"Dropping results below {threshold:.3f} loses at most {points(view.loss)} of {view.headline} {promised}; "
        f"here it lost {100 * max(before - after, 0.0):.1f}"
    )
    dropped = f"dropped {1 - kept:.0%} of what is retrieved"
    silent = own.get(("unanswerable_dropped", subset))
    if silent is None:
        return f"{told} and {dropped}"
    return f"{told}, {dropped} and answered {silent:.0%} of the unanswerable questions with nothing"


def first_place(headline: str, k: int, level: Mapping[str, float | None]) -> Iterator[str]:
    """Say which encoders share the highest value exactly, and that all found everything where it is 100 %."""
    best = max((value for value in level.values() if value is not None), default=None)
    first = [name for name, value in level.items() if value == best]
    if best is None:
        return
    if len(first) > 1:
        yield f"{', '.join(first)}: exactly the same {headline}, the highest; which of them is named first says nothing"
    if best == 1 and k > 1:
        yield f"{headline} is saturated: nothing can be better than 100%; retrieval,k=1 tells more"


def scales(views: Sequence[View]) -> Iterator[str]:
    """Say which encoders do not compare by cosine, and which transform has too few passages to rest on."""
    if dots := [v.encoder for v in views if v.scores.scalars["dot"]]:
        yield f"{', '.join(dots)}: compared by dot product, whose thresholds are on a scale of their own"
    thin = [v for v in views if (r := v.scores.scalars.get("rank/whiten")) and r > v.scores.scalars["passages"] / 2]
    if thin and not all(v.scores.origin.baseline for v in thin):
        names = ", ".join(v.encoder for v in thin if not v.scores.origin.baseline)
        number = int(thin[0].scores.scalars["passages"])
        yield f"{names}: whitening rests on {number:,} passages, fewer than twice the dimensions: it overfits"


def _densities(view: View) -> Iterator[dict[str, Any]]:
    sets = _sets(view)
    low, high = _range(view, sets)
    grid = np.linspace(low, high, POINTS)
    ends = (low, high) if view.scores.scalars["dot"] else (-1.0, 1.0)
    for name, values in sets.items():
        curve = density(values, grid, *ends)
        yield {"encoder": view.encoder, "line": name, "at": grid.tolist(), "y": curve.tolist()}


def _sets(view: View) -> dict[str, Floats]:
    found = {"random": view.random.ravel(), "retrieved": view.answers.top.ravel(), "right": view.answers.own}
    return {name: values[np.isfinite(values)] for name, values in found.items()}


def _range(view: View, sets: Mapping[str, Floats]) -> tuple[float, float]:
    """Return the ends of what is drawn: a little beyond what there is, never beyond what can be."""
    every = np.concatenate(list(sets.values()))
    margin = max(3 * max(bandwidth(values) for values in sets.values()), 1e-6)
    low, high = float(every.min() - margin), float(every.max() + margin)
    return (low, high) if view.scores.scalars["dot"] else (max(low, -1.0), min(high, 1.0))


def _card(views: Sequence[View]) -> Series:
    """Return, for each encoder and similarity, how many random, retrieved and right pairs are less similar."""
    rows = []
    for view in views:
        sets = {name: np.sort(values) for name, values in _sets(view).items()}
        for at in _ruled(view, sets):
            below = [np.searchsorted(values, at) / max(len(values), 1) for values in sets.values()]
            rows.append([view.encoder, float(at), *(float(share) for share in below)])
    data = {
        "columns": ("encoder", "similarity", "above random pairs", "above retrieved pairs", "above right pairs"),
        "formats": ("text", "number", "percent", "percent", "percent"),
        "rows": rows,
    }
    return Series(NAME, views[0].scores.origin.corpus, "card", "table", data)


def _ruled(view: View, sets: Mapping[str, Floats]) -> Floats:
    low, high = min(v.min() for v in sets.values() if len(v)), max(v.max() for v in sets.values() if len(v))
    if view.scores.scalars["dot"]:
        return np.linspace(low, high, STEPS + 1)
    return np.arange(np.floor(low / STEP), np.ceil(high / STEP) + 1) * STEP
