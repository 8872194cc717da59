"""What Roychowdhury et al. (2024) print, beside what is measured here: their tables 2 to 4.

The two isotropy columns of the paper are labelled the wrong way round; they stand here under the names that fit their
values (``docs/retrieval.md``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from embassay.diagnostics.published import published, table
from embassay.diagnostics.retrieval.rows import NAME, View
from embassay.result import Row, Series

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
Figures = Mapping[tuple[str, str, str, str], Row]
"""Rows by encoder, quantity, subset and condition."""


def beside_published(views: Sequence[View], rows: Sequence[Row]) -> Iterator[Series]:
    """Yield the published tables that apply.

    TelecomQuAD is its authors' own corpus: its table always stands alone. The table on SQuAD is for questions of SQuAD,
    the one of transforms for encoders that were transformed, both for K = 5.
    """
    corpus = views[0].scores.origin.corpus
    yield Series(NAME, corpus, "published", "table", published("telecomquad"))
    if views[0].k != K:
        return
    found = {(r.encoder, r.quantity, r.subset, r.condition): r for r in rows}
    candidates = [view for view in views if not view.scores.origin.baseline] or views
    names = [view.encoder for view in candidates]
    if all(SQUAD_ID.fullmatch(name) for name in views[0].scores.item.tolist()):
        yield _squad(corpus, names, found)
    if any(condition for *_, condition in found):
        yield from _transforms(corpus, names, found)


def _squad(corpus: str, names: Sequence[str], found: Figures) -> Series:
    """Return table 3 with the encoders asked for."""
    paper = published("squad")
    lines = [[*row, REPEATED if row[0] in paper["doubtful"] else "published"] for row in paper["rows"]]
    for name in names:
        exam = found.get((name, "accuracy_l100", "all", ""))
        ends = [exam.value, exam.low, exam.high] if exam else [None, None, None]
        isotropy = [_value(found, name, quantity, "documents", "") for quantity in ("isoscore", "i_a")]
        lines.append([name, *ends, *isotropy, "measured here"])
    return table(NAME, corpus, "published_squad", SQUAD, lines, paper["source"])


def _transforms(corpus: str, names: Sequence[str], found: Figures) -> Iterator[Series]:
    """Yield table 4 with the encoders that have transformed vectors, and the correlations in its last row."""
    paper = published("transforms")
    conditions = paper["conditions"]
    columns = {"model": "text", "figure": "text"}
    for condition in conditions:
        heading = TITLES[condition]
        columns |= {f"{heading}accuracy": "percent", f"{heading}IsoScore": "number", f"{heading}I_A": "number"}
    lines: list[list[Any]] = []
    for model, *triples in paper["rows"]:
        lines.append([model, "published", *(figure for triple in triples for figure in triple)])
    for name in names:
        if (name, "isoscore", "documents", "standardize") not in found:
            continue  # sparse vectors are not transformed
        figures = [
            _value(found, name, quantity, subset, condition)
            for condition in conditions
            for quantity, subset in ((f"Success@{K}", "all"), ("isoscore", "documents"), ("i_a", "documents"))
        ]
        lines.append([name, "measured here", *figures])
    yield table(NAME, corpus, "published_transforms", columns, lines, paper["source"])
    correlations = [
        [
            TITLES[condition].removesuffix(", ") or "none",
            paper["correlations"][condition][0],
            _value(found, "", "pearson", "IsoScore and success", condition),
            paper["correlations"][condition][1],
            _value(found, "", "pearson", "I-A and success", condition),
        ]
        for condition in conditions
    ]
    yield table(NAME, corpus, "published_correlations", CORRELATIONS, correlations, paper["source"])


def _value(found: Figures, encoder: str, quantity: str, subset: str, condition: str) -> float | None:
    row = found.get((encoder, quantity, subset, condition))
    return row.value if row else None
