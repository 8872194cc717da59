"""Chiang, Chuang, Glass & Lee (2023), HEROS: tables 1 to 3, figures 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator

from embassay.cli.papers.bench import Bench, MissingError
from embassay.cli.papers.exhibit import ColumnMetric, PaperExhibit, PaperFigure, compared, drawing, elsewhere, missing
from embassay.diagnostics.published import published
from embassay.run.presets import sets

TITLE = "Chiang, Chuang, Glass & Lee (2023), HEROS"
OVERLAP = {"R1": "rouge1", "R2": "rouge2", "RL": "rougeL", "Lev": "levenshtein", "Len": "length"}
TABLE_1 = {
    "STS-b test": ("55.8", "32.5", "53.2", "0.54", "12.2"),
    "SICK-R": ("61.2", "37.4", "56.2", "0.53", "10.0"),
    "HEROS": ("92.9", "84.8", "92.9", "0.10", "13.8"),
}
EDITS = ("synonym", "antonym", "typo", "random_mlm", "negation_main", "negation_antonym")
SMALL_WORDS = "glove.6B.50d.txt"
NO_NUMBERS = "the paper draws no number"


def overlap(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 1: the lexical overlap of the pairs of a data set."""
    for name, printed in TABLE_1.items():
        diagnostic = "minimal_pairs" if name == "HEROS" else "similarity"
        for (heading, metric), text in zip(OVERLAP.items(), printed, strict=True):
            try:
                # The overlap belongs to the corpus, so any encoder will do, and its rows have none.
                row = bench.run({"hashing": "hashing"}, bench.corpus(name), diagnostic).figure(metric, "")
            except MissingError as error:
                yield missing(name, heading, text, str(error))
                continue
            factor = 100 if heading in ("R1", "R2", "RL") else 1
            yield compared(name, heading, text, factor * float(row.value or 0), within=0.1, signature=row.signature)


def dimensions(bench: Bench) -> Iterator[PaperFigure]:
    """Yield the embedding dimensions of table 3, of models that are on this disk."""
    for member in sets()["heros"].members:
        if member.dim is None:
            continue
        name = member.spec.rpartition("/")[2]
        try:
            result = bench.run({"model": bench.encoder(name)}, bench.corpus("STS-b test"), "similarity")
        except MissingError as error:
            yield missing(member.called, "dimensions", str(member.dim), str(error))
            continue
        yield compared(member.called, "dimensions", str(member.dim), float(result.encoders[0].dim or 0))


def similarities(bench: Bench) -> Iterator[PaperFigure]:
    """Yield the normalised similarity of each edit, which figures 1 and 2 draw."""
    columns = {edit: ColumnMetric(f"similarity[{edit}]", 1, 3) for edit in EDITS}
    for models in published("heros")["groups"].values():
        for model in models:
            yield from elsewhere(bench, model, "HEROS", "minimal_pairs", columns, [""] * len(EDITS), NO_NUMBERS)


def averaged_words(bench: Bench) -> Iterator[PaperFigure]:
    """Yield what section 3.2 says of averaged GloVe vectors: a negation is nearer than a synonym or an antonym."""
    try:
        spec = f"words:{bench.in_models(SMALL_WORDS)}"
        value = {}
        for edit in ("negation_main", "synonym", "antonym"):
            row = bench.row("GloVe", spec, "edits", "minimal_pairs", f"similarity[{edit}]")
            value[edit] = float(row.value or 0)
    except MissingError as error:
        for edit in ("synonym", "antonym"):
            yield missing("averaged GloVe", f"negation nearer than {edit}", "yes", str(error))
        return
    on = "glove.6B.50d on the built-in pairs, not glove.6B.300d on HEROS"
    for edit in ("synonym", "antonym"):
        holds = "yes" if value["negation_main"] > value[edit] else "no"
        measured = f"{holds}: {value['negation_main']:.3f} and {value[edit]:.3f}"
        yield missing("averaged GloVe", f"negation nearer than {edit}", "yes", on, measured, row.signature)


MODELS = ("all-MiniLM-L6-v2", "all-mpnet-base-v2")
EXHIBITS = (
    PaperExhibit("table 1", "Lexical overlap of pairs", overlap, tuple(TABLE_1)),
    PaperExhibit("table 2", "Examples of edited sentences", drawing("nothing to compute; HEROS is not at hand")),
    PaperExhibit("table 3", "Sizes of models", dimensions, ("STS-b test",), MODELS),
    PaperExhibit("figures 1 and 2", "Normalised similarity of each edit", similarities, ("HEROS",), MODELS),
    PaperExhibit("section 3.2", "Averaged word vectors and negation", averaged_words, (), (SMALL_WORDS,)),
)
