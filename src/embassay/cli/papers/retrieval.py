"""Roychowdhury et al. (2024), the compass for sentence embeddings of the telecom domain: tables 1-4, figures 1-3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from embassay.cli.papers.bench import Bench
from embassay.cli.papers.exhibit import ColumnMetric, PaperExhibit, PaperFigure, compared, drawing, elsewhere
from embassay.diagnostics.published import published

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
MEASURED_WITH = {
    "TeleQuAD v4": "retrieval,paper=true,random=1,transforms=all",
    "XQuAD": "retrieval,paper=true,random=1",
}
"""The diagnostic by the data: one random document for each question, as the paper has it."""
WHITENED = (
    "whitening lowers the accuracy here, too, where vectors are not scaled to unit length after it, or where it "
    "is fitted on few passages (docs/retrieval.md)"
)


def _with_range(heading: str, metric: str) -> dict[str, ColumnMetric]:
    """Return the columns of a figure and of the ends of its range over exams."""
    return {
        heading: ColumnMetric(metric),
        f"{heading}, from": ColumnMetric(metric, part="low"),
        f"{heading}, to": ColumnMetric(metric, part="high"),
    }


TABLE_2 = {
    **_with_range("accuracy, l = 100", "accuracy_l100"),
    **_with_range("COE", "coe[psi5]"),
    **_with_range("ROE", "roe[psi5]"),
    "τ, minima at the printed ψ": ColumnMetric("tau[minima:psi{psi}]", 1),
    "ψ, pooled in range": ColumnMetric("psi[pooled:range]", 1, 0),
    "accuracy at τ, minima at the printed ψ": ColumnMetric("accuracy_at_tau[minima:psi{psi}]"),
}
"""The columns after the model, in the order of ``published_telecomquad.json``."""
POOLED = {
    "τ, pooled in range": ColumnMetric("tau[pooled:range]", 1),
    "accuracy at τ, pooled in range": ColumnMetric("accuracy_at_tau[pooled:range]"),
}
"""Another reading of τ and of the accuracy at it, compared with the same printed figures."""
TABLE_3 = {
    **_with_range("accuracy, l = 100", "accuracy_l100"),
    "IsoScore": ColumnMetric("isoscore[documents]"),
    "I_A": ColumnMetric("i_a[documents]"),
}
STATED = (
    ("COE", "accuracy (l = 100)", "0.9", ""),
    ("ROE", "τ", "-0.5", "the paper's table 2 gives another sign; −0.55 is the correlation of ROE with accuracy"),
)
"""Two columns of table 2, their correlation as the text states it, and why the table gives another one."""
FIGURES_OF_TABLE_4 = {"accuracy": "Success@5", "IsoScore": "isoscore[documents]", "I_A": "i_a[documents]"}


def domain(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 2: accuracy, estimators and thresholds on the telecom corpus."""
    for line in published("telecomquad")["rows"]:
        model, *values = line
        columns = dict[str, ColumnMetric]()
        for heading, figure in (TABLE_2 | POOLED).items():
            columns[heading] = replace(figure, metric=figure.metric.format(psi=line[11]))
        # Isotropy, which stands in the same file, is that of table 4.
        values = [*values[: len(TABLE_2)], line[10], line[12]]
        printed = []
        for figure, value in zip(columns.values(), values, strict=True):
            printed.append(f"{figure.factor * value:.{figure.digits}f}")
        yield from _of_model(bench, model, "TeleQuAD v4", columns, printed, TELECOM)


def squad(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 3: accuracy and isotropy on a sample of SQuAD."""
    for model, *values, _remark in published("squad")["rows"]:
        printed = [f"{100 * value:.2f}" for value in values]
        yield from _of_model(bench, model, "XQuAD", TABLE_3, printed, SQUAD)


def transforms(bench: Bench) -> Iterator[PaperFigure]:
    """Yield table 4: accuracy and isotropy of transformed vectors on the telecom corpus."""
    paper = published("transforms")
    columns = {}
    for condition in paper["conditions"]:
        for heading, metric in FIGURES_OF_TABLE_4.items():
            title = f"{condition or 'as they are'}: {heading}"
            columns[title] = ColumnMetric(f"{metric}{{{condition}}}" if condition else metric)
    for model, _remark, *values in paper["rows"]:
        printed = [f"{100 * value:.2f}" for value in values]
        for cell in _of_model(bench, model, "TeleQuAD v4", columns, printed, TELECOM):
            is_odd = cell.measured and cell.column == "whiten: accuracy"
            yield replace(cell, note=f"{cell.note}; {WHITENED}") if is_odd else cell


def densities(data: str, why: str, bench: Bench) -> Iterator[PaperFigure]:
    """Yield the overlaps of the densities of similarities that figures 1 and 2 draw."""
    columns = {
        "right and found (COE)": ColumnMetric("coe[psi5]"),
        "found and random (ROE)": ColumnMetric("roe[psi5]"),
    }
    for model in WEIGHTS.values():
        yield from elsewhere(
            bench, model, data, MEASURED_WITH[data], columns, ["", ""], f"the paper draws no number; {why}"
        )


def correlations(bench: Bench) -> Iterator[PaperFigure]:
    """Yield the correlations over models that the paper states, of the figures that its tables print."""
    paper = published("telecomquad")
    # Headings such as "from" occur several times; those that are looked up do not.
    column = dict(zip(paper["columns"], np.array(paper["rows"], dtype=object).T, strict=True))
    for x, y, stated, why in STATED:
        measured = _pearson(column[x].astype(float), column[y].astype(float))
        yield compared("table 2", f"{x} and {y}", stated, measured, why=why)
    paper = published("transforms")
    # (models, conditions, figures): of each condition the accuracy, IsoScore and I_A.
    figures = np.array([line[2:] for line in paper["rows"]]).reshape(len(paper["rows"]), -1, 3)
    for place, (condition, line) in enumerate(zip(paper["conditions"], published("correlations")["rows"], strict=True)):
        accuracy, *isotropy = figures[:, place].T
        for name, values, stated in zip(("IsoScore", "I_A"), isotropy, line[1::2], strict=True):
            measured = _pearson(values, accuracy)
            title = f"{condition or 'as they are'}: {name} and accuracy"
            yield compared("table 4", title, f"{stated:.2f}", measured)


def _pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def _of_model(
    bench: Bench,
    model: str,
    data: str,
    columns: dict[str, ColumnMetric],
    printed: list[str],
    why: str,
) -> Iterator[PaperFigure]:
    """Yield the line of a model under the name that the paper gives it."""
    for cell in elsewhere(bench, WEIGHTS.get(model, ""), data, MEASURED_WITH[data], columns, printed, why):
        yield replace(cell, row=model)


MODELS = tuple(WEIGHTS.values())
DISTANCES = "the adapted models are not public; 'embassay adapt' makes your own, and its report draws their distances"
EXHIBITS = (
    PaperExhibit(
        "table 1", "Examples of questions and answers", drawing("nothing to compute; the corpus is not public")
    ),
    PaperExhibit("table 2", "Accuracy, COE, ROE and thresholds, telecom", domain, ("TeleQuAD v4",), MODELS, 2),
    PaperExhibit("table 3", "Accuracy and isotropy, SQuAD", squad, ("XQuAD",), MODELS, 1),
    PaperExhibit("table 4", "Transformed vectors, telecom", transforms, ("TeleQuAD v4",), MODELS, 2),
    PaperExhibit(
        "figure 1",
        "Similarities, telecom",
        partial(densities, "TeleQuAD v4", TELECOM),
        ("TeleQuAD v4",),
        MODELS,
    ),
    PaperExhibit("figure 2", "Similarities, SQuAD", partial(densities, "XQuAD", SQUAD), ("XQuAD",), MODELS),
    PaperExhibit(
        "sections 4.1 and 4.2", "Correlations over models, of the figures that tables 2 and 4 print", correlations
    ),
    PaperExhibit("figure 3", "Distances of two domains before and after adaptation", drawing(DISTANCES)),
)
