"""The rows of retrieval that are no means over the questions: isotropy, exams, thresholds, correlations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from embassay.core.result import MIN_UNITS, Estimate, Row
from embassay.core.types import Draws
from embassay.diagnostics.metrics.scoreboard import pool_of, roles_of
from embassay.diagnostics.metrics.summary import row
from embassay.diagnostics.retrieval.view import RECOMMENDED, RetrievalView
from embassay.stats.correlate import MIN_ITEMS, Kind, across_models
from embassay.stats.exams import GRID, above, exams, minima, percentile_of_top, spread
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.labels import Labels
from embassay.stats.resample import too_few
from embassay.stats.separation import separation
from embassay.stats.shares import bounded_means
from embassay.stats.thresholds import questions_needed
from embassay.stats.units import Floats, Ints

ShareKey = tuple[str, str]
"""Metric and subset of a share."""
DEFINITIONS = ("minima", "pooled")
"""What the paper's τ is a percentile of: the smallest retrieved similarity of each exam, or all retrieved ones."""
MAIN = {"accuracy_l{length}": "all", "coe": "psi{psi}", "roe": "psi{psi}", "tau": RECOMMENDED["confidence"]}
"""By metric of exams and thresholds, the subset of the row that a reader looks for first."""
IN_RANGE = "pooled:range"
"""The subset of the rows at the largest ψ whose success is within the range of one exam."""
ACROSS = {
    "COE and success": ("coe", "success"),
    "ROE and τ": ("roe", "tau"),
    "ROE and success": ("roe", "success"),
    "I-A and success": ("i_a", "success"),
    "IsoScore and success": ("isoscore", "success"),
}
"""What is correlated over models: the paper's text and the last row of its table 4."""
OF_PASSAGES = ("i_a", "isoscore", "isoscore_unbiased", "rank")
"""The metrics of isotropy that are computed of the passages."""
KINDS: tuple[Kind, ...] = ("pearson", "spearman")


@dataclass(frozen=True)
class AtThresholds:
    """One encoder's thresholds and the shares at them.

    Attributes
    ----------
    thresholds
        τ by subset: each definition at each ψ and at the ψ that are chosen, and the recommended one.
    chosen
        The chosen ψ by subset.
    signed
        What the limits of the shares depend on besides; see :func:`~embassay.diagnostics.metrics.scoreboard.pool_of`.
    """

    thresholds: Mapping[str, float]
    chosen: Mapping[str, int]
    shares: Mapping[ShareKey, Estimate]
    signed: Mapping[str, str]


def at_thresholds(views: Sequence[RetrievalView], draws: Draws) -> dict[str, AtThresholds]:
    """Return what thresholds do, by encoder."""
    thresholds, chosen = zip(*(_thresholds_of(view, draws) for view in views), strict=True)
    scores = [view.scores for view in views]
    base_systems = roles_of(scores).base_systems
    answered = map(_answered_shares, views, thresholds)
    unanswerable = map(_unanswerable_shares, views, thresholds)
    names = [view.encoder for view in views]
    of_answered = _estimates(dict(zip(names, answered, strict=True)), views[0].labels, base_systems)
    of_unanswerable = _estimates(
        dict(zip(names, unanswerable, strict=True)), views[0].labels_of_unanswerable, base_systems
    )
    signed = dict[str, str]()
    if views[0].labels.partners or views[0].labels_of_unanswerable.partners:
        signed["pool"] = pool_of(scores)
    by_encoder = dict[str, AtThresholds]()
    for place, name in enumerate(names):
        shares = {**of_answered[name], **of_unanswerable[name]}
        by_encoder[name] = AtThresholds(thresholds[place], chosen[place], shares, signed)
    return by_encoder


def _estimates(
    values: Mapping[str, Mapping[ShareKey, Floats]], labels: Labels, base_systems: Sequence[str]
) -> dict[str, dict[ShareKey, Estimate]]:
    """Return the shares of each encoder from the values of their items."""
    estimates: dict[str, dict[ShareKey, Estimate]] = {name: {} for name in values}
    for key in dict.fromkeys(key for of_encoder in values.values() for key in of_encoder):
        of_key = {name: of_encoder[key] for name, of_encoder in values.items() if key in of_encoder}
        for name, estimate in bounded_means(of_key, labels, base_systems, of_shares=True).items():
            estimates[name][key] = estimate
    return estimates


def _answered_shares(view: RetrievalView, thresholds: Mapping[str, float]) -> dict[ShareKey, Floats]:
    """Return the (m,) items of all shares of answered questions."""
    shares = dict[ShareKey, Floats]()
    for subset, threshold in thresholds.items():
        accuracy, kept = view.answers.right_at(threshold), view.answers.kept_at(threshold)
        shares["accuracy_at_tau", subset] = _undefined_elsewhere(view, accuracy)
        shares["kept", subset] = _undefined_elsewhere(view, kept)
    return shares


def _undefined_elsewhere(view: RetrievalView, values: Floats) -> Floats:
    """Return (m,) items from the (d,) values of the questions with k similarities."""
    items = np.full(len(view.has_full_top_k), np.nan)
    items[view.has_full_top_k] = values
    return items


def _unanswerable_shares(view: RetrievalView, thresholds: Mapping[str, float]) -> dict[ShareKey, Floats]:
    """Return for each threshold which (u,) unanswerable questions find nothing; empty without such questions."""
    # A question finds nothing when even its largest similarity is below the threshold.
    largest = view.largest_of_unanswerable
    if not len(largest):
        return {}
    shares = dict[ShareKey, Floats]()
    for subset, threshold in thresholds.items():
        shares["unanswerable_dropped", subset] = np.where(np.isnan(largest), np.nan, largest < threshold)
    return shares


def computed_rows(view: RetrievalView, at: AtThresholds, draws: Draws) -> Iterator[Row]:
    """Yield the rows of one encoder."""
    yield from _isotropy(view, draws)
    yield from _separation(view, draws)
    if view.examined.any():
        yield from _exams(view, draws)
    if len(view.answers.top):
        if view.listed is None:
            yield from _above_thresholds(view, draws)
        else:
            yield from _undefined(view, draws, ("coe", "roe"), _needs_all_similarities(view.listed))
        yield from _thresholds(view, at, draws)
    else:
        metrics = ("coe", "roe", "tau") if view.examined.any() else tuple(MAIN)
        yield from _undefined(view, draws, metrics, view.why_no_similarities)


def _isotropy(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield I_A and IsoScore of the distinct passages, as they are and after each transform, and the rank it leaves."""
    # The lists of a retriever have no passages.
    passages = int(view.scores.scalars.get("distinct_passages", 0))
    for condition in ("", *TRANSFORMS):
        for metric in OF_PASSAGES:
            value = view.scores.scalars.get(f"{metric}/{condition}")
            if value is not None:
                estimate = Estimate(value, None, None, passages, passages)
                yield row(view.scores, draws, metric, "documents", estimate, condition)


def _separation(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield how well the top similarity separates answered from unanswerable questions, where there are such."""
    of_answered = view.scores.values["top"][view.answered][:, 0]
    groups = ((of_answered, view.labels), (view.largest_of_unanswerable, view.labels_of_unanswerable))
    estimate = separation(*groups)
    if estimate is not None:
        yield row(view.scores, draws, "auc", "unanswerable", estimate)


def _undefined(view: RetrievalView, draws: Draws, metrics: Sequence[str], reason: str) -> Iterator[Row]:
    """Yield the main rows of some metrics of exams and thresholds, undefined."""
    undefined = Estimate(None, None, None, 0, 0, len(view.unit), reason)
    for metric in metrics:
        subset = MAIN[metric].format(psi=view.psi)
        yield row(view.scores, draws, metric.format(length=view.length), subset, undefined)


def _needs_all_similarities(listed: int) -> str:
    """Return why COE and ROE are undefined."""
    return f"it needs the score of every document; there are lists of {listed:,} or fewer"


def _exams(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield the accuracy: the mean over exams with the 95 % range of one exam."""
    success = view.scores.values[view.headline][view.answered][view.examined]
    drawn = exams(len(success), draws, *view.stream, size=view.size)
    (summary,) = _over_exams(view, success[drawn].mean(axis=1, keepdims=True), view.examined)
    yield row(view.scores, draws, f"accuracy_l{view.length}", "all", summary, interval="exams", **view.signed)


def _above_thresholds(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield COE and ROE at each ψ: means over exams with the 95 % range of one exam."""
    answers = view.answers
    drawn = exams(len(answers.top), draws, *view.stream, size=view.size)
    thresholds = percentile_of_top(answers.top, drawn, view.percentiles)
    similarities = {"coe": answers.own, "roe": view.random.ravel()}
    for metric, values in similarities.items():
        summaries = _over_exams(view, above(values, thresholds), view.has_full_top_k)
        for psi, summary in zip(view.percentiles, summaries, strict=True):
            yield row(view.scores, draws, metric, f"psi{psi}", summary, interval="exams", **view.signed)


def _over_exams(view: RetrievalView, replicates: Floats, of: NDArray[np.bool_]) -> Iterator[Estimate]:
    """Yield the mean over exams and the 95 % range of one exam for each column of (exams, k) values.

    No range under ``MIN_UNITS`` units: exams drawn from so few would be nearly the same.

    Parameters
    ----------
    of
        (m,) the answered questions that the exams are drawn from.
    """
    units = len(np.unique(view.unit[of]))
    means, lows, highs = spread(replicates)
    for column in range(replicates.shape[1]):
        mean_over_exams = float(means[column])
        if units < MIN_UNITS:
            yield view.estimate(mean_over_exams, too_few(units), of)
            continue
        low = float(lows[column])
        high = float(highs[column])
        yield replace(view.estimate(mean_over_exams, of=of), low=low, high=high)


def _thresholds_of(view: RetrievalView, draws: Draws) -> tuple[dict[str, float], dict[str, int]]:
    """Return τ by subset, both definitions at each ψ and at the chosen ones, and the recommended; and the chosen ψ."""
    answers = view.answers
    if not len(answers.top):
        return {}, {}
    # The same exams as in the rows of COE and ROE: the random stream has the same name.
    drawn = exams(len(answers.top), draws, *view.stream, size=view.size)
    similarities = {"minima": minima(answers.top, drawn), "pooled": answers.top}
    thresholds = dict[str, float]()
    for definition in DEFINITIONS:
        at_psi = np.percentile(similarities[definition], view.percentiles).tolist()
        for psi, threshold in zip(view.percentiles, at_psi, strict=True):
            thresholds[f"{definition}:psi{psi}"] = threshold
    chosen = _chosen(view, thresholds, drawn)
    for subset, psi in chosen.items():
        thresholds[subset] = thresholds[f"{subset.split(':')[0]}:psi{psi}"]
    recommended = view.recommended
    if recommended.value is not None and recommended.loss_limit is not None and recommended.guarantee is not None:
        thresholds[RECOMMENDED[recommended.guarantee]] = recommended.value
    return thresholds, chosen


def _chosen(view: RetrievalView, thresholds: Mapping[str, float], drawn: Ints) -> dict[str, int]:
    """Return the ψ of both readings of the paper by subset.

    The paper prints the ψ of the highest mean accuracy; of equal ones, the largest is taken, which drops most. A ψ of
    20 to 45, as printed, results only if a lower accuracy is accepted: the largest ψ whose accuracy is within the range
    of one exam. That is for pooled thresholds; those of ``minima`` cost hardly any accuracy at any ψ.
    """
    chosen = dict[str, int]()
    accuracy = dict[tuple[str, int], float]()
    for definition in DEFINITIONS:
        for psi in GRID:
            threshold = thresholds[f"{definition}:psi{psi}"]
            accuracy[definition, psi] = float(view.answers.right_at(threshold).mean())
        of_definition = [(accuracy[definition, psi], psi) for psi in GRID]
        _, chosen[f"{definition}:paper"] = max(of_definition)
    _, (low,), _ = spread(view.answers.success[drawn].mean(axis=1, keepdims=True))
    in_range = [psi for psi in GRID if accuracy["pooled", psi] >= low]
    if in_range:
        chosen[IN_RANGE] = max(in_range)
    return chosen


def _thresholds(view: RetrievalView, at: AtThresholds, draws: Draws) -> Iterator[Row]:
    """Yield what each threshold keeps and costs: the paper's, over ψ and at its choice of ψ, and the recommended."""
    for definition in DEFINITIONS:
        # Only the smallest similarities depend on the exams.
        signed = view.signed if definition == "minima" else {}
        for psi in view.percentiles:
            yield from _at_threshold(view, at, draws, f"{definition}:psi{psi}", **signed)
    for subset, psi in at.chosen.items():
        signed = {} if subset == "pooled:paper" else view.signed
        yield row(view.scores, draws, "psi", subset, view.estimate(float(psi)), **signed)
        yield from _at_threshold(view, at, draws, subset, **signed)
    yield from _recommended(view, at, draws)


def _at_threshold(view: RetrievalView, at: AtThresholds, draws: Draws, subset: str, **signed: str) -> Iterator[Row]:
    """Yield the rows of one threshold: its value, and the shares at it that the corpus has.

    Parameters
    ----------
    subset
        The name of the threshold, as in ``at.thresholds``.
    signed
        Options that the threshold depends on, for the signatures of the rows.
    """
    threshold = view.estimate(at.thresholds[subset])
    yield row(view.scores, draws, "tau", subset, threshold, **signed)
    for metric in ("accuracy_at_tau", "kept", "unanswerable_dropped"):
        share = at.shares.get((metric, subset))
        if share is not None:
            yield row(view.scores, draws, metric, subset, share, **signed, **at.signed)


def _recommended(view: RetrievalView, at: AtThresholds, draws: Draws) -> Iterator[Row]:
    """Yield the recommended threshold with its loss limit and shares; null with the reason where there is none."""
    threshold = view.recommended
    signed = {"loss": f"{view.loss:g}"}
    if threshold.guarantee != "confidence":
        # A reader looks for this row first, so it is there also where the guarantee is weaker or missing.
        reason = threshold.reason or _needs_more_questions(view.loss)
        undefined = view.estimate(None, reason)
        yield row(view.scores, draws, "tau", RECOMMENDED["confidence"], undefined, **signed)
    if threshold.value is None or threshold.loss_limit is None or threshold.guarantee is None:
        return
    subset = RECOMMENDED[threshold.guarantee]
    loss_limit = view.estimate(threshold.loss_limit)
    yield row(view.scores, draws, "loss_limit", subset, loss_limit, **signed)
    yield from _at_threshold(view, at, draws, subset, **signed)


def _needs_more_questions(loss: float) -> str:
    """Return why a threshold holds on average only."""
    needed = np.ceil(questions_needed(loss, "confidence"))
    return (
        f"a threshold with 95% confidence needs {needed:,.0f} independent questions; these are fewer, enough for one "
        "that holds on average"
    )


def correlations(views: Sequence[RetrievalView], rows: Sequence[Row], draws: Draws) -> Iterator[Row]:
    """Yield Pearson's and Spearman's correlation across encoders for each pair of metrics in ``ACROSS``.

    Each encoder is one item of the correlation. Under ``MIN_ITEMS`` encoders there are none. The intervals assume that
    the encoders are a random sample, which they are not; see :func:`~embassay.stats.correlate.across_models`.

    Parameters
    ----------
    rows
        The rows of all encoders, whose values are correlated.
    """
    if len(views) < MIN_ITEMS:
        return
    # A correlation depends on the scores of all encoders, so its signature contains all their digests.
    digests = np.array(sorted(view.scores.digest for view in views))
    scores_of_all = replace(views[0].scores.of_corpus("answered"), labels={"encoders": digests})
    signed_options = {"psi": f"psi{views[0].psi}", "loss": f"{views[0].loss:g}"}

    # Thresholds of cosines and of dot products cannot be compared.
    kinds_of_similarity = {view.compares_by_dot for view in views}
    thresholds_are_comparable = len(kinds_of_similarity) == 1

    # Only isotropy is correlated after transforms too: COE, ROE and τ are of the untransformed vectors.
    conditions_with_rows = {r.condition for r in rows}
    transforms = [name for name in TRANSFORMS if name in conditions_with_rows]
    for subset, (first, second) in ACROSS.items():
        if second == "tau" and not thresholds_are_comparable:
            continue
        conditions = [""]
        if first in ("i_a", "isoscore"):
            conditions += transforms
        for condition in conditions:
            x = _values_of_encoders(first, condition, views, rows)
            y = _values_of_encoders(second, condition, views, rows)
            for kind in KINDS:
                correlation = across_models(x, y, kind)
                yield row(scores_of_all, draws, kind, subset, correlation, condition, **signed_options)


def _values_of_encoders(name: str, condition: str, views: Sequence[RetrievalView], rows: Sequence[Row]) -> Floats:
    """Return the (k,) values of one metric of ``ACROSS``, one for each of k encoders; NaN where it is undefined."""
    metric_and_subset = {
        "coe": ("coe", f"psi{views[0].psi}"),
        "roe": ("roe", f"psi{views[0].psi}"),
        "tau": ("tau", "minima:paper"),
        "success": (views[0].headline, "all"),
        "i_a": ("i_a", "documents"),
        "isoscore": ("isoscore", "documents"),
    }
    metric, subset = metric_and_subset[name]
    value_of_encoder = dict[str, float]()
    for r in rows:
        if (r.metric, r.subset, r.condition) == (metric, subset, condition) and r.value is not None:
            value_of_encoder[r.encoder] = r.value
    return np.array([value_of_encoder.get(view.encoder, np.nan) for view in views])
