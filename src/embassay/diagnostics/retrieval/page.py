"""How retrieval is shown: its tables, curves and the card on what a similarity means."""

from __future__ import annotations

from collections.abc import Sequence

from embassay.geometry.transforms import NAMES as TRANSFORMS
from embassay.layout import (
    Column,
    ComparisonTable,
    CorpusTable,
    Curves,
    EncoderTable,
    Examples,
    Format,
    IntervalChart,
    Layout,
    SeriesTable,
    SubsetTable,
    ThresholdCurves,
)
from embassay.result import Result

EXAM = "The mean over 500 exams of 100 questions drawn with replacement, with the range of 95% of them."


def layout(result: Result) -> Layout:
    """Return the page for the number of documents and the percentile ψ that a result was made with."""
    verdicts: Sequence[str] = [v.quantity for v in result.verdicts if v.quantity.startswith("Success@")]
    psi = next((s.data["psi"] for s in result.series if (s.diagnostic, s.name) == ("retrieval", "coe")), 5)
    return page(int(verdicts[0].partition("@")[2]) if verdicts else 5, psi)


def page(k: int, psi: int = 5) -> Layout:
    """Return the page for ``k`` retrieved documents, with COE and ROE at the percentile ``psi``."""
    success = Column(f"Success@{k}", f"Success@{k}")
    metrics = [Column(n, n) for n in dict.fromkeys(("Success@1", f"Success@{k}", "Success@10", f"R@{k}"))]
    means = [Column(n, n, format="number") for n in ("RR", "AP", "nDCG@10")]
    return Layout(
        title="Retrieval",
        question="Which encoder finds the right document, and from what similarity on?",
        headline=_headline(k, success),
        parts=(
            IntervalChart(f"Success@{k} with its 95% interval", success),
            ComparisonTable(
                "Which differences are real",
                success,
                note="Paired on the same questions; p by flipping the signs of whole units, with Holm's correction "
                "within each question.",
            ),
            *_meaning(k),
            *_thresholds(),
            EncoderTable(
                "Ranking metrics",
                (*metrics, *means),
                note="Names as in ir-measures. Tied documents count with the expected value over all their "
                "orders: an encoder that gives all documents the same similarity scores as random choice does.",
            ),
            EncoderTable(
                "One exam of 100 questions",
                (Column("accuracy (l = 100)", "accuracy_l100"),),
                note=f"{EXAM} The range is that of a single test of 100 questions, about √(questions/100) times as "
                "wide as the interval of Success@k.",
            ),
            *_transforms(success),
            *_across(),
            Examples(
                f"Questions that every encoder misses among its nearest {k}",
                "missed by all",
                "question",
                (("right", "right document"), ("found", "found first")),
                each=("found",),
                note="The similarity of the right document, and of what was found first instead.",
            ),
        ),
        source="Roychowdhury et al. (2024), A Compass for Navigating the World of Sentence Embeddings for the Telecom "
        "Domain",
        paper=(
            *_overlap(psi),
            *_paper_thresholds(k),
            SeriesTable(
                "The paper's figures: TelecomQuAD (tables 2 and 4)",
                "published",
                note="With K = 5; τ and ψ as chosen there. The two isotropy columns are labelled "
                "swapped in the paper; here they have the names that fit their values. The corpus is "
                "not public: do not compare single values with it.",
                folded=True,
            ),
            SeriesTable(
                "The paper's figures: a sample of SQuAD (table 3), and yours",
                "published_squad",
                note="Sentences, K = 5, the range of exams of 100 questions. The paper took 1,009 questions on 651 "
                "sentences at random and does not say which, so numbers differ with the sample. Two isotropy pairs "
                "are printed for two models each, so one of each is wrong.",
                folded=True,
            ),
            SeriesTable(
                "The paper's figures: what transforms do on TelecomQuAD (table 4), and here",
                "published_transforms",
                note="Another corpus: compare what a transform changes, not the numbers. Measured here: "
                f"Success@{k}, which is what the paper's accuracy is on average.",
                folded=True,
            ),
            SeriesTable(
                "The paper's figures: the correlation of isotropy with accuracy (table 4), and here",
                "published_correlations",
                note="Pearson, over the paper's 14 models; here over the encoders asked for, from four on.",
                folded=True,
            ),
        ),
    )


def _headline(k: int, success: Column) -> EncoderTable:
    return EncoderTable(
        f"Questions with a right document among the nearest {k}",
        (
            success,
            Column("RR", "RR", format="number"),
            Column("threshold τ", "tau", "recommended", "number"),
            Column(f"Success@{k} at τ", "accuracy_at_tau", "recommended"),
            Column("kept at τ", "kept", "recommended"),
        ),
        note=f"Success@{k}: of all questions that have an answer. RR: the mean of 1/rank. τ: dropping results below "
        "it loses no more success than allowed, with 95% confidence.",
    )


def _meaning(k: int) -> tuple[Curves | SeriesTable, ...]:
    return (
        Curves(
            "How similar questions are to random, right and retrieved documents",
            "densities",
            note=f"Random: ten random documents for each question. Retrieved: the nearest {k}. Where the curves of "
            "right and retrieved documents overlap, no threshold can separate them.",
            split=True,
        ),
        SeriesTable(
            "What a similarity means",
            "card",
            note="For each encoder: the share of random, retrieved and right pairs that are less similar. A "
            "similarity of 0.6 means something different for each encoder.",
            folded=True,
        ),
    )


def _overlap(psi: int) -> tuple[EncoderTable | Curves, ...]:
    """Return COE and ROE, which the paper reads off at the percentile ``psi``."""
    return (
        EncoderTable(
            "Overlap of distributions",
            (Column("COE", "coe", f"psi{psi}"), Column("ROE", "roe", f"psi{psi}")),
            note="Of right documents (COE) and of random ones (ROE): the share that is more similar than the lowest "
            f"{psi}% of what is retrieved (ψ = {psi}). High COE and low ROE are good. {EXAM}",
        ),
        Curves(
            "COE over ψ", "coe", note="The share of right documents above the ψ-th percentile of what is retrieved."
        ),
        Curves("ROE over ψ", "roe", note="The same for random documents."),
    )


def _tables(k: int) -> tuple[SubsetTable, ...]:
    """Return the folded tables of every threshold that was tried."""
    shown: tuple[tuple[str, str, Format], ...] = (
        ("Every threshold τ: its value", "tau", "number"),
        (f"Every threshold τ: Success@{k} at it", "accuracy_at_tau", "percent"),
        ("Every threshold τ: share of the retrieved that is kept", "kept", "percent"),
        ("Every threshold τ: unanswerable questions that find nothing", "unanswerable_dropped", "percent"),
    )
    return tuple(
        SubsetTable(title, quantity, ("pooled:", "minima:"), folded=True, format=style)
        for title, quantity, style in shown
    )


CHOSEN: tuple[tuple[str, str, Format], ...] = (
    ("τ", "tau", "number"),
    ("success at τ", "accuracy_at_tau", "percent"),
    ("kept", "kept", "percent"),
)
"""What is shown of a threshold."""


def _thresholds() -> tuple[ThresholdCurves | EncoderTable, ...]:
    recommended: tuple[tuple[str, str, Format], ...] = (
        *CHOSEN,
        ("limit of the loss", "loss_limit", "percent"),
        ("unanswerable questions that find nothing", "unanswerable_dropped", "percent"),
    )
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
            tuple(
                Column(f"{heading}{when}", quantity, subset, style)
                for subset, when in (("recommended", ""), ("recommended_on_average", ", on average"))
                for heading, quantity, style in recommended
            ),
            note="The highest similarity for which the upper 95% confidence limit of the loss is no more than allowed "
            "(2 points unless said otherwise; that takes 149 independent questions). On average: with 49 questions or"
            " more, the loss averaged over many such samples of questions is no more than allowed; the limit is its "
            "upper bound.",
        ),
    )


def _paper_thresholds(k: int) -> tuple[EncoderTable | Curves | SubsetTable, ...]:
    return (
        EncoderTable(
            "The paper's thresholds at the ψ of the highest accuracy",
            tuple(
                Column(f"{heading}, {definition}", quantity, f"{definition}:paper", style)
                for definition in ("minima", "pooled")
                for heading, quantity, style in (("ψ", "psi", "count"), *CHOSEN)
            ),
            note="minima: the ψ-th percentile of the smallest similarity of each exam, as the paper prints it; pooled: "
            "of all retrieved similarities. Of ψ = 5, 10, … 95 the one with the highest success at τ.",
            folded=True,
        ),
        Curves(
            "Success at τ over ψ", "accuracy_at_tau", note="Documents below the ψ-th percentile are dropped (pooled)."
        ),
        Curves("Unanswerable questions that find nothing, over ψ", "unanswerable_dropped"),
        *_tables(k),
    )


def _transforms(success: Column) -> tuple[EncoderTable, ...]:
    columns = list[Column]()
    for condition in ("", *TRANSFORMS):
        suffix = f", {condition.replace('_', ' ')}" if condition else ""
        columns.append(Column(f"{success.heading}{suffix}", success.quantity, condition=condition))
        columns.append(Column(f"IsoScore{suffix}", "isoscore", "documents", "number", condition))
        columns.append(Column(f"I_A{suffix}", "i_a", "documents", "number", condition))
    columns.append(Column("IsoScore, unbiased", "isoscore_unbiased", "documents", "number"))
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
    pairs = [("Pearson", "pearson", ""), ("Spearman", "spearman", "")]
    pairs += [(f"Pearson, {name.replace('_', ' ')}", "pearson", name) for name in TRANSFORMS]
    return (
        CorpusTable(
            "Across encoders: what goes with success",
            tuple(Column(heading, quantity, "", "number", condition) for heading, quantity, condition in pairs),
            note="Over the encoders of this run, which are not a random sample: Fisher's intervals understate the "
            "uncertainty. With fewer than four encoders there is no correlation.",
        ),
    )
