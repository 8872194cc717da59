"""What the option ``paper`` adds: the figures of Roychowdhury et al. (2024), beside those that the paper prints.

Exams, COE and ROE at percentiles ψ, thresholds τ at ψ, and correlations over encoders; the formulas are in
:mod:`embassay.stats.exams`. The two isotropy columns of the paper are labelled the wrong way round; in the data files
they have the names that fit their values (``docs/retrieval.md``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from embassay.core.layout import Column, CorpusTable, Part, SeriesTable, SubsetTable
from embassay.core.result import MIN_UNITS, Estimate, Row
from embassay.core.types import Draws
from embassay.diagnostics.metrics.summary import row
from embassay.diagnostics.retrieval.scores import RetrievalView
from embassay.stats.correlate import MIN_ITEMS, Kind, across_models
from embassay.stats.exams import GRID, above, exams, minima, percentile_of_top, spread
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.resample import too_few
from embassay.stats.units import Bools, Floats

KINDS: tuple[Kind, ...] = ("pearson", "spearman")
RowByKey = Mapping[tuple[str, ...], Row]
"""Rows by encoder, metric, subset and condition."""
ACCURACY = "accuracy_l100"
"""The name of the accuracy of an exam of 100 questions."""
FIGURES = {
    ACCURACY: (
        "Accuracy of one exam",
        "The mean over 500 exams of 100 questions, drawn with replacement, with the range of 95% of "
        "them: that of a single test, about √(questions/length) times as wide as the interval of Success@k.",
    ),
    "coe": (
        "COE at each ψ",
        "The share of right documents that are more similar than the lowest ψ% of what is retrieved: high is good. "
        "Means over exams, with the range of 95% of them.",
    ),
    "roe": ("ROE at each ψ", "The same for random documents: low is good."),
    "psi": (
        "Chosen percentiles",
        "ψ. minima: τ is the ψ-th percentile of the smallest similarity of each exam, as the paper prints it; pooled: "
        "of all retrieved similarities. paper: of ψ = 5, 10, … 95 the one with the highest success at τ; range: the "
        "largest with a success in the range of one exam. The paper prints ψ of 20 to 45.",
    ),
    "tau": ("Every threshold τ: its value", ""),
    "accuracy_at_tau": ("Every threshold τ: success at it", ""),
    "kept": ("Every threshold τ: share of the retrieved that is kept", ""),
    "unanswerable_dropped": ("Every threshold τ: unanswerable questions that find nothing", ""),
}
"""The title and the note of the table of each metric."""


def exam_rows(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield the accuracy, COE and ROE: means over exams with the 95 % range of one exam."""
    answers, of = view.answers, view.has_full_top_k
    made = partial(row, view.scores, draws, interval="exams")
    # What the lists of a retriever lack is missed; a question without similarities is undefined.
    success = view.values(view.headline)
    examined = ~np.isnan(success)
    success = success[examined]
    if len(success):
        of_exams = success[exams(len(success), draws, *view.stream)].mean(axis=1, keepdims=True)
        (accuracy,) = _over_exams(view, of_exams, examined)
        yield made(ACCURACY, "all", accuracy)
    # COE and ROE need the score of every document.
    if view.listed is not None or not len(answers.top):
        return
    percentiles = view.options.percentiles
    drawn = exams(len(answers.top), draws, *view.stream)
    thresholds = percentile_of_top(answers.top, drawn, percentiles)
    for metric, similarities in (("coe", answers.own), ("roe", view.random.ravel())):
        estimates = _over_exams(view, above(similarities, thresholds), of)
        for psi, estimate in zip(percentiles, estimates, strict=True):
            yield made(metric, f"psi{psi}", estimate)


def _over_exams(view: RetrievalView, replicates: Floats, of: Bools) -> Iterator[Estimate]:
    """Yield the mean over exams and the 95 % range of one exam for each column of (exams, k) values.

    No range under ``MIN_UNITS`` units: exams drawn from so few would be nearly the same.

    Parameters
    ----------
    of
        (m,) the answered questions that the exams are drawn from.
    """
    for mean, low, high in np.stack(spread(replicates), axis=1).tolist():
        estimate = view.estimate(mean, of=of)
        if estimate.units < MIN_UNITS:
            yield replace(estimate, reason=too_few(estimate.units))
        else:
            yield replace(estimate, low=low, high=high)


def threshold_rows(view: RetrievalView, draws: Draws) -> tuple[list[Row], dict[str, float]]:
    """Return the rows of τ and of the ψ that are chosen, and τ by subset: both definitions at each ψ and at these.

    τ is a percentile of the smallest retrieved similarity of each exam (``minima``, as the paper prints it), or of all
    retrieved ones (``pooled``). The paper prints the ψ of the highest mean accuracy; of equal ones, the largest is
    taken, which drops most. A ψ of 20 to 45, as printed, results only if a lower accuracy is accepted: the largest ψ
    whose accuracy is within the range of one exam. That is for pooled thresholds; those of ``minima`` cost hardly any
    accuracy at any ψ.
    """
    answers, thresholds, chosen = view.answers, dict[str, float](), dict[str, int]()
    if not len(answers.top):
        return [], thresholds
    drawn = exams(len(answers.top), draws, *view.stream)
    _, (lowest,), _ = spread(answers.success[drawn].mean(axis=1, keepdims=True))
    for definition, similarities in (("minima", minima(answers.top, drawn)), ("pooled", answers.top)):
        accuracy = dict[int, float]()
        for psi in view.options.percentiles:
            threshold = thresholds[f"{definition}:psi{psi}"] = float(np.percentile(similarities, psi))
            accuracy[psi] = float(answers.right_at(threshold).mean())
        best = max(accuracy[psi] for psi in GRID)
        chosen[f"{definition}:paper"] = max(psi for psi in GRID if accuracy[psi] == best)
    in_range = [psi for psi in GRID if accuracy[psi] >= lowest]
    if in_range:
        chosen["pooled:range"] = max(in_range)
    for subset, psi in chosen.items():
        thresholds[subset] = thresholds[f"{subset.partition(':')[0]}:psi{psi}"]
    made = partial(row, view.scores, draws)
    rows = [made("psi", subset, view.estimate(float(psi))) for subset, psi in chosen.items()]
    rows += [made("tau", subset, view.estimate(tau)) for subset, tau in thresholds.items()]
    return rows, thresholds


def correlations(views: Sequence[RetrievalView], row_of: RowByKey, draws: Draws) -> Iterator[Row]:
    """Yield Pearson's and Spearman's correlation across encoders: those of the paper's text and of its table 4.

    Each encoder is one item of the correlation. Under ``MIN_ITEMS`` encoders there are none. The intervals assume that
    the encoders are a random sample, which they are not; see :func:`~embassay.stats.correlate.across_models`.
    """
    if len(views) < MIN_ITEMS:
        return
    psi = f"psi{views[0].options.psi}"
    figure_of = {
        "success": (views[0].headline, "all"),
        "COE": ("coe", psi),
        "ROE": ("roe", psi),
        "τ": ("tau", "minima:paper"),
        "I-A": ("i_a", "documents"),
        "IsoScore": ("isoscore", "documents"),
    }
    # A correlation depends on the scores of all encoders, so its signature contains all their digests.
    digests = np.array(sorted(view.scores.digest for view in views))
    scores_of_all = replace(views[0].scores.of_corpus("answered"), labels={"encoders": digests})

    def rows_of(name: str, condition: str) -> list[Row | None]:
        return [row_of.get((view.encoder, *figure_of[name], condition)) for view in views]

    def values(rows: Sequence[Row | None]) -> Floats:
        # None becomes NaN.
        return np.array([row and row.value for row in rows], dtype=np.float64)

    for subset in ("COE and success", "ROE and τ", "ROE and success", "I-A and success", "IsoScore and success"):
        first, second = subset.split(" and ")
        if "τ" in subset and len({view.compares_by_dot for view in views}) > 1:
            # Thresholds of cosines and of dot products cannot be compared.
            continue
        for condition in ("", *TRANSFORMS):
            rows = rows_of(first, condition)
            # COE, ROE and τ are of the untransformed vectors.
            if any(rows):
                x, y = values(rows), values(rows_of(second, condition))
                for kind in KINDS:
                    yield row(scores_of_all, draws, kind, subset, across_models(x, y, kind), condition)


# Page


def paper_parts() -> Iterator[Part]:
    """Yield the parts of the page, folded below the others: each metric at each ψ, and the published tables."""
    for metric, (title, note) in FIGURES.items():
        yield SubsetTable(title, metric, ("recommended", "recommended_on_average"), note)
    across = (Column("Pearson", "pearson", ""), Column("Spearman", "spearman", ""))
    transformed = (Column(f"Pearson, {name.replace('_', ' ')}", "pearson", "", name) for name in TRANSFORMS)
    yield CorpusTable(
        "Across encoders: what goes with success",
        (*across, *transformed),
        "Over the encoders of this run, which are not a random sample: Fisher's intervals understate the uncertainty. "
        "With fewer than four encoders there is no correlation.",
    )
    yield SeriesTable(
        "The paper's figures: TelecomQuAD (tables 2 and 4), and yours",
        "published",
        "With K = 5. Success@5 is what the paper's accuracy of an exam is on average. The paper labels its isotropy "
        "columns the wrong way round; here they have the names that fit their values. The corpus is not public: "
        "compare what a transform changes, not single values.",
    )
