"""A model that gives half of the texts no vector is a regression, whatever the diagnostic measures.

The model counts the character trigrams of a text. What is left of a broken one can be better than the whole: the mean
of the contrast of minimal pairs is negative, so that zeros would raise it.
"""

import zlib

import numpy as np
import pytest

import embassay as ea
from embassay.core.columns import read_columns
from embassay.core.types import Card, content_hash
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

WIDTH = 256
CORPORA = {
    "retrieval": "handbook",
    "negated_antonyms": "opposites",
    "minimal_pairs": "edits",
    "composition": "vignettes",
}
DIAGNOSTICS = [*CORPORA, "similarity"]


class Trigrams:
    """Counts character trigrams; a share of the texts, chosen by their hash, has the zero vector."""

    name = "model"

    def __init__(self, broken):
        self.broken = broken
        self.card = Card("object:trigrams", cached=False)
        self.fingerprint = content_hash(["trigrams", str(broken)])

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for row, text in enumerate(texts):
            if zlib.crc32(text.encode()) % 100 < 100 * self.broken:
                continue
            padded = f"  {text.lower()} "
            for start in range(len(padded) - 2):
                vectors[row, zlib.crc32(padded[start : start + 3].encode()) % WIDTH] += 1
        return vectors


def scored_pairs():
    """Pairs of four words, rated by how many of them are the same."""
    rng = np.random.default_rng(0)
    words = np.array("open closed rain snow cat dog red blue".split())
    pairs = []
    for number in range(80):
        first, second = rng.choice(words, 4), rng.choice(words, 4)
        same = number % 5
        second[:same] = first[:same]
        pairs.append(ea.Pair(f"p{number}", f"{' '.join(first)} {number}", f"{' '.join(second)} {number}", float(same)))
    return ea.Corpus("scored", "pairs", tuple(pairs))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return a function that runs the model on the corpus of a diagnostic, and returns the folder of the run."""
    root = tmp_path_factory.mktemp("trigrams")

    def run(diagnostic, broken):
        out = root / f"{diagnostic}-{broken}"
        if not out.exists():
            corpus = CORPORA.get(diagnostic) or scored_pairs()
            options = {"out": out, "quiet": True, "resamples": 20, "cache": None, "baselines": False}
            assert carry_out(RunRequest([Trigrams(broken)], [corpus], [diagnostic], **options)) == 0
        return out

    return run


def test_half_of_the_vectors_are_zero():
    texts = [text for _, text in (text for sample in ea.load("edits").samples for text in sample.texts())]
    assert np.mean(~Trigrams(0.5).encode(texts).any(axis=1)) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("diagnostic", DIAGNOSTICS)
def test_it_is_a_regression(runs, diagnostic):
    outcome = ea.check(runs(diagnostic, 0.5), runs(diagnostic, 0.0))
    assert (outcome.outcome, outcome.exit_code) == ("regression", 1)
    (change,) = outcome.changes
    assert change.reason == "no value"
    # No opposite is told from its input by trigrams.
    assert change.new < change.old or change.old == 0


@pytest.mark.parametrize("diagnostic", DIAGNOSTICS)
def test_no_metric_and_no_margin_lets_it_pass(runs, diagnostic):
    new, old = runs(diagnostic, 0.5), runs(diagnostic, 0.0)
    margins = {}
    for column in read_columns(old):
        if column.better != "neither" and column.is_candidate:
            margins[str(column.key.short)] = 0.99 if column.of_shares else 100.0
    outcome = ea.check(new, old, margins=margins)
    assert len(outcome.changes) == len(margins) > 1
    # Of a few entries, such as those with one pair of words, all may have their vectors.
    broken = [change for change in outcome.changes if change.undefined > 0.05 * change.items]
    assert len(broken) > 0.9 * len(margins)
    assert {change.reason for change in broken} == {"no value"}
    # Where a metric has no worst end, the worst that was seen counts.
    lower_is_better = {"chosen[antonym]", "chosen[polarity]", "nearer[antonym>typo]"}
    for change in broken:
        assert (change.new >= change.old) if change.metric in lower_is_better else (change.new <= change.old)


@pytest.mark.parametrize("diagnostic", ["minimal_pairs", "similarity"])
def test_a_few_missing_vectors_pass_no_metric_without_a_worst_end(runs, diagnostic):
    new, old = runs(diagnostic, 0.01), runs(diagnostic, 0.0)
    headline = "spearman" if diagnostic == "similarity" else "contrast[synonym-negation_main]"
    (change,) = ea.check(new, old, margins={headline: 100.0}).changes
    assert 0 < change.undefined <= 0.05 * change.items
    assert change.outcome != "pass"
    assert "counted as the worst" in ea.check(new, old).notes[0]


@pytest.mark.parametrize("diagnostic", DIAGNOSTICS)
def test_a_model_that_is_mended_has_gained_nothing_where_it_had_no_value(runs, diagnostic):
    (change,) = ea.check(runs(diagnostic, 0.0), runs(diagnostic, 0.5)).changes
    assert (change.outcome, change.undefined) == ("pass", 0)
    assert not change.gained or diagnostic == "retrieval"


@pytest.mark.parametrize("diagnostic", DIAGNOSTICS)
def test_a_model_without_any_vector_is_a_regression(runs, diagnostic):
    assert ea.check(runs(diagnostic, 1.0), runs(diagnostic, 0.0)).exit_code == 1
