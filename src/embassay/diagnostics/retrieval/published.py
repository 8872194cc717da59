"""What Roychowdhury et al. (2024) print, beside what is measured here: their tables 2 to 4.

The two isotropy columns of the paper are labelled the wrong way round; they stand here under the names that fit their
values (``docs/retrieval.md``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from embassay.core.result import Row, Series
from embassay.diagnostics.metrics.scoreboard import without_baselines
from embassay.diagnostics.published import published, table
from embassay.diagnostics.retrieval.rows import IN_RANGE
from embassay.diagnostics.retrieval.view import NAME, PSI, RetrievalView

K = 5
"""The number of documents that the paper retrieves; figures with another one are not beside it."""
SQUAD_ID = re.compile(r"[0-9a-f]{24}")
"""How SQuAD numbers its questions; XQuAD, a part of it, keeps these numbers."""
REPEATED = "published; its isotropy pair stands at another model too"
SQUAD = {
    "model": "text",
    "accuracy (l = 100)": "percent",
    "from": "percent",
    "to": "percent",
    "IsoScore": "number",
    "I_A": "number",
    "figure": "text",
}
TITLES = {"": "", "standardize": "standardized, ", "whiten": "whitened, ", "remove_pcs": "top components removed, "}
CORRELATIONS = {
    "transform": "text",
    "IsoScore, published": "number",
    "IsoScore, here": "number",
    "I_A, published": "number",
    "I_A, here": "number",
}
RowsByKey = Mapping[tuple[str, str, str, str], Row]
"""Rows by encoder, metric, subset and condition."""
Figure = tuple[str, str, str]
"""Metric and subset of a row, and which of its numbers."""
RANGES = (("accuracy_l100", "all"), ("coe", f"psi{PSI}"), ("roe", f"psi{PSI}"))
ISOTROPY: list[Figure] = [("isoscore", "documents", "value"), ("i_a", "documents", "value")]
OF_TELECOM = [
    *((metric, subset, end) for metric, subset in RANGES for end in ("value", "low", "high")),
    *((metric, IN_RANGE, "value") for metric in ("tau", "psi", "accuracy_at_tau")),
    *ISOTROPY,
]
OF_SQUAD = OF_TELECOM[:3] + ISOTROPY
OF_TRANSFORMS = [(f"Success@{K}", "all", "value"), *ISOTROPY]
OF_CORRELATIONS = [("pearson", "IsoScore and success", "value"), ("pearson", "I-A and success", "value")]
"""The columns of the tables, as they are measured."""


def beside_published(views: Sequence[RetrievalView], rows: Sequence[Row]) -> Iterator[Series]:
    """Yield the published tables that apply.

    The table on SQuAD is for questions of SQuAD, the one of transforms for encoders that were transformed; with another
    number of documents than K there is no encoder of the run beside the paper's.
    """
    corpus = views[0].corpus
    by_key = {(r.encoder, r.metric, r.subset, r.condition): r for r in rows}
    encoders = [view.encoder for view in without_baselines(views)] if views[0].k == K else []
    telecom = published("telecomquad")
    lines = [[f"{encoder}, here", *_values(by_key, encoder, OF_TELECOM)] for encoder in encoders]
    yield Series(NAME, corpus, "published", "table", {**telecom, "rows": [*telecom["rows"], *lines]})
    if not encoders:
        return
    if all(SQUAD_ID.fullmatch(item) for item in views[0].scores.item.tolist()):
        yield _squad(corpus, encoders, by_key)
    if any(row.condition for row in rows):
        yield _transforms(corpus, encoders, by_key)
        yield _correlations(corpus, by_key)


def _squad(corpus: str, encoders: Sequence[str], rows: RowsByKey) -> Series:
    """Return table 3 with the encoders of the run."""
    paper = published("squad")
    lines = list[list[object]]()
    for line in paper["rows"]:
        model = line[0]
        # Two isotropy pairs stand at two models each in the paper, so one of each cannot be right.
        remark = "published"
        if model in paper["doubtful"]:
            remark = REPEATED
        lines.append([*line, remark])
    for encoder in encoders:
        lines.append([encoder, *_values(rows, encoder, OF_SQUAD), "measured here"])
    return table(NAME, corpus, "published_squad", SQUAD, lines, paper["source"])


def _transforms(corpus: str, encoders: Sequence[str], rows: RowsByKey) -> Series:
    """Return table 4 with the encoders whose vectors were transformed."""
    paper = published("transforms")
    columns = {"model": "text", "figure": "text"}
    for condition in paper["conditions"]:
        heading = TITLES[condition]
        columns[f"{heading}accuracy"] = "percent"
        columns[f"{heading}IsoScore"] = "number"
        columns[f"{heading}I_A"] = "number"
    lines = list[list[object]]()
    for model, *triples in paper["rows"]:
        lines.append([model, "published", *chain.from_iterable(triples)])
    for encoder in encoders:
        # Sparse vectors are not transformed.
        if (encoder, "isoscore", "documents", "standardize") not in rows:
            continue
        line: list[object] = [encoder, "measured here"]
        for condition in paper["conditions"]:
            line += _values(rows, encoder, OF_TRANSFORMS, condition)
        lines.append(line)
    return table(NAME, corpus, "published_transforms", columns, lines, paper["source"])


def _correlations(corpus: str, rows: RowsByKey) -> Series:
    """Return the last row of table 4, the correlations over models, beside those over the encoders of the run."""
    paper = published("transforms")
    lines = list[list[object]]()
    for condition in paper["conditions"]:
        isoscore, i_a = paper["correlations"][condition]
        isoscore_here, i_a_here = _values(rows, "", OF_CORRELATIONS, condition)
        transform = TITLES[condition].removesuffix(", ") or "none"
        lines.append([transform, isoscore, isoscore_here, i_a, i_a_here])
    return table(NAME, corpus, "published_correlations", CORRELATIONS, lines, paper["source"])


def _values(rows: RowsByKey, encoder: str, figures: Sequence[Figure], condition: str = "") -> list[float | None]:
    """Return numbers of an encoder's rows; None where there is no such row or number."""
    return [getattr(rows.get((encoder, metric, subset, condition)), end, None) for metric, subset, end in figures]
