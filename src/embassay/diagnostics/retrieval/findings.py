"""The findings of retrieval: success against chance, thresholds, saturation, warnings about scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from embassay.diagnostics.findings import against_chance, finding, written
from embassay.diagnostics.retrieval.view import RECOMMENDED, RetrievalView
from embassay.formatting import names, number, rounded_down
from embassay.result import Finding, Row
from embassay.stats.thresholds import points

SATURATED = 0.95
"""From this share on, a headline leaves little room to tell good encoders apart."""


def findings_of(view: RetrievalView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield what is found about one encoder: failure, approximate search, and the recommended threshold."""
    row_of = {(r.metric, r.subset): r for r in rows if r.encoder == view.encoder and not r.condition}
    success = row_of.get((view.headline, "all"))
    side = "" if success is None else against_chance(success, view.chance)
    if success is not None and side in ("below", "both"):
        consequence = "That it is of use for search on this corpus is not shown; more questions would tell."
        if side == "below":
            consequence = "For search on this corpus it is worse than random order."
        yield finding(
            view.scores,
            "Search is not shown to be better than chance",
            f"{view.encoder} finds a right document among the first {view.k} for {written(success)} of the questions; "
            f"random order has {view.chance:.1%}.",
            severity="high",
            row=success,
            consequence=consequence,
        )
    if "search" in view.scores.labels:
        route = view.scores.labels["search"][0]
        sentence = f"{view.encoder}: {route}; what it did not find counts as missed."
        yield finding(view.scores, "Approximate search", sentence, severity="medium")
    if success is not None and success.value is not None:
        yield _threshold(view, row_of, success.value)


def _threshold(view: RetrievalView, row_of: Mapping[tuple[str, str], Row], success: float) -> Finding:
    """Return which similarities to drop, the guaranteed loss and the loss here; or why nothing is recommended."""
    threshold = view.recommended
    if threshold.value is None or threshold.guarantee is None:
        sentence = f"{view.encoder}: no threshold is recommended: {threshold.reason}."
        return finding(view.scores, "No threshold is recommended", sentence, severity="medium")
    guarantee = "on average, not with 95% confidence"
    if threshold.guarantee == "confidence":
        guarantee = "95% confidence"
    subset = RECOMMENDED[threshold.guarantee]
    success_at_threshold = row_of["accuracy_at_tau", subset].value or 0.0
    kept = row_of["kept", subset].value or 0.0
    rounded = rounded_down(threshold.value)
    loss_here = 100 * max(success - success_at_threshold, 0.0)
    sentence = (
        f"{view.encoder}: drop results below {rounded:.3f}. This loses at most {points(view.loss)} of {view.headline} "
        f"({guarantee}; {loss_here:.1f} here) and removes {1 - kept:.0%} of the retrieved documents"
    )
    unanswerable = row_of.get(("unanswerable_dropped", subset))
    if unanswerable is not None and unanswerable.value is not None:
        sentence += f"; {unanswerable.value:.0%} of the unanswerable questions then get no result"
    row = row_of["tau", subset]
    recommended = finding(view.scores, "Threshold", f"{sentence}.", severity="medium", row=row, style="number")
    return replace(recommended, value=rounded)


def first_place(view: RetrievalView, values: Mapping[str, float | None]) -> Iterator[Finding]:
    """Yield which encoders share exactly the highest value.

    Parameters
    ----------
    view
        That of any encoder.
    values
        The headline by encoder.
    """
    defined = {name: value for name, value in values.items() if value is not None}
    if not defined:
        return
    best = max(defined.values())
    first = [name for name, value in defined.items() if value == best]
    if len(first) > 1:
        sentence = f"{', '.join(first)}: exactly the same {view.headline}, the highest; their order has no meaning."
        yield finding(view.scores, "Equal values", sentence, about_all=True)


def saturation(views: Sequence[RetrievalView], values: Mapping[str, float | None]) -> Iterator[Finding]:
    """Yield whether the headline has little room left to tell encoders apart.

    Parameters
    ----------
    views
        Those of the encoders that may be the best.
    values
        The headline by encoder.
    """
    high_values = {}
    encoders = set()
    for view in views:
        value = values[view.encoder]
        if value is not None and value >= SATURATED:
            high_values[view.encoder] = value
            origin = view.scores.origin
            encoders.add((origin.encoder_fingerprint, origin.corpus_fingerprint))
    # No question tells an encoder from itself, so two labels of one encoder say nothing about the headline.
    if len(encoders) > 1 and views[0].k > 1:
        lowest = min(high_values.values())
        reached = "100.0%" if lowest == 1 else f"{number(lowest)} or more"
        yield finding(
            views[0].scores,
            "The headline is saturated",
            f"{views[0].headline} is {reached} for {names(list(high_values))}: it can hardly tell them apart.",
            severity="medium",
            about_all=True,
            action="Compare Success@1: add -d retrieval,k=1.",
        )


def scale_warnings(views: Sequence[RetrievalView]) -> Iterator[Finding]:
    """Yield which encoders do not compare by cosine, and which have too few passages for whitening."""
    candidates = [view for view in views if not view.is_baseline]
    by_dot = [view.encoder for view in candidates if view.compares_by_dot]
    if by_dot:
        sentence = f"{', '.join(by_dot)}: compared by dot product; its thresholds are on another scale than cosines."
        yield finding(views[0].scores, "Compared by dot product", sentence, about_all=True)

    # With fewer distinct passages than twice the directions that it scales, whitening mostly scales their noise.
    passages_of = {view.encoder: view.scores.scalars["distinct_passages"] for view in candidates}
    overfitted = [v for v in candidates if v.scores.scalars.get("rank/whiten", 0.0) > passages_of[v.encoder] / 2]
    if overfitted:
        labels = ", ".join(view.encoder for view in overfitted)
        # A run may vary how documents are cut.
        passages = {int(passages_of[view.encoder]) for view in overfitted}
        number = f"{max(passages):,} passages"
        if len(passages) > 1:
            number = f"at most {number}"
        sentence = f"{labels}: whitening overfits: {number} are fewer than twice the dimensions."
        yield finding(views[0].scores, "Whitening overfits", sentence, about_all=True)
