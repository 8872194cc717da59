"""The findings of retrieval: success against chance, thresholds, saturation, warnings about scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from embassay.core.claims import AVERAGE_LOSS, COUNT, INTERVAL, LIMIT, THRESHOLD, Template
from embassay.core.formatting import among_first, counted, names, number, size_in_points
from embassay.core.result import Finding, Row
from embassay.diagnostics.findings import against_chance, written
from embassay.diagnostics.retrieval.view import RECOMMENDED, RetrievalView

RERANKED = 50
"""How many documents a reranker usually reads for a question."""
SEPARATED = 0.9
"""From this area under the ROC curve on, a score tells unanswerable questions from the others."""
SATURATED = 0.95
"""From this share on, a headline leaves little room to tell good encoders apart."""
SETTLED = 0.2
"""Weights chosen on parts of the questions that span more do not agree."""

NOT_SHOWN = Template(
    "{encoder} finds a right document {where} for {success} of the questions; random order has {chance:.1%}.",
    "the interval contains chance",
    INTERVAL,
    "not shown",
    title="Search is not shown to be better than chance",
    kind="headline",
    question="Than chance?",
    severity="high",
    consequence="That it is of use for search on this corpus is not shown; more questions would tell.",
)
BELOW_CHANCE = replace(
    NOT_SHOWN,
    when="the interval lies below chance",
    claim="shown",
    title="Search is worse than chance",
    consequence="For search on this corpus it is worse than random order.",
)
LISTED = Template(
    "{encoder} lists at most {listed:,} of {documents:,.0f} documents; for {missed} no right one is listed, which "
    "counts as missed.",
    "a retriever lists some of the documents, and not every question has a right one among them",
    COUNT,
    title="Lists, not all documents",
)
HEADROOM = Template(
    "{encoder} has a right document among the first {depth} for {share} of the questions: a perfect reranker of these "
    "would add {gain} to {headline}.",
    f"of candidates, where there are more than {RERANKED} documents, and lists of at least that many",
    COUNT,
    title="Headroom for a reranker",
)
CHOSEN = Template(
    "{encoder}: with weight {weight:g}, {headline} is {own:.1%} on the questions it was chosen on; {expected:.1%} is "
    "expected on others.{unsettled}",
    "a retriever chooses a weight",
    COUNT,
    title="The weight of {encoder}",
    question="Weight",
)
UNSETTLED = Template(
    "The weight is not settled by {questions} ({low:g} to {high:g}).",
    f"the same, where the weights that are chosen on four fifths of the units span more than {SETTLED:g}",
    COUNT,
)
NO_THRESHOLD = Template(
    "{separates}None is recommended for {encoder}: {reason}.",
    "no threshold keeps the loss within the margin, or there are too few questions",
    THRESHOLD,
    "not shown",
    title="No threshold is recommended",
    question="Cut-off",
    severity="medium",
)
SEPARATES = Template(
    "A score separates the {unanswerable} (AUC {area}). ",
    "before it, where a corpus has unanswerable questions: it separates them where the interval of the area under the "
    "ROC curve of the top score is above 0.9",
    INTERVAL,
)
NO_SEPARATION = Template(
    "No score is shown to separate the {unanswerable} (AUC {area}). ",
    "the same, where it is not",
    INTERVAL,
    "not shown",
)
DROP_BELOW = Template(
    "{separates}Results of {encoder} below {threshold}{scale} may be dropped: at most {loss} of {headline} are lost "
    "{guarantee}; {removed:.0%} of the results go.",
    "it is the highest threshold within the margin",
    THRESHOLD,
    # Those of lists are not said together with those of similarities.
    title="Threshold{scale}",
    question="Cut-off",
    severity="medium",
)
DROP_BELOW_ON_AVERAGE = replace(
    DROP_BELOW,
    when="the same, where the questions are too few for a limit with 95 % confidence",
    procedure=AVERAGE_LOSS,
)
EQUAL_VALUES = Template(
    "{encoders}: exactly the same {headline}, the highest; their order has no meaning.",
    "the values are the same",
    COUNT,
    title="Equal values",
)
SATURATED_HEADLINE = Template(
    "{headline} is {reached} for {encoders}: it can hardly tell them apart.",
    f"two encoders that may be the best reach {SATURATED:.0%} or more",
    LIMIT,
    title="The headline is saturated",
    severity="medium",
    action="Compare Success@1: add -d retrieval,k=1.",
)
BY_DOT_PRODUCT = Template(
    "{encoders}: compared by dot product; its thresholds are on another scale than cosines.",
    "the encoder compares by dot product",
    LIMIT,
    title="Compared by dot product",
)
OVERFITTED = Template(
    "{encoders}: whitening overfits: {passages} are fewer than twice the dimensions.",
    "there are fewer distinct passages than twice the directions that are scaled",
    LIMIT,
    title="Whitening overfits",
)
WORDS_READ = Template(
    "{passages}: about {words}. Success by document does not see this: it counts the right page, not what is "
    "read of it.",
    "a run varies how documents are cut",
    LIMIT,
    title="Words read",
    question="Words",
    severity="medium",
)


def findings_of(view: RetrievalView, rows: Sequence[Row]) -> Iterator[Finding]:
    """Yield what is found about one encoder: failure, and the recommended threshold."""
    row_of = {(r.metric, r.subset): r for r in rows if r.encoder == view.encoder and not r.condition}
    success = row_of.get((view.headline, "all"))
    if success is not None:
        template = {"below": BELOW_CHANCE, "both": NOT_SHOWN}.get(against_chance(success, view.chance))
        if template is not None:
            yield template.finding(
                success,
                encoder=view.encoder,
                success=written(success),
                where=among_first(view.k),
                chance=view.chance,
            )
    missed = int(np.isnan(view.scores.values["rank"][view.answered]).sum())
    if view.listed is not None and missed:
        lists = LISTED.finding(
            view.scores.origin,
            style="count",
            encoder=view.encoder,
            listed=view.listed,
            documents=view.scores.scalars["documents"],
            missed=counted(missed, "question"),
        )
        yield replace(lists, value=missed)
    if success is not None and success.value is not None:
        if view.curve:
            yield _chosen_weight(view, success.value)
        is_known = view.listed is None or view.listed >= RERANKED
        if is_known and not view.is_baseline and view.scores.scalars["documents"] > RERANKED:
            share = _among_first(view, RERANKED)
            headroom = HEADROOM.finding(
                view.scores.origin,
                encoder=view.encoder,
                depth=RERANKED,
                share=number(share, "percent"),
                gain=size_in_points(max(0.0, share - success.value)),
                headline=view.headline,
            )
            yield replace(headroom, value=share)
        yield _threshold(view, row_of, success.value)


def _chosen_weight(view: RetrievalView, success: float) -> Finding:
    """Return which weight was chosen, and what is expected of it."""
    scalars, unsettled = view.scores.scalars, ""
    low, high = scalars["setting/lowest"], scalars["setting/highest"]
    if round(high - low, 9) > SETTLED:
        questions = counted(int(view.answered.sum()), "question")
        unsettled = " " + UNSETTLED.sentence(questions=questions, low=low, high=high)
    return CHOSEN.finding(
        view.scores.origin,
        encoder=view.encoder,
        weight=scalars["setting"],
        headline=view.headline,
        own=success,
        expected=scalars["setting/expected"],
        unsettled=unsettled,
    )


def _among_first(view: RetrievalView, depth: int) -> float:
    """Return the share of the questions whose nearest right document is among the first; expected over ties.

    Where words are counted, thousands of documents may have the score 0, and the right one is any of them.
    """
    rank, tied = view.scores.values["rank"][view.answered], view.scores.values["tied"][view.answered]
    return float(np.nan_to_num(np.clip((depth + 1 - rank) / np.fmax(tied, 1), 0, 1)).mean())


def _threshold(view: RetrievalView, row_of: Mapping[tuple[str, str], Row], success: float) -> Finding:
    """Return which similarities to drop, the guaranteed loss and the loss here; or why nothing is recommended."""
    threshold = view.recommended
    separates = _separation(view, row_of.get(("auc", "unanswerable")))
    if threshold.value is None or threshold.guarantee is None:
        return NO_THRESHOLD.finding(
            view.scores.origin, encoder=view.encoder, reason=threshold.reason, separates=separates
        )
    subset = RECOMMENDED[threshold.guarantee]
    success_at_threshold = row_of["accuracy_at_tau", subset].value or 0.0
    here = f"{100 * max(success - success_at_threshold, 0.0):.1f} here"
    template, guarantee = DROP_BELOW_ON_AVERAGE, f"on average ({here})"
    if threshold.guarantee == "confidence":
        template, guarantee = DROP_BELOW, f"with 95% confidence ({here})"
    return template.finding(
        row_of["tau", subset],
        style="threshold",
        encoder=view.encoder,
        threshold=number(threshold.value, "threshold"),
        scale=" (in its own scores)" if view.is_lists else "",
        loss=size_in_points(view.loss),
        headline=view.headline,
        guarantee=guarantee,
        removed=1 - (row_of["kept", subset].value or 0.0),
        separates=separates,
    )


def _separation(view: RetrievalView, row: Row | None) -> str:
    """Say whether the top score separates the unanswerable questions; empty where there are none."""
    if row is None or row.value is None:
        return ""
    is_separated = row.low is not None and row.low >= SEPARATED
    ends = "" if row.low is None or row.high is None else f" [{_short(row.low)}, {_short(row.high)}]"
    return (SEPARATES if is_separated else NO_SEPARATION).sentence(
        unanswerable=counted(len(view.largest_of_unanswerable), "unanswerable question"),
        area=f"{_short(row.value)}{ends}",
    )


def _short(area: float) -> str:
    """Write an area with two digits: ``.75``."""
    return f"{area:.2f}".removeprefix("0")


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
        yield EQUAL_VALUES.finding(view.scores.origin, encoders=", ".join(first), headline=view.headline)


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
        origin, headline = views[0].scores.origin, views[0].headline
        yield SATURATED_HEADLINE.finding(origin, headline=headline, reached=reached, encoders=names(list(high_values)))


def words_read(views: Sequence[RetrievalView]) -> Iterator[Finding]:
    """Yield how many words the first passages hold, where the candidates differ in that.

    Parameters
    ----------
    views
        Those of the encoders that were asked for.
    """
    # The first encoder with each length names it.
    encoder_of = {view.scores.scalars.get("passage_words", 0.0): view.encoder for view in reversed(views)}
    if len(encoder_of) < 2:
        return
    k = views[0].k
    words = [f"{k * length:,.0f} words with {encoder_of[length]}" for length in sorted(encoder_of)]
    yield WORDS_READ.finding(views[0].scores.origin, passages=counted(k, "passage"), words=names(words))


def scale_warnings(views: Sequence[RetrievalView]) -> Iterator[Finding]:
    """Yield which encoders do not compare by cosine, and which have too few passages for whitening."""
    candidates = [view for view in views if not view.is_baseline]
    by_dot = [view.encoder for view in candidates if view.compares_by_dot and not view.is_lists]
    if by_dot:
        yield BY_DOT_PRODUCT.finding(views[0].scores.origin, encoders=", ".join(by_dot))

    # With fewer distinct passages than twice the directions that it scales, whitening mostly scales their noise.
    passages_of = {view.encoder: view.scores.scalars.get("distinct_passages", 0.0) for view in candidates}
    overfitted = [v for v in candidates if v.scores.scalars.get("rank/whiten", 0.0) > passages_of[v.encoder] / 2]
    if overfitted:
        labels = ", ".join(view.encoder for view in overfitted)
        # A run may vary how documents are cut.
        passages = {int(passages_of[view.encoder]) for view in overfitted}
        number = f"{max(passages):,} passages"
        if len(passages) > 1:
            number = f"at most {number}"
        yield OVERFITTED.finding(views[0].scores.origin, encoders=labels, passages=number)
