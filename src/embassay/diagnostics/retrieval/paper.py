"""What the option ``paper`` adds: the figures of Roychowdhury et al. (2024), beside those that the paper prints.

Exams, COE and ROE at percentiles ψ, thresholds τ at ψ, and correlations over encoders; the formulas are in
:mod:`embassay.stats.exams`. The two isotropy columns of the paper are labelled the wrong way round; in the data files
they have the names that fit their values (``docs/retrieval.md``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from embassay.core.layout import (
    Column,
    CorpusTable,
    Curves,
    EncoderTable,
    Part,
    SeriesTable,
    SubsetTable,
    ThresholdCurves,
)
from embassay.core.result import MIN_UNITS, Estimate, Row, Series
from embassay.core.types import Draws
from embassay.diagnostics.metrics.scoreboard import without_baselines
from embassay.diagnostics.metrics.summary import row
from embassay.diagnostics.published import published, table
from embassay.diagnostics.retrieval.scores import NAME, K, RetrievalOptions, RetrievalView
from embassay.stats.correlate import MIN_ITEMS, Kind, across_models
from embassay.stats.exams import GRID, above, exams, minima, percentile_of_top, range_width, spread
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.resample import bootstrap_means, percentiles, tail, too_few
from embassay.stats.units import Bools, Floats, Ints

SQUAD_ID = re.compile(r"[0-9a-f]{24}")
"""How SQuAD numbers its questions; XQuAD, a part of it, keeps these numbers."""
WIDTHS = {
    "pair": "text",
    "width of the first": "percent",
    "of the second": "percent",
    "difference": "percent",
    "from": "percent",
    "to": "percent",
}
"""The columns of the table of the widths of the ranges of exams, with their formats."""
CURVES = {"coe": "COE", "roe": "ROE"}
"""The title of each metric that is drawn over ψ."""
KINDS: tuple[Kind, ...] = ("pearson", "spearman")


def _levels(options: RetrievalOptions) -> tuple[int, ...]:
    """Return the ψ at which COE, ROE and the thresholds are computed, in ascending order."""
    return tuple(sorted({*GRID, options.psi}))


def _exams(view: RetrievalView, questions: int, draws: Draws) -> Ints:
    """Return (exams, length) the questions of each exam, the same ones for every figure."""
    return exams(questions, draws, *view.stream, size=(view.options.exams, view.options.length))


def exam_rows(view: RetrievalView, draws: Draws) -> Iterator[Row]:
    """Yield the accuracy, COE and ROE: means over exams with the 95 % range of one exam."""
    options, answers = view.options, view.answers

    def made(metric: str, subset: str, estimate: Estimate) -> Row:
        return row(view.scores, draws, metric, subset, estimate, interval="exams", **options.recipe)

    # What the lists of a retriever lack is missed; a question without similarities is undefined.
    examined = np.ones_like(view.has_full_top_k) if view.is_lists else view.has_full_top_k
    undefined = Estimate(None, None, None, 0, 0, len(examined), view.why_no_similarities)
    accuracy = undefined
    if examined.any():
        success = view.values(view.headline)[examined]
        of_exams = success[_exams(view, len(success), draws)].mean(axis=1, keepdims=True)
        (accuracy,) = _over_exams(view, of_exams, examined)
    yield made(f"accuracy_l{options.length}", "all", accuracy)
    if not len(answers.top) or view.listed is not None:
        if len(answers.top):
            reason = f"it needs the score of every document; there are lists of {view.listed:,} or fewer"
            undefined = replace(undefined, reason=reason)
        for metric in CURVES:
            yield made(metric, f"psi{options.psi}", undefined)
        return
    levels = _levels(options)
    thresholds = percentile_of_top(answers.top, _exams(view, len(answers.top), draws), levels)
    for metric, similarities in (("coe", answers.own), ("roe", view.random.ravel())):
        estimates = _over_exams(view, above(similarities, thresholds), view.has_full_top_k)
        for psi, estimate in zip(levels, estimates, strict=True):
            yield made(metric, f"psi{psi}", estimate)


def _over_exams(view: RetrievalView, replicates: Floats, of: Bools) -> Iterator[Estimate]:
    """Yield the mean over exams and the 95 % range of one exam for each column of (exams, k) values.

    No range under ``MIN_UNITS`` units: exams drawn from so few would be nearly the same.

    Parameters
    ----------
    of
        (m,) the answered questions that the exams are drawn from.
    """
    for mean, low, high in zip(*spread(replicates), strict=True):
        estimate = view.estimate(float(mean), of=of)
        if estimate.units < MIN_UNITS:
            yield replace(estimate, reason=too_few(estimate.units))
        else:
            yield replace(estimate, low=float(low), high=float(high))


def paper_thresholds(view: RetrievalView, draws: Draws) -> tuple[dict[str, float], dict[str, int]]:
    """Return τ by subset, both definitions at each ψ and at the ψ that are chosen, and these ψ by subset.

    τ is a percentile of the smallest retrieved similarity of each exam (``minima``, as the paper prints it), or of all
    retrieved ones (``pooled``). The paper prints the ψ of the highest mean accuracy; of equal ones, the largest is
    taken, which drops most. A ψ of 20 to 45, as printed, results only if a lower accuracy is accepted: the largest ψ
    whose accuracy is within the range of one exam. That is for pooled thresholds; those of ``minima`` cost hardly any
    accuracy at any ψ.
    """
    answers, levels = view.answers, _levels(view.options)
    if not len(answers.top):
        return {}, {}
    drawn = _exams(view, len(answers.top), draws)
    _, (lowest,), _ = spread(answers.success[drawn].mean(axis=1, keepdims=True))
    thresholds, chosen = dict[str, float](), dict[str, int]()
    for definition, similarities in (("minima", minima(answers.top, drawn)), ("pooled", answers.top)):
        at = dict(zip(levels, np.percentile(similarities, levels).tolist(), strict=True))
        accuracy = {psi: answers.right_at(at[psi]).mean() for psi in GRID}
        choices = {"paper": max(GRID, key=lambda psi, of=accuracy: (of[psi], psi))}
        in_range = [psi for psi in GRID if accuracy[psi] >= lowest]
        if definition == "pooled" and in_range:
            choices["range"] = in_range[-1]
        thresholds |= {f"{definition}:psi{psi}": threshold for psi, threshold in at.items()}
        thresholds |= {f"{definition}:{choice}": at[psi] for choice, psi in choices.items()}
        chosen |= {f"{definition}:{choice}": psi for choice, psi in choices.items()}
    return thresholds, chosen


def correlations(views: Sequence[RetrievalView], rows: Sequence[Row], draws: Draws) -> Iterator[Row]:
    """Yield Pearson's and Spearman's correlation across encoders: those of the paper's text and of its table 4.

    Each encoder is one item of the correlation. Under ``MIN_ITEMS`` encoders there are none. The intervals assume that
    the encoders are a random sample, which they are not; see :func:`~embassay.stats.correlate.across_models`.

    Parameters
    ----------
    rows
        The rows of all encoders, whose values are correlated.
    """
    if len(views) < MIN_ITEMS:
        return
    options = views[0].options
    success = (views[0].headline, "all")
    coe, roe = (("coe", f"psi{options.psi}"), ("roe", f"psi{options.psi}"))
    pairs = {
        "COE and success": (coe, success),
        "ROE and τ": (roe, ("tau", "minima:paper")),
        "ROE and success": (roe, success),
        "I-A and success": (("i_a", "documents"), success),
        "IsoScore and success": (("isoscore", "documents"), success),
    }
    if len({view.compares_by_dot for view in views}) > 1:
        # Thresholds of cosines and of dot products cannot be compared.
        del pairs["ROE and τ"]
    value_of = {(r.encoder, r.metric, r.subset, r.condition): r.value for r in rows}
    # A correlation depends on the scores of all encoders, so its signature contains all their digests.
    digests = np.array(sorted(view.scores.digest for view in views))
    scores_of_all = replace(views[0].scores.of_corpus("answered"), labels={"encoders": digests})
    for subset, pair in pairs.items():
        conditions = [""]
        if pair[0][1] == "documents":
            # COE, ROE and τ are of the untransformed vectors.
            conditions += [name for name in TRANSFORMS if any(r.condition == name for r in rows)]
        for condition in conditions:
            x, y = (
                np.array([value_of.get((view.encoder, *figure, condition)) for view in views], dtype=np.float64)
                for figure in pair
            )
            for kind in KINDS:
                yield row(scores_of_all, draws, kind, subset, across_models(x, y, kind), condition, **options.recipe)


# Series


def widths(views: Sequence[RetrievalView], draws: Draws) -> Iterator[Series]:
    """Yield how much the widths of the ranges of exams differ, for each pair of encoders.

    The intervals are paired: each resample of units gives the widths of all encoders.
    """
    unit = views[0].labels.label_set
    if len(views) < 2 or len(np.unique(unit)) < MIN_UNITS:
        return
    success = np.stack([view.values(view.headline) for view in views], axis=1)
    moments = np.hstack([success, success**2])
    replicates = bootstrap_means(moments, unit, draws, *views[0].stream)
    # (1 + resamples, encoders): the first row has the observed widths.
    means = np.hsplit(np.vstack([np.nanmean(moments, axis=0), replicates]), 2)
    width = range_width(*means, views[0].options.length)
    share = np.array([tail(np.bincount(unit).astype(np.float64))])
    lines = list[list[object]]()
    for a, b in combinations(range(len(views)), 2):
        differences = width[:, [a]] - width[:, [b]]
        ends = percentiles(differences[1:], share)
        numbers = np.concatenate([width[0, [a, b]], differences[0], *ends])
        lines.append([f"{views[a].encoder} − {views[b].encoder}", *numbers.tolist()])
    yield table(NAME, views[0].corpus, "widths", WIDTHS, lines)


def curves(views: Sequence[RetrievalView], rows: Sequence[Row]) -> Iterator[Series]:
    """Yield COE and ROE over ψ, with the options that the page names."""
    value_of = {(r.encoder, r.metric, r.subset): r.value for r in rows}
    for metric, title in CURVES.items():
        lines, options = list[dict[str, object]](), dict[str, int]()
        for view in views:
            if len(view.answers.top):
                values = [value_of.get((view.encoder, metric, f"psi{psi}")) for psi in GRID]
                lines.append({"encoder": view.encoder, "line": title, "y": values})
            names = {"psi": "psi", "exams": "exams", "length": "length", "random_documents": "random"}
            options = {shown: getattr(view.options, name) for shown, name in names.items()}
        if any(value is not None for line in lines for value in line["y"]):  # type: ignore[attr-defined]
            x = "ψ, percentile of the retrieved similarities"
            data = {"x": x, "y": title, "at": GRID, "lines": lines, "options": options}
            yield Series(NAME, views[0].corpus, metric, "curve", data)


def beside_published(views: Sequence[RetrievalView], rows: Sequence[Row]) -> Iterator[Series]:
    """Yield the published tables that apply, with the encoders of the run.

    The table on SQuAD is for questions of SQuAD, the one of transforms for encoders that were transformed; with another
    number of documents than the paper's there is no encoder of the run beside the paper's.
    """
    is_transformed = any(row.condition for row in rows)
    applies = {
        "telecomquad": True,
        "squad": all(SQUAD_ID.fullmatch(item) for item in views[0].scores.item.tolist()),
        "transforms": is_transformed,
        "correlations": is_transformed,
    }
    by_key = {(r.encoder, r.metric, r.subset, r.condition): r for r in rows}
    encoders = [view.encoder for view in without_baselines(views)] if views[0].options.k == K else []
    for name, is_shown in applies.items():
        if not is_shown or not (encoders or name == "telecomquad"):
            continue
        paper = published(name)
        lines = [_line(cells, "", by_key) for cells in paper["rows"]]
        # Sparse vectors are not transformed.
        needed = paper.get("needs")
        measured = [encoder for encoder in encoders if not needed or (encoder, *needed) in by_key]
        if "measured" in paper:
            lines += [_line(paper["measured"], encoder, by_key) for encoder in measured]
        columns = {key: paper[key] for key in ("columns", "formats", "source")}
        yield Series(NAME, views[0].corpus, paper["series"], "table", {**columns, "rows": lines})


def _line(
    cells: Sequence[Any], encoder: str, by_key: Mapping[tuple[str, str, str, str], Row]
) -> list[str | float | None]:
    """Return a line of a table; a cell that is a list names a figure: metric, subset, condition, value or end."""
    line = list[str | float | None]()
    for cell in cells:
        if isinstance(cell, list):
            *key, part = cell
            line.append(getattr(by_key.get((encoder, *key)), part, None))
        else:
            line.append(cell.format(encoder=encoder) if isinstance(cell, str) else cell)
    return line


# Page


def paper_parts(options: RetrievalOptions) -> tuple[Part, ...]:
    """Return the parts of the page, folded below the others."""
    k, psi, length = options.k, options.psi, options.length
    exam = (
        f"The mean over {options.exams:,} exams of {length:,} questions drawn with replacement, with the range of 95% "
        "of them."
    )
    readings = {"minima:paper": "minima", "pooled:paper": "pooled", "pooled:range": "pooled, in range"}
    of_readings = list[Column]()
    for subset, reading in readings.items():
        for heading, metric in {"ψ": "psi", "τ": "tau", "success at τ": "accuracy_at_tau", "kept": "kept"}.items():
            of_readings.append(Column(f"{heading}, {reading}", metric, subset))
    at_all = {
        "its value": "tau",
        f"Success@{k} at it": "accuracy_at_tau",
        "share of the retrieved that is kept": "kept",
        "unanswerable questions that find nothing": "unanswerable_dropped",
    }
    transformed = [Column(f"Pearson, {name.replace('_', ' ')}", "pearson", "", name) for name in TRANSFORMS]
    return (
        EncoderTable(
            f"One exam of {length:,} questions",
            (Column(f"accuracy (l = {length})", f"accuracy_l{length}"),),
            note=f"{exam} The range is that of a single test of {length:,} questions, about √(questions/{length}) "
            f"times as wide as the interval of Success@k.",
        ),
        SeriesTable(
            "How wide the range of one exam is",
            "widths",
            note=f"2 · 1.96 · √(variance/{length}). The variance of a share p is p(1 − p), so above 50% a higher "
            "success alone makes the range narrower. Intervals are paired on the same questions. The paper's "
            "ranges before and after adaptation: 17.0 and 13.0 points.",
        ),
        EncoderTable(
            "Overlap of distributions",
            (Column("COE", "coe", f"psi{psi}"), Column("ROE", "roe", f"psi{psi}")),
            note="Of right documents (COE) and of random ones (ROE): the share that is more similar than the lowest "
            f"{psi}% of what is retrieved (ψ = {psi}). High COE and low ROE are good. {exam} Random documents for each "
            f"question: {options.random}.",
        ),
        Curves(
            "COE over ψ", "coe", note="The share of right documents above the ψ-th percentile of what is retrieved."
        ),
        Curves("ROE over ψ", "roe", note="The same for random documents."),
        ThresholdCurves(
            "What a threshold on the similarity does",
            "tau",
            "pooled:",
            (
                ("accuracy_at_tau", "questions whose right document is found"),
                ("kept", "retrieved documents that are kept"),
                ("unanswerable_dropped", "unanswerable questions that find nothing"),
            ),
            note="Documents that are less similar than the threshold are dropped.",
        ),
        EncoderTable(
            "The paper's thresholds",
            tuple(of_readings),
            note="minima: the ψ-th percentile of the smallest similarity of each exam, as the paper prints it; pooled: "
            "of all retrieved similarities. Of ψ = 5, 10, … 95 the one with the highest success at τ; in range: the "
            "largest with a success in the range of one exam. The paper prints ψ of 20 to 45.",
        ),
        *(
            SubsetTable(f"Every threshold τ: {title}", metric, ("pooled:", "minima:"))
            for title, metric in at_all.items()
        ),
        CorpusTable(
            "Across encoders: what goes with success",
            (Column("Pearson", "pearson", ""), Column("Spearman", "spearman", ""), *transformed),
            note="Over the encoders of this run, which are not a random sample: Fisher's intervals understate the "
            "uncertainty. With fewer than four encoders there is no correlation.",
        ),
        SeriesTable(
            "The paper's figures: TelecomQuAD (tables 2 and 4), and here",
            "published",
            note="With K = 5. Here, τ and ψ are those of pooled, in range. The isotropy columns are labelled "
            "swapped in the paper; here they have the names that fit their values. The corpus is "
            "not public: do not compare single values with it.",
        ),
        SeriesTable(
            "The paper's figures: a sample of SQuAD (table 3), and yours",
            "published_squad",
            note="Sentences, K = 5, the range of exams of 100 questions. The paper took 1,009 questions on 651 "
            "sentences at random and does not say which, so numbers differ with the sample. Two isotropy pairs "
            "are printed for two models each, so one of each is wrong.",
        ),
        SeriesTable(
            "The paper's figures: what transforms do on TelecomQuAD (table 4), and here",
            "published_transforms",
            note="Another corpus: compare what a transform changes, not the numbers. Measured here: "
            f"Success@{k}, which is what the paper's accuracy is on average.",
        ),
        SeriesTable(
            "The paper's figures: the correlation of isotropy with accuracy (table 4), and here",
            "published_correlations",
            note="Pearson, over the paper's 14 models; here over the requested encoders, if there are four or more.",
        ),
    )
