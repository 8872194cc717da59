"""The page of the minimal pairs diagnostic, and what its edits and contrasts are called."""

from __future__ import annotations

from embassay.core.layout import (
    AcrossTable,
    Column,
    ComparisonTable,
    Curves,
    EncoderTable,
    ExampleColumn,
    Examples,
    GroupedBars,
    IntervalChart,
    Layout,
    SeriesTable,
    SizeChart,
    SizeTable,
)
from embassay.diagnostics import overlap

HEADLINE = ("synonym", "negation_main")
CONTRASTS = (
    HEADLINE,
    ("synonym", "antonym"),
    ("synonym", "typo"),
    ("negation_antonym", "negation_main"),
)
"""Differences of two edits' normalised similarity to the same original (the paper's section 4)."""
LABELS = {
    "synonym": "synonym",
    "antonym": "antonym",
    "typo": "typo",
    "random_mlm": "random word",
    "negation_main": "main verb negated",
    "negation_antonym": "chosen word negated",
    "random_word": "random word of the corpus",
    "number": "number changed",
    "entity": "name changed",
    "role_swap": "subject and object exchanged",
}
CONTRAST = Column("synonym − negation", "contrast", "-".join(HEADLINE), level="0")
_BY_SIZE = (
    Column("typo", "similarity", "typo"),
    Column("synonym", "similarity", "synonym"),
    Column("synonym − typo", "contrast", "synonym-typo"),
)
LAYOUT = Layout(
    title="Minimal pairs",
    question="Which one-word edits does the encoder notice: a synonym, an antonym, a typo, a negation?",
    headline=EncoderTable(
        "How near each edit is to its original",
        (
            CONTRAST,
            Column("synonym", "similarity", "synonym", interval=False),
            Column("negation", "similarity", "negation_main", interval=False),
            Column("neg. word", "similarity", "negation_antonym", interval=False),
            Column("antonym", "similarity", "antonym", interval=False),
            Column("typo", "similarity", "typo", interval=False),
            Column("random word", "similarity", "random_mlm", interval=False),
            Column("corpus word", "similarity", "random_word", interval=False),
            Column("cos_avg", "baseline", "all"),
        ),
        note="Mean normalised similarity (cos − cos_avg)/(1 − cos_avg): 1 the same, 0 as near as two random originals, "
        "whose mean cosine is cos_avg. Synonym − negation: paired; positive where a synonym is nearer to the original "
        "than the negation of its main verb. Which edits should be near depends on the task.",
    ),
    parts=(
        GroupedBars(
            "Normalised similarity of each edit to its original",
            "similarity",
            tuple(LABELS.items()),
            blocks="by_training",
            note="The paper's figures 1 and 2, with its blocks by training data. Bars with their 95% intervals over "
            "originals.",
        ),
        IntervalChart("Synonym − negation, paired by original", CONTRAST),
        ComparisonTable(
            "Which differences are shown",
            CONTRAST,
            note="Paired on the same originals; p corrected within each family.",
        ),
        EncoderTable(
            "Contrasts: how much nearer one edit is than another",
            tuple(Column(f"{a} − {b}".replace("_", " "), "contrast", f"{a}-{b}") for a, b in CONTRASTS),
            note="Differences of normalised similarity to the same original.",
        ),
        EncoderTable(
            "Which edit is nearer, original by original",
            (
                Column("synonym > negation", "nearer", "synonym>negation_main"),
                Column("synonym > antonym", "nearer", "synonym>antonym"),
                Column("synonym > typo", "nearer", "synonym>typo"),
                Column("antonym > negation", "nearer", "antonym>negation_main"),
                Column("negation: main > word", "nearer", "negation_main>negation_antonym"),
            ),
            note="Share of the originals; a tie counts half. These shares need no baseline. Not in the paper.",
        ),
        Curves(
            "How near edits are, and random pairs",
            "density",
            note="Density of the cosine with the original; random pairs show where unrelated sentences lie.",
            split=True,
        ),
        EncoderTable(
            "Raw cosine of each edit",
            tuple(Column(label, "cosine", edit) for edit, label in LABELS.items()),
        ),
        EncoderTable(
            "Share of random pairs that are less similar",
            tuple(Column(label, "percentile", edit) for edit, label in LABELS.items()),
            note="Mean share of random pairs of originals that are less similar than the edit. Not in the paper.",
        ),
        overlap.TABLE,
        Examples(
            "Original by original",
            "original",
            texts=tuple(LABELS.items()),
            columns=tuple(ExampleColumn(label, (edit,)) for edit, label in LABELS.items()),
            margin="the contrast: how much more similar the synonym is than the negation of the main verb, normalised",
            note="The cosine of each edit with the original. Right: the synonym is nearer than the negation of the "
            "main verb.",
        ),
    ),
    source="Chiang, Chuang, Glass & Lee (2023), Revealing the Blind Spot of Sentence Encoder Evaluation by HEROS",
    paper=(
        AcrossTable(
            "Close scores on STS, different behaviour",
            (
                CONTRAST,
                Column("synonym − antonym", "contrast", "synonym-antonym"),
                Column("synonym − typo", "contrast", "synonym-typo"),
            ),
            diagnostic="similarity",
            other=Column("Spearman", "spearman"),
            note="The paper's section 3.2: encoders with the same correlation with human scores differ in what they "
            "notice.",
        ),
        SeriesTable(
            "The paper's figures: normalised similarity by training data",
            "by_training",
            note="The encoders of this run that the paper compares, in the order of the blocks of its figures 1 and 2, "
            "whose values are drawn and not printed, and those with group=. Encoders fine-tuned on questions and "
            "answers hardly notice a negation, those fine-tuned on paraphrases do.",
        ),
        SizeChart("The paper's figures: typos and synonyms by the size of the model", _BY_SIZE[:2], "by_training"),
        SizeTable(
            "Typos and synonyms by the size of the model",
            _BY_SIZE,
            note="Encoders whose number of parameters is known. The paper finds that among encoders fine-tuned from T5 "
            "the larger ones are less sensitive to typos, and as sensitive to synonyms as the smaller ones.",
        ),
    ),
)
