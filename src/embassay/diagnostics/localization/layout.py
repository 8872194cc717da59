"""The report page of localization."""

from __future__ import annotations

from embassay.core.layout import (
    Column,
    ComparisonTable,
    CountBars,
    EncoderTable,
    ExampleColumn,
    Examples,
    IntervalChart,
    Layout,
    Matrix,
    SeriesTable,
    SubsetTable,
)

_ACCURACY = Column("accuracy", "accuracy")
_CENTROID = Column("nearest centroid", "centroid_accuracy")
_PRECISION = Column("MAP@R", "map_at_r")
_PAIRED = "Paired on the same sentences; p by exchanging items that share labels, corrected within each family."
_AGREE = (
    "Of the sentences that both encoders assign to a wrong group, how many they assign to the same one: 3/7 is three "
    "of seven; – if there is no such sentence. On the diagonal: all errors of the encoder."
)
LAYOUT = Layout(
    title="Semantic localization",
    question="Do sentences that mean the same lie together, apart from all others?",
    headline=EncoderTable(
        "Sentences assigned to their own group",
        (_ACCURACY, _CENTROID, _PRECISION),
        note="Accuracy: a linear support vector machine, trained on two thirds of every group, predicts the group; "
        "mean over three folds. Its interval resamples groups and is conditional on the trained classifiers. Two "
        "metrics need no classifier: nearest centroid, computed without the sentence itself, and MAP@R, whether the "
        "nearest neighbours belong to the same group.",
    ),
    parts=(
        IntervalChart("Accuracy with its 95% interval", _ACCURACY),
        ComparisonTable(
            "Which differences are shown", _ACCURACY, note=f"{_PAIRED} Conditional on the trained classifiers."
        ),
        EncoderTable(
            "Accuracy in each fold",
            tuple(Column(f"fold {number}", "accuracy", f"fold{number}") for number in range(3)),
        ),
        Matrix("Which encoders make the same errors, on all folds", "agreement_pooled", note=_AGREE),
        ComparisonTable("Which differences are shown: nearest centroid", _CENTROID, note=_PAIRED),
        ComparisonTable("Which differences are shown: MAP@R", _PRECISION, note=_PAIRED),
        Examples(
            "Sentence by sentence",
            "sentence",
            texts=(("right", "its own group"),),
            columns=(
                ExampleColumn("placed in", ("placed",)),
                ExampleColumn("first sentence there", ("first",), passages=True),
                ExampleColumn("cosine with its own group", ("right",)),
            ),
            margin="the cosine with the mean of its own group less that with the nearest other group",
            note="Right: the classifier places the sentence in its own group. Beside a group stands the cosine with "
            "the mean of its vectors, without the sentence itself. The classifier weights directions differently, so "
            "the nearer group need not be the predicted one.",
        ),
        SubsetTable("Accuracy in each group", "accuracy", ("group:",)),
    ),
    source="White, Togneri, Liu & Bennamoun (2015), How Well Sentence Embeddings Capture Meaning, ADCS",
    paper=(
        Matrix(
            "Which encoders make the same errors, on one fold",
            "agreement",
            note=f"{_AGREE} The paper's figures 4 and 5.",
        ),
        SeriesTable(
            "Published accuracies and yours",
            "published_beside",
            note="MSRP: 859 sentences in 274 groups (273 as printed), Opinosis: 521 in 89. PV: trained on Wikipedia; "
            "MOWE, SOWE: word vectors of Google News; URAE: its authors' network. A model of that kind trained on "
            "other text is another model.",
        ),
        CountBars(
            "How large the groups are",
            "group_sizes",
            "sentences in a group",
            "groups",
            note="The paper's figures 2 and 3.",
        ),
        SeriesTable("Groups by size", "group_sizes"),
    ),
)
