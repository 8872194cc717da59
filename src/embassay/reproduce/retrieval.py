"""Roychowdhury et al. (2024), Evaluation of RAG Metrics: tables 1 to 4, figures 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from embassay.diagnostics.published import published
from embassay.reproduce.bench import Bench
from embassay.reproduce.exhibit import ColumnMetric, PaperExhibit, PaperFigure, drawing, elsewhere

TITLE = "Roychowdhury et al. (2024), retrieval compass"
WEIGHTS = {
    "mpnet": "all-mpnet-base-v2",
    "minilm": "all-MiniLM-L6-v2",
    "bge_large": "bge-large-en",
    "llm_embedder": "llm-embedder",
}
"""The name of the weights of each model that is public as it is; the others are adapted, or belong to a service."""
TELECOM = "TelecomQuAD is its authors' own corpus; measured on TeleQuAD v4, sentences"
SQUAD = "which 120 paragraphs of SQuAD were drawn is not known; measured on XQuAD, 240 paragraphs of SQuAD, sentences"
AS_PRINTED = "retrieval,random=1"
"""The paper's S_rand has one random document for each question."""
TABLE_2 = {
    "accuracy, l = 100": ColumnMetric("accuracy_l100"),
    "COE": ColumnMetric("coe[psi5]"),
    "ROE": ColumnMetric("roe[psi5]"),
    "τ, minima at the printed ψ": ColumnMetric("tau[minima:psi{ψ}]", 1),
    "accuracy at τ, minima at the printed ψ": ColumnMetric("accuracy_at_tau[minima:psi{ψ}]"),
    "τ, pooled in range": ColumnMetric("tau[pooled:range]", 1),
    "ψ, pooled in range": ColumnMetric("psi[pooled:range]", 1, 0),
    "accuracy at τ, pooled in range": ColumnMetric("accuracy_at_tau[pooled:range]"),
}
PRINTED_IN_TABLE_2 = (1, 4, 7, 10, 12, 10, 11, 12)
"""Where these columns stand in the line of a model in ``published_telecomquad.json``."""
WHITENED = (
    "whitening lowers the accuracy here, too, where vectors are not scaled to unit length after it, or where it "
    "is fitted on few passages (docs/retrieval.md)"
)
TABLE_3 = {
    "accuracy, l = 100": ColumnMetric("accuracy_l100"),
    "IsoScore": ColumnMetric("isoscore[documents]"),
    "I_A": ColumnMetric("i_a[documents]"),
}
FIGURES_OF_TABLE_4 = {"accuracy": "Success@5", "IsoScore": "isoscore[documents]", "I_A": "i_a[documents]"}


def domain(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 2: accuracy, estimators and thresholds on the telecom corpus."""
    for line in published("telecomquad")["rows"]:
        printed = []
        for place, figure in zip(PRINTED_IN_TABLE_2, TABLE_2.values(), strict=True):
            printed.append(f"{figure.factor * line[place]:.{figure.digits}f}")
        columns = {name: replace(column, metric=column.metric.format(ψ=line[11])) for name, column in TABLE_2.items()}
        yield from _of_model(bench, line[0], "TeleQuAD v4", AS_PRINTED, columns, printed, TELECOM)


def squad(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 3: accuracy and isotropy on a sample of SQuAD."""
    for model, accuracy, _low, _high, isoscore, i_a in published("squad")["rows"]:
        printed = [f"{100 * value:.2f}" for value in (accuracy, isoscore, i_a)]
        yield from _of_model(bench, model, "XQuAD", AS_PRINTED, TABLE_3, printed, SQUAD)


def transforms(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 4: accuracy and isotropy of transformed vectors on the telecom corpus."""
    paper = published("transforms")
    columns = {}
    for condition in paper["conditions"]:
        for heading, metric in FIGURES_OF_TABLE_4.items():
            title = f"{condition or 'as they are'}: {heading}"
            columns[title] = ColumnMetric(f"{metric}{{{condition}}}" if condition else metric)
    for model, *triples in paper["rows"]:
        printed = [f"{100 * value:.2f}" for triple in triples for value in triple]
        for cell in _of_model(bench, model, "TeleQuAD v4", f"{AS_PRINTED},transforms=all", columns, printed, TELECOM):
            whitened = cell.measured and cell.column == "whiten: accuracy"
            yield replace(cell, note=f"{cell.note}; {WHITENED}") if whitened else cell


def densities(data: str, why: str, bench: Bench) -> Iterator[PaperFigure]:
    """Yield the overlaps of the densities of similarities that figures 1 and 2 draw."""
    columns = {
        "right and found (COE)": ColumnMetric("coe[psi5]"),
        "found and random (ROE)": ColumnMetric("roe[psi5]"),
    }
    for model in WEIGHTS.values():
        yield from elsewhere(bench, model, data, AS_PRINTED, columns, ["", ""], f"the paper draws no number; {why}")


def _of_model(
    bench: Bench,
    model: str,
    data: str,
    diagnostic: str,
    columns: dict[str, ColumnMetric],
    printed: list[str],
    why: str,
) -> Iterator[PaperFigure]:
    """Yield the line of a model under the name that the paper gives it."""
    for cell in elsewhere(bench, WEIGHTS.get(model, ""), data, diagnostic, columns, printed, why):
        yield replace(cell, row=model)


MODELS = tuple(WEIGHTS.values())
DISTANCES = "the adapted models are not public; 'embassay adapt' makes your own, and its report draws their distances"
EXHIBITS = (
    PaperExhibit(
        "table 1", "Examples of questions and answers", drawing("nothing to compute; the corpus is not public")
    ),
    PaperExhibit("table 2", "Accuracy, COE, ROE and thresholds, telecom", domain, ("TeleQuAD v4",), MODELS, 1),
    PaperExhibit("table 3", "Accuracy and isotropy, SQuAD", squad, ("XQuAD",), MODELS, 1),
    PaperExhibit("table 4", "Transformed vectors, telecom", transforms, ("TeleQuAD v4",), MODELS, 2),
    PaperExhibit(
        "figure 1", "Similarities, telecom", partial(densities, "TeleQuAD v4", TELECOM), ("TeleQuAD v4",), MODELS
    ),
    PaperExhibit("figure 2", "Similarities, SQuAD", partial(densities, "XQuAD", SQUAD), ("XQuAD",), MODELS),
    PaperExhibit("figure 3", "Distances of two domains before and after adaptation", drawing(DISTANCES)),
)
