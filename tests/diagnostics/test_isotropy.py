"""Isotropy of a corpus's texts: rows against naive formulas, roles, transforms, what is undefined."""

import math

import numpy as np
import pytest

from embassay.api import assay
from embassay.core.samples.retrieval import Document, Question
from embassay.core.samples.shapes import Pair
from embassay.core.types import Corpus
from embassay.diagnostics.isotropy import SUBSETS
from embassay.stats.geometry.closeness import unit_rows
from findings import sentences
from geometry.test_isotropy import naive
from geometry.test_participation import naive_ratio
from tables import Table


def pairs(number):
    """A corpus of 2 × number distinct texts."""
    return Corpus("mine", "pairs", tuple(Pair(f"{n}", f"a{n}", f"b{n}", None) for n in range(number)))


def vectors_of(corpus, width=6, seed=0):
    rng = np.random.default_rng(seed)
    return {t: rng.normal(size=width) * np.linspace(0.3, 2, width) + 0.4 for _, t in corpus.texts()}


def run(encoders, corpus, diagnostic="isotropy", **options):
    return assay(encoders, [corpus], [diagnostic], cache=None, **{"baselines": False, **options})


def rows(result, encoder="t", subset="texts"):
    return {(r.condition, r.metric): r for r in result.rows if (r.encoder, r.subset) == (encoder, subset)}


def definitions(v):
    """I_A, IsoScore, the plug-in participation ratio and the mean cosine of unit rows, by their definitions."""
    names = ("i_a", "isoscore", "participation_ratio_plugin", "mean_cosine")
    return dict(zip(names, naive(v), strict=True))


def standardized(v):
    """Unit length, each dimension to mean 0 and variance 1, unit length."""
    u = unit_rows(v.astype(np.float64))
    return unit_rows((u - u.mean(axis=0)) / u.std(axis=0))


def without_top_components(v, number=1):
    """Unit length, centred, less the directions of the largest variance, unit length."""
    u = unit_rows(v.astype(np.float64))
    u = u - u.mean(axis=0)
    top = np.linalg.svd(u)[2][:number]
    return unit_rows(u - u @ top.T @ top)


# --- figures ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured():
    corpus = pairs(30)
    vectors = vectors_of(corpus)
    matrix = np.array([vectors[t] for _, t in corpus.texts()], dtype=np.float32)
    return matrix, run([Table("t", vectors)], corpus)


def test_rows_equal_the_definitions(measured):
    matrix, result = measured
    found = rows(result)
    for metric, value in definitions(matrix).items():
        assert found["", metric].value == pytest.approx(value, rel=1e-5)


def test_the_unbiased_figures_equal_their_definition():
    corpus = pairs(5)
    vectors = vectors_of(corpus)
    matrix = np.array([vectors[t] for _, t in corpus.texts()], dtype=np.float32)
    found = rows(run([Table("t", vectors)], corpus))
    ratio = naive_ratio(matrix)
    assert found["", "participation_ratio"].value == pytest.approx(ratio, rel=1e-5)
    assert found["", "isoscore_unbiased"].value == pytest.approx((ratio - 1) / 5, rel=1e-5)


@pytest.mark.parametrize(
    ("condition", "moved"), [("standardize", standardized), ("remove_pcs", without_top_components)]
)
def test_rows_after_a_transform_equal_the_definitions(measured, condition, moved):
    # Of six dimensions max(1, 6 // 100) = 1 component goes.
    matrix, result = measured
    found = rows(result)
    for metric, value in definitions(moved(matrix)).items():
        assert found[condition, metric].value == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert found[condition, "rank"].value == {"standardize": 6, "remove_pcs": 5}[condition]


# --- roles -----------------------------------------------------------------------------------------------


def test_each_role_is_measured_by_itself():
    # "shared" is a query and a document, and other texts in each: four queries, three documents.
    samples = tuple(Question(text, text, ("d0",)) for text in ("shared", "q1", "q2", "q3"))
    documents = tuple(Document(text, (text,)) for text in ("d0", "shared", "d1"))
    corpus = Corpus("asked", "retrieval", samples, documents=documents)
    rng = np.random.default_rng(2)
    vectors = {(role, t): rng.normal(size=4) for role, t in corpus.texts()}
    result = run([Table("t", vectors)], corpus)
    assert {r.subset for r in result.rows} == {"queries", "documents"}
    for role, subset, number in (("query", "queries", 4), ("document", "documents", 3)):
        matrix = np.array([v for (r, _), v in vectors.items() if r == role], dtype=np.float32)
        assert len(matrix) == number
        found = rows(result, subset=subset)
        for metric, value in definitions(matrix).items():
            assert found["", metric].value == pytest.approx(value, rel=1e-5)
            assert found["", metric].items == number
    (verdict,) = result.verdicts
    assert (verdict.items, verdict.units) == (7, 7)
    # Of three documents nothing can be estimated without bias: all four dimensions may be in use.
    queries = math.ceil(5 * min(naive_ratio(np.array([v for (r, _), v in vectors.items() if r == "query"])), 4))
    assert [note.split(" (participation")[0] for note in sentences(result) if "participation" in note] == [
        f"t: 4 queries are too few to say how many of 4 dimensions they use: that takes about {queries}",
        "t: 3 documents are too few to say how many of 4 dimensions they use: that takes about 20",
    ]


def test_the_roles_are_those_of_the_samples():
    assert SUBSETS == {"text": "texts", "query": "queries", "document": "documents"}


# --- what is undefined -----------------------------------------------------------------------------------


def test_zero_vectors_are_left_out_and_counted():
    corpus = pairs(20)
    vectors = vectors_of(corpus)
    vectors["a3"] = vectors["b7"] = np.zeros(6)
    found = rows(run([Table("t", vectors)], corpus))
    matrix = np.array(list(vectors.values()), dtype=np.float32)
    for metric, value in definitions(matrix).items():
        assert found["", metric].value == pytest.approx(value, rel=1e-5)
    assert {(r.items, r.units, r.undefined) for r in found.values()} == {(38, 38, 2)}
