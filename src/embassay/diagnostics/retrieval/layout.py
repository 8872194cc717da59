"""How retrieval is shown: its tables, curves and the card on what a similarity means."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from embassay.core.formatting import among_first, size_in_points
from embassay.core.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    Curves,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    SeriesTable,
    SubsetTable,
    ThresholdCurves,
)
from embassay.core.result import Result
from embassay.diagnostics.retrieval.scores import RankingMetric
from embassay.diagnostics.retrieval.view import LOSS, K, RetrievalParameters
from embassay.stats.geometry.transforms import NAMES as TRANSFORMS
from embassay.stats.thresholds import questions_needed

FOUND = 5
"""How many of the documents found for a question are listed, at most."""


def options_of(result: Result) -> RetrievalParameters:
    """Return the options that a result was made with."""
    # The options are not stored in a result, so they are read from its content.
    k = K
    for verdict in result.verdicts:
        if verdict.metric.startswith("Success@"):
            k = int(verdict.metric.removeprefix("Success@"))
            break
    for series in result.series:
        if (series.diagnostic, series.name) == ("retrieval", "coe"):
            return RetrievalParameters(k, **series.data.get("options", {}))
    return RetrievalParameters(k)


def page(options: RetrievalParameters, ranking: Sequence[RankingMetric]) -> Layout:
    """Return the page for a number of retrieved documents, with COE and ROE at a percentile.

    Parameters
    ----------
    ranking
        The ranking metrics with the values of their options.
    """
    k, length = options.k, options.length
    success = Column(f"Success@{k}", f"Success@{k}")
    found = tuple(f"found{place}" for place in range(1, min(k, FOUND) + 1))
    return Layout(
        title="Retrieval",
        question="Which encoder finds the right document, and from what similarity on?",
        headline=_headline(k, ranking),
        parts=(
            IntervalChart(f"Success@{k} with its 95% interval", success),
            ComparisonTable(
                "Which differences are shown",
                success,
                note="Paired on the same questions; p by exchanging questions that share documents, corrected within "
                "each family.",
            ),
            Curves(
                "The weight of a hybrid's first part",
                "weights",
                note="The mean reciprocal rank of all questions by weight. weight=auto is the weight of the highest "
                "point, which is too high: it was chosen on these questions.",
                zero=False,
            ),
            *_meaning(options),
            *_thresholds(),
            EncoderTable(
                "Ranking metrics",
                tuple(metric.column for metric in ranking),
                note="Names as in ir-measures. Tied documents count with the expected value over all their "
                "orders: an encoder that gives all documents the same similarity scores as random choice does.",
            ),
            EncoderTable(
                f"One exam of {length:,} questions",
                (Column(f"accuracy (l = {length})", f"accuracy_l{length}"),),
                note=f"{options.exam} The range is that of a single test of {length:,} questions, about "
                f"√(questions/{length}) times as wide as the interval of Success@k.",
            ),
            SeriesTable(
                "How wide the range of one exam is",
                "widths",
                note=f"2 · 1.96 · √(variance/{length}). The variance of a share p is p(1 − p), so above 50% a higher "
                "success alone makes the range narrower. Intervals are paired on the same questions. The paper's "
                "ranges before and after adaptation: 17.0 and 13.0 points.",
            ),
            *_transforms(success),
            *_across(),
            Examples(
                "Question by question",
                "question",
                texts=(("right", "right document"),),
                columns=(
                    ExampleColumn("rank of right document", ("rank", "ties"), "count"),
                    ExampleColumn("its similarity", ("right",), passages=True),
                    ExampleColumn("found first", found, passages=True),
                ),
                margin="the similarity of the nearest right document less that of the nearest wrong one",
                threshold=Column("τ", "tau", "recommended"),
                note=f"Right: a right document is {among_first(k)}. Beside each passage its similarity to the "
                "question; below the threshold τ it would be dropped.",
            ),
        ),
        source="Roychowdhury et al. (2024), A Compass for Navigating the World of Sentence Embeddings for the Telecom "
        "Domain",
        paper=(
            *_overlap(options),
            *_paper_thresholds(k),
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
                note="Pearson, over the paper's 14 models; here over the encoders asked for, from four on.",
            ),
        ),
    )


def _headline(k: int, ranking: Sequence[RankingMetric]) -> EncoderTable:
    """Return the headline table: success, and the recommended threshold with what it keeps."""
    beside = [metric.column for metric in ranking if metric.beside_headline]
    meanings = [f"{metric.name}: {metric.meaning}." for metric in ranking if metric.beside_headline]
    return EncoderTable(
        f"Questions with a right document {among_first(k)}",
        (
            Column(f"Success@{k}", f"Success@{k}"),
            *beside,
            Column("threshold τ (95%)", "tau", "recommended"),
            Column(f"Success@{k} at τ", "accuracy_at_tau", "recommended"),
            Column("kept at τ", "kept", "recommended"),
        ),
        note=f"Success@{k}: of all questions that have an answer. {' '.join(meanings)} τ: dropping results below it "
        "loses no more success than allowed, with 95% confidence.",
    )


def _meaning(options: RetrievalParameters) -> tuple[Curves | SeriesTable, ...]:
    """Return the curves and tables on what a similarity means."""
    return (
        Curves(
            "How similar questions are to random, right and retrieved documents",
            "densities",
            note=f"Random documents for each question: {options.random_documents}. Retrieved: the nearest {options.k}. "
            "Where the curves of right and retrieved documents overlap, no threshold can separate them. The paper's "
            "figures 1 and 2.",
            split=True,
        ),
        SeriesTable(
            "What a similarity means",
            "card",
            note="For each encoder: the share of random, retrieved and right pairs that are less similar. A "
            "similarity of 0.6 means something different for each encoder.",
        ),
    )


def _overlap(options: RetrievalParameters) -> tuple[EncoderTable | Curves, ...]:
    """Return COE and ROE, which the paper reads off at one percentile."""
    psi = options.psi
    return (
        EncoderTable(
            "Overlap of distributions",
            (Column("COE", "coe", f"psi{psi}"), Column("ROE", "roe", f"psi{psi}")),
            note="Of right documents (COE) and of random ones (ROE): the share that is more similar than the lowest "
            f"{psi}% of what is retrieved (ψ = {psi}). High COE and low ROE are good. {options.exam}",
        ),
        Curves(
            "COE over ψ", "coe", note="The share of right documents above the ψ-th percentile of what is retrieved."
        ),
        Curves("ROE over ψ", "roe", note="The same for random documents."),
    )


def _tables_of_all_thresholds(k: int) -> tuple[SubsetTable, ...]:
    """Return a folded table for each metric at a threshold: its rows are both definitions of τ at each ψ."""
    definitions = ("pooled:", "minima:")
    return (
        SubsetTable("Every threshold τ: its value", "tau", definitions),
        SubsetTable(f"Every threshold τ: Success@{k} at it", "accuracy_at_tau", definitions),
        SubsetTable("Every threshold τ: share of the retrieved that is kept", "kept", definitions),
        SubsetTable(
            "Every threshold τ: unanswerable questions that find nothing",
            "unanswerable_dropped",
            definitions,
        ),
    )


def _thresholds() -> tuple[ThresholdCurves | EncoderTable, ...]:
    """Return what any threshold does, and the recommended one."""
    for_confidence, on_average = (ceil(questions_needed(LOSS, guarantee)) for guarantee in ("confidence", "average"))
    recommended = list[Column]()
    for subset, suffix in (("recommended", ""), ("recommended_on_average", ", on average")):
        recommended += _columns_at_threshold(subset, suffix)
        recommended.append(Column(f"limit of the loss{suffix}", "loss_limit", subset))
        recommended.append(Column(f"unanswerable questions that find nothing{suffix}", "unanswerable_dropped", subset))
    return (
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
            "A recommended threshold, and what it does",
            tuple(recommended),
            note="The highest similarity for which the upper 95% confidence limit of the loss is no more than allowed "
            f"({size_in_points(LOSS)} unless said otherwise; that takes {for_confidence} independent questions). On "
            f"average: with {on_average} questions or more, the loss averaged over many such samples of questions is "
            "no more than allowed; the limit is its upper bound.",
        ),
    )


def _paper_thresholds(k: int) -> tuple[EncoderTable | SubsetTable, ...]:
    """Return the tables of the paper's thresholds: the best ones, and all that were tried."""
    of_paper = list[Column]()
    readings = {"minima:paper": "minima", "pooled:paper": "pooled", "pooled:range": "pooled, in range"}
    for subset, reading in readings.items():
        suffix = f", {reading}"
        of_paper.append(Column(f"ψ{suffix}", "psi", subset))
        of_paper += _columns_at_threshold(subset, suffix)
    return (
        EncoderTable(
            "The paper's thresholds",
            tuple(of_paper),
            note="minima: the ψ-th percentile of the smallest similarity of each exam, as the paper prints it; pooled: "
            "of all retrieved similarities. Of ψ = 5, 10, … 95 the one with the highest success at τ; in range: the "
            "largest with a success in the range of one exam. The paper prints ψ of 20 to 45.",
        ),
        *_tables_of_all_thresholds(k),
    )


def _columns_at_threshold(subset: str, suffix: str) -> tuple[Column, ...]:
    """Return the columns of one threshold: its value, the success at it, and the share of documents that it keeps."""
    return (
        Column(f"τ{suffix}", "tau", subset),
        Column(f"success at τ{suffix}", "accuracy_at_tau", subset),
        Column(f"kept{suffix}", "kept", subset),
    )


def _transforms(success: Column) -> tuple[EncoderTable, ...]:
    """Return the table of success and isotropy, without a transform and after each."""
    columns = list[Column]()
    for condition in ("", *TRANSFORMS):
        suffix = f", {condition.replace('_', ' ')}" if condition else ""
        columns.append(Column(f"{success.heading}{suffix}", success.metric, condition=condition))
        columns.append(Column(f"IsoScore{suffix}", "isoscore", "documents", condition))
        columns.append(Column(f"I_A{suffix}", "i_a", "documents", condition))
    columns.append(Column("IsoScore, unbiased", "isoscore_unbiased", "documents"))
    return (
        EncoderTable(
            "Does making the vectors more isotropic help?",
            tuple(columns),
            note="Transforms are fitted on the passages and applied to passages and questions; then cosine. More "
            "isotropic is not better by itself. IsoScore, as published, is too low where there are few passages; the "
            "unbiased one is of the vectors without a transform.",
        ),
    )


def _across() -> tuple[CorpusTable, ...]:
    """Return the table of correlations across encoders."""
    columns = [
        Column("Pearson", "pearson", ""),
        Column("Spearman", "spearman", ""),
    ]
    for transform in TRANSFORMS:
        heading = f"Pearson, {transform.replace('_', ' ')}"
        columns.append(Column(heading, "pearson", "", transform))
    return (
        CorpusTable(
            "Across encoders: what goes with success",
            tuple(columns),
            note="Over the encoders of this run, which are not a random sample: Fisher's intervals understate the "
            "uncertainty. With fewer than four encoders there is no correlation.",
        ),
    )
