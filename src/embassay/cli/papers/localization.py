"""White, Togneri, Liu & Bennamoun (2015), How Well Sentence Embeddings Capture Meaning: table 1, figures 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from embassay.cli.papers.bench import Bench, MissingError
from embassay.cli.papers.exhibit import PaperExhibit, PaperFigure, compared, drawing, missing
from embassay.diagnostics.published import published
from embassay.run.resolve import load_corpus

TITLE = "White, Togneri, Liu & Bennamoun (2015), semantic localization"
CORPORA = {"MSRP": "MSRP", "Opinosis": "Opinosis groups"}
"""Our name of the data of each column of table 1."""
COUNTED = {"BOW": "bow,tokens=treebank", "PCA BOW": "bow,tokens=treebank,pca=300"}
"""The encoders that need no weights."""
OTHER_VECTORS = {
    "MOWE": ("glove.6B.50d.txt", "words:{}", "with the vectors glove.6B.50d instead of Google News"),
    "SOWE": ("glove.6B.50d.txt", "words:{},pool=sum", "with the vectors glove.6B.50d instead of Google News"),
    "PV-DM": ("pv-dm", "paragraphs:{}", "trained on other text ('embassay train paragraphs')"),
    "PV-DBOW": ("pv-dbow", "paragraphs:{}", "trained on other text ('embassay train paragraphs')"),
    "URAE": ("urae", "urae:{}", "trained on other text ('embassay train urae')"),
}
"""What takes the place of vectors that cannot be had: the file in the folder of the models, the spec, what it is."""
TWO_SENTENCES = 0.25
"""Two of the 859 sentences of MSRP, in percent."""
PCA = "unexplained: the paper does not name the tokenizer that its PCA was fitted with"
CLOSURE = "the paper prints 273, the file that it released has 274"


def accuracies(bench: Bench) -> Iterator[PaperFigure]:
    """Yield the accuracy of each model on each corpus."""
    rows = {(model, corpus): value for corpus, model, _, _, value in published("localization")["rows"]}
    for model in dict.fromkeys(model for model, _ in rows):
        for column, name in CORPORA.items():
            yield _accuracy(bench, model, column, name, f"{100 * rows[model, column]:.2f}")


def _accuracy(bench: Bench, model: str, column: str, name: str, printed: str) -> PaperFigure:
    heading = f"{column}, accuracy, %"
    instead = ""
    try:
        corpus = bench.corpus(name)
        if model in COUNTED:
            spec = COUNTED[model]
        else:
            file, form, instead = OTHER_VECTORS[model]
            spec = form.format(bench.in_models(file))
        row = bench.row(model, spec, corpus, "localization", "accuracy")
    except MissingError as error:
        return missing(model, heading, printed, str(error))
    accuracy = 100 * float(row.value or 0)
    if instead:
        return missing(model, heading, printed, instead, f"{accuracy:.2f}", row.signature)
    return compared(model, heading, printed, accuracy, within=TWO_SENTENCES, why=PCA, signature=row.signature)


def group_sizes(name: str, sentences: str, groups: str, bench: Bench) -> Iterator[PaperFigure]:
    """Yield the counts of the captions of figures 2 and 3, and the sizes of groups, which are drawn."""
    try:
        corpus = load_corpus(bench.corpus(name))
    except MissingError as error:
        yield missing(name, "sentences", sentences, str(error))
        yield missing(name, "groups", groups, str(error))
        return
    audit = corpus.audit()
    yield compared(name, "sentences", sentences, audit.items)
    yield compared(name, "groups", groups, audit.units, why=CLOSURE)
    sizes: dict[str, int] = {}
    for sample in corpus.samples:
        sizes[sample.group] = sizes.get(sample.group, 0) + 1
    for size in sorted(set(sizes.values())):
        count = sum(other == size for other in sizes.values())
        yield missing(name, f"groups of {size}", "", "the paper draws no number", str(count))


def agreement(name: str, bench: Bench) -> Iterator[PaperFigure]:
    """Yield how many sentences of the first fold two models get wrong, and in how many they make the same mistake."""
    try:
        corpus = bench.corpus(name)
    except MissingError as error:
        yield missing("all models", "equal mistakes of common ones", "", str(error))
        return
    encoders = dict(COUNTED)
    for model in ("MOWE", "SOWE"):
        file, form, _ = OTHER_VECTORS[model]
        if bench.has_file(file):
            encoders[model] = form.format(bench.in_models(file))
    result = bench.run(encoders, corpus, "localization")
    matrix = next(series.data for series in result.series if series.name == "agreement")
    for row, first in enumerate(matrix["names"]):
        for column, second in enumerate(matrix["names"][: row + 1]):
            fraction = f"{matrix['numerator'][row][column]}/{matrix['denominator'][row][column]}"
            drawn = "in the paper's drawing, of which our copy has no numbers"
            yield missing(first, second, "", drawn, fraction, matrix["signatures"][0])


MODELS = ("glove.6B.50d.txt", "pv-dm", "pv-dbow", "urae")
EXHIBITS = (
    PaperExhibit("table 1", "Accuracy of semantic classification", accuracies, tuple(CORPORA.values()), MODELS, 1),
    PaperExhibit("figure 1", "The method as a diagram", drawing("nothing to compute")),
    PaperExhibit("figure 2", "Sizes of the groups of MSRP", partial(group_sizes, "MSRP", "859", "273"), ("MSRP",)),
    PaperExhibit(
        "figure 3",
        "Sizes of the groups of Opinosis",
        partial(group_sizes, "Opinosis groups", "521", "89"),
        ("Opinosis groups",),
    ),
    PaperExhibit("figure 4", "Agreement of errors, MSRP", partial(agreement, "MSRP"), ("MSRP",), MODELS[:1], 1),
    PaperExhibit(
        "figure 5",
        "Agreement of errors, Opinosis",
        partial(agreement, "Opinosis groups"),
        ("Opinosis groups",),
        MODELS[:1],
    ),
)
