"""Which role each encoder of a run has in comparisons, and what the effective number is estimated from."""

import numpy as np
import pytest

from embassay.core.types import ItemScores, Origin
from embassay.diagnostics.metrics.metric import Metric
from embassay.diagnostics.metrics.scoreboard import View, pool_of, roles_of
from embassay.diagnostics.metrics.summary import Figures
from embassay.stats.families import Step


def scores(name, spec="st:x", seed=0, unit_labels=((0, 0), (1, 1), (1, 0)), **origin):
    values = np.random.default_rng(seed).random(2)
    return ItemScores(
        Origin("retrieval", "", "mine", "corpus", name, name, spec, **origin),
        "cosine",
        item=np.array(["0", "1"]),
        unit=np.array([0, 1]),
        labels={},
        values={"x": values},
        unit_labels=np.array(unit_labels),
    )


BM25 = scores("bm25", "bm25", baseline=True)
TFIDF = scores("tfidf", "tfidf", baseline=True)
MODELS = [scores("m"), scores("mpnet", seed=1)]


def test_the_lexical_baseline_is_bm25_and_tfidf_only_without_it():
    assert roles_of([*MODELS, TFIDF, BM25]).lexical == "bm25"
    assert roles_of([*MODELS, TFIDF]).lexical == "tfidf"
    assert roles_of(MODELS).lexical is None
    # One that was asked for is the baseline, and the first of two.
    asked = [scores("mine", "bm25,k1=0.9"), scores("other", "bm25")]
    assert roles_of([*MODELS, *asked]).lexical == "mine"


def test_random_vectors_are_no_candidates_and_the_reference_is_the_one_that_is_named():
    roles = roles_of([MODELS[0], scores("chance", "random", is_chance=True), scores("b", reference=True)])
    assert (roles.candidates, roles.reference, roles.models) == (("m", "b"), "b", ("b", "m"))


def test_a_derived_candidate_is_a_step_where_all_that_it_is_derived_from_is_in_the_run():
    index = scores("ivf", step="index", parts=("m",))
    fusion = scores("both", step="fusion", parts=("m", "bm25"))
    roles = roles_of([*MODELS, index, fusion, BM25])
    assert roles.steps == {"ivf": Step("index", ("m",)), "both": Step("fusion", ("m", "bm25"))}
    assert roles.base_systems == ("m", "mpnet", "bm25")
    homes = {(test.a, test.b): test.family for test in roles.pairs({*roles.candidates, "bm25"})}
    assert homes["ivf", "m"] == homes["both", "m"] == homes["both", "bm25"] == "step"
    assert len({frozenset(pair) for pair in homes}) == len(homes)
    # Without bm25 the fusion is a model of its own, with a home beside the other models.
    without = roles_of([*MODELS, index, fusion])
    assert without.base_systems == ("m", "mpnet", "both")
    assert ("m", "both") in {(test.a, test.b) for test in without.pairs(without.candidates) if test.family == "models"}


def test_the_pool_is_that_of_the_base_systems_whatever_their_order():
    pool = pool_of([*MODELS, BM25])
    assert pool_of([BM25, *MODELS[::-1]]) == pool
    assert (
        pool_of(
            [*MODELS, BM25, scores("ivf", seed=9, step="index", parts=("m",)), scores("r", "random", is_chance=True)]
        )
        == pool
    )
    assert pool_of([*MODELS, BM25, scores("new", seed=2)]) != pool
    assert pool_of([MODELS[0], scores("mpnet", seed=3), BM25]) != pool


def test_scores_with_other_labels_of_units_cannot_be_compared():
    metric = Metric("x", kind="mean", better="higher", of=lambda view: view.scores.values["x"])
    assert Figures.of(View, MODELS, [metric]).labels().partners == pytest.approx(2 / np.sqrt(2) / 2)
    other = scores("other", unit_labels=((0, 0), (1, 1)))
    with pytest.raises(ValueError, match="the scores of other and m are of different"):
        Figures.of(View, [MODELS[0], other], [metric])
