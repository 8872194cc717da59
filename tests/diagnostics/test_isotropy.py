"""Isotropy of a corpus's texts: rows against naive formulas, roles, transforms, what is undefined."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from scipy.sparse import csr_array

from embassay.api import assay
from embassay.core.errors import SpecError
from embassay.core.samples.pairs import Pair
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus, Draws, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics import isotropy as module
from embassay.diagnostics.isotropy import SUBSETS, TRANSFORMED, UNBIASED, UNTRANSFORMED, create
from embassay.run.resolve import load_corpus
from embassay.run.runs.results import to_bytes
from embassay.stats.geometry import isotropy as geometry
from embassay.stats.geometry import transforms
from embassay.stats.geometry.isotropy import isotropy
from findings import sentences
from tables import Table

CONDITIONS = ("", *transforms.NAMES)
DIAGNOSTIC_OF = {"pairs": "similarity", "minimal_pairs": "minimal_pairs"}


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


def unit_rows(v):
    return v / np.linalg.norm(v, axis=1, keepdims=True)


def naive(v):
    """I_A, IsoScore, the plug-in participation ratio and the mean cosine by their definitions, via eigenvalues."""
    v = unit_rows(v[np.abs(v).sum(axis=1) > 0].astype(np.float64))
    n, d = v.shape
    sigma = np.linalg.svd(v, compute_uv=False)
    length = np.linalg.norm(v.sum(axis=0))
    i_a = (n - length + (sigma[-1] ** 2 / 2 if n >= d else 0)) / (n + length + sigma[0] ** 2 / 2)
    values = np.linalg.eigvalsh(np.cov(v.T, bias=True))
    hat = math.sqrt(d) * values / np.linalg.norm(values)
    delta = np.linalg.norm(hat - 1) / math.sqrt(2 * (d - math.sqrt(d)))
    phi = (d - delta**2 * (d - math.sqrt(d))) ** 2 / d**2
    cosines = [v[i] @ v[j] for i in range(n) for j in range(n) if i != j]
    ratio = values.sum() ** 2 / (values**2).sum()
    return {
        "i_a": i_a,
        "isoscore": (d * phi - 1) / (d - 1),
        "participation_ratio_plugin": ratio,
        "mean_cosine": np.mean(cosines),
    }


def unbiased(v):
    """The participation ratio by means over all quadruples of different rows, as far as loops go in a test."""
    v = unit_rows(v.astype(np.float64))
    apart = v[:, None] - v
    squared, of_square = 0.0, 0.0
    for i, j, k, m in permutations(range(len(v)), 4):
        squared += (apart[i, j] @ apart[i, j]) * (apart[k, m] @ apart[k, m])
        of_square += (apart[i, j] @ apart[k, m]) ** 2
    return squared / of_square


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
    for metric, value in naive(matrix).items():
        assert found["", metric].value == pytest.approx(value, rel=1e-5)


def test_the_unbiased_figures_equal_their_definition():
    corpus = pairs(5)
    vectors = vectors_of(corpus)
    matrix = np.array([vectors[t] for _, t in corpus.texts()], dtype=np.float32)
    found = rows(run([Table("t", vectors)], corpus))
    ratio = unbiased(matrix)
    assert found["", "participation_ratio"].value == pytest.approx(ratio, rel=1e-5)
    assert found["", "isoscore_unbiased"].value == pytest.approx((ratio - 1) / 5, rel=1e-5)


def test_an_isotropic_gaussian_uses_its_384_dimensions_on_280_texts_too():
    corpus = pairs(140)
    rng = np.random.default_rng(1)
    found = rows(run([Table("t", {t: rng.normal(size=384) for _, t in corpus.texts()})], corpus))
    assert 372 < found["", "participation_ratio"].value < 392
    assert found["", "isoscore_unbiased"].value > 0.97
    assert found["", "participation_ratio_plugin"].value == pytest.approx(161, abs=5)
    assert found["", "isoscore"].value == pytest.approx(0.42, abs=0.02)


def test_after_a_transform_there_is_no_unbiased_estimate(measured):
    # The vectors depend on each other then: see the docs.
    _, result = measured
    conditions = {r.condition for r in result.rows if r.metric in UNBIASED}
    assert conditions == {""}
    assert set(UNTRANSFORMED) == {*TRANSFORMED, *UNBIASED}


@pytest.mark.parametrize(
    ("condition", "moved"), [("standardize", standardized), ("remove_pcs", without_top_components)]
)
def test_rows_after_a_transform_equal_the_definitions(measured, condition, moved):
    # Of six dimensions max(1, 6 // 100) = 1 component goes.
    matrix, result = measured
    found = rows(result)
    for metric, value in naive(moved(matrix)).items():
        assert found[condition, metric].value == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert found[condition, "rank"].value == {"standardize": 6, "remove_pcs": 5}[condition]


def test_as_many_components_are_removed_as_asked_for(measured):
    matrix, result = measured
    corpus = pairs(30)
    found = rows(run([Table("t", vectors_of(corpus))], corpus, "isotropy,pcs=2"))
    for metric, value in naive(without_top_components(matrix, 2)).items():
        assert found["remove_pcs", metric].value == pytest.approx(value, rel=1e-5, abs=1e-6)
    assert found["remove_pcs", "rank"].value == 4
    assert found["", "i_a"].value == rows(result)["", "i_a"].value
    with pytest.raises(SpecError, match="option 'pcs': must be 0 or more, is -1"):
        create(pcs=-1)


def test_whitening_leaves_nearly_equal_directions(measured):
    _, result = measured
    found = rows(result)
    assert found["whiten", "isoscore"].value > 0.9 > found["", "isoscore"].value
    assert found["whiten", "rank"].value == 6


def test_rows_equal_direct_calls_to_six_digits(measured):
    matrix, result = measured
    found = rows(result)
    for condition in CONDITIONS:
        moved = transforms.fit(condition, matrix).apply(matrix) if condition else matrix
        figures = isotropy(moved)
        for metric in TRANSFORMED if condition else UNTRANSFORMED:
            assert found[condition, metric].value == float(f"{getattr(figures, metric):.6g}")


def test_every_condition_has_its_rows_without_intervals(measured):
    _, result = measured
    assert list(rows(result)) == [
        (condition, metric)
        for condition in CONDITIONS
        for metric in ((*TRANSFORMED, "rank") if condition else UNTRANSFORMED)
    ]
    for r in result.rows:
        assert (r.diagnostic, r.similarity_function, r.low, r.high, r.reason) == (
            "isotropy",
            "isotropy",
            None,
            None,
            None,
        )
        assert (r.items, r.units, r.undefined) == (60, 60, 0)


def test_equal_directions_by_hand():
    # ±e₁, ±e₂: σ² = 2, 2 and 1ᵀV = 0: (4 + 1)/(4 + 1); C = ½I: 2 of 2 dimensions; of 12 pairs 4 are opposite.
    # Without bias tr(Σ)² is 2 and tr(Σ²) ⅔ (tests/geometry/test_participation.py): 3 dimensions, an IsoScore of 1.
    corpus = pairs(2)
    vectors = {"a0": (1, 0), "b0": (-1, 0), "a1": (0, 1), "b1": (0, -1)}
    found = rows(run([Table("t", vectors)], corpus))
    assert [found["", q].value for q in UNTRANSFORMED] == pytest.approx([1, 1, 1, 3, 2, -1 / 3], abs=1e-6)


def test_a_text_counts_once_however_often_it_occurs():
    corpus = Corpus("mine", "pairs", tuple(Pair(f"{n}", "same", f"b{n}", None) for n in range(20)))
    found = rows(run([Table("t", vectors_of(corpus))], corpus))
    assert found["", "isoscore"].items == 21


def test_the_length_of_a_vector_does_not_matter():
    corpus = pairs(20)
    vectors = vectors_of(corpus)
    # Powers of two: no digit is rounded away.
    longer = {t: v * 2.0 ** (n % 7) for n, (t, v) in enumerate(vectors.items())}
    a, b = (rows(run([Table("t", v)], corpus)) for v in (vectors, longer))
    for key, row in a.items():
        assert b[key].value == pytest.approx(row.value, rel=1e-5, abs=1e-6)


def test_neither_seed_nor_other_encoders_move_a_figure(measured):
    _, result = measured
    corpus = pairs(30)
    t, u = Table("t", vectors_of(corpus)), Table("u", vectors_of(corpus, seed=5))
    again = run([u, t], corpus, seed=4, resamples=7)
    assert [r.value for r in again.rows if r.encoder == "t"] == [r.value for r in result.rows]


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
        for metric, value in naive(matrix).items():
            assert found["", metric].value == pytest.approx(value, rel=1e-5)
            assert found["", metric].items == number
    (verdict,) = result.verdicts
    assert (verdict.items, verdict.units) == (7, 7)
    # Of three documents nothing can be estimated without bias: all four dimensions may be in use.
    queries = math.ceil(5 * min(unbiased(np.array([v for (r, _), v in vectors.items() if r == "query"])), 4))
    assert [note.split(" (participation")[0] for note in sentences(result) if "participation" in note] == [
        f"t: 4 queries are too few to say how many of 4 dimensions they use: that takes about {queries}",
        "t: 3 documents are too few to say how many of 4 dimensions they use: that takes about 20",
    ]


def test_the_roles_are_those_of_the_samples():
    assert SUBSETS == {"text": "texts", "query": "queries", "document": "documents"}


# --- sparse vectors --------------------------------------------------------------------------------------


def test_transforms_are_of_dense_vectors_only():
    corpus = pairs(30)
    rng = np.random.default_rng(0)
    vectors = {t: rng.normal(size=9) * (rng.random(9) < 0.5) for _, t in corpus.texts()}
    result = run([Table("dense", vectors), Table("sparse", vectors, csr_array)], corpus)
    dense, sparse = rows(result, "dense"), rows(result, "sparse")
    assert {c for c, _ in sparse} == {""}
    assert {c for c, _ in dense} == set(CONDITIONS)
    for metric in UNTRANSFORMED:
        assert sparse["", metric].value == pytest.approx(dense["", metric].value, rel=1e-5, abs=1e-6)
    assert not any("whitening" in note for note in sentences(result) if note.startswith("sparse"))


# --- what is undefined -----------------------------------------------------------------------------------


def test_zero_vectors_are_left_out_and_counted():
    corpus = pairs(20)
    vectors = vectors_of(corpus)
    vectors["a3"] = vectors["b7"] = np.zeros(6)
    found = rows(run([Table("t", vectors)], corpus))
    matrix = np.array(list(vectors.values()), dtype=np.float32)
    for metric, value in naive(matrix).items():
        assert found["", metric].value == pytest.approx(value, rel=1e-5)
    assert {(r.items, r.units, r.undefined) for r in found.values()} == {(38, 38, 2)}


@pytest.mark.parametrize("vector", [(1.0, 2.0, 3.0), (0.1, 0.7, -0.3, 0.2, 0.9)])
def test_equal_vectors_have_no_spread(vector):
    corpus = pairs(12)
    result = run([Table("t", dict.fromkeys((t for _, t in corpus.texts()), vector))], corpus)
    found = rows(result)
    assert found["", "i_a"].value == pytest.approx(0, abs=1e-6)
    assert found["", "mean_cosine"].value == pytest.approx(1, abs=1e-6)
    undefined = {key: r for key, r in found.items() if key not in {("", "i_a"), ("", "mean_cosine")}}
    assert {key for key, r in found.items() if r.value is None} == set(undefined)
    for (condition, _), row in undefined.items():
        assert row.reason.startswith("fewer than two texts whose vectors differ"), condition
        assert (row.low, row.high, row.items) == (None, None, 0)
    assert not any("participation" in note for note in sentences(result))


def test_one_text_has_no_spread():
    corpus = Corpus("mine", "pairs", (Pair("0", "same", "same", None),))
    found = rows(run([Table("t", {"same": (1.0, 2.0)})], corpus))
    for key, row in found.items():
        if key != ("", "i_a"):
            assert row.value is None
            assert row.reason.startswith("fewer than two texts")


def test_under_four_texts_nothing_is_estimated_without_bias():
    corpus = Corpus("mine", "pairs", (Pair("0", "a", "b", None), Pair("1", "a", "c", None)))
    found = rows(run([Table("t", {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (-1.0, 0.5)})], corpus))
    assert found["", "participation_ratio_plugin"].value is not None
    for metric in UNBIASED:
        assert found["", metric].value is None
        assert found["", metric].reason == "3 texts are too few to estimate it without bias; that takes 4"


def test_a_few_orthogonal_texts_use_an_unknown_number_of_dimensions():
    corpus = pairs(4)
    vectors = dict(zip((t for _, t in corpus.texts()), np.eye(8, 20), strict=True))
    result = run([Table("t", vectors)], corpus)
    for metric in UNBIASED:
        reason = "no two differences of these few texts have a direction in common; more texts are needed"
        assert rows(result)["", metric].reason == reason
    note = (
        "t: 8 texts are too few to say how many of 20 dimensions they use: that takes about 100 (participation ratio); "
        "two of them have a mean cosine of 0.00"
    )
    assert note in sentences(result)


def test_one_dimension_has_a_ratio_and_no_isoscore():
    corpus = pairs(4)
    vectors = {t: [1.0 if n % 2 else -2.0] for n, (_, t) in enumerate(corpus.texts())}
    found = rows(run([Table("t", vectors)], corpus))
    assert found["", "isoscore_unbiased"].reason == "fewer than two texts whose vectors differ, or one dimension"
    assert found["", "participation_ratio"].value is not None


def test_only_zero_vectors_leave_nothing():
    corpus = pairs(6)
    result = run([Table("t", {t: np.zeros(3) for _, t in corpus.texts()})], corpus)
    for r in result.rows:
        assert (r.value, r.items, r.undefined) == (None, 0, 12)
        assert r.reason.startswith("fewer than two texts")
    assert b"NaN" not in to_bytes(result)


def test_a_transform_that_leaves_no_direction_has_no_figures():
    # Two texts differ in one direction, which remove_pcs takes away: what is left is rounding.
    corpus = pairs(1)
    found = rows(run([Table("t", vectors_of(corpus, 8))], corpus))
    for metric in (*TRANSFORMED, "rank"):
        assert found["remove_pcs", metric].value is None
    assert found["whiten", "rank"].value == 1
    assert found["whiten", "mean_cosine"].value == pytest.approx(-1, abs=1e-6)


def test_i_a_is_left_out_where_it_would_take_too_long(monkeypatch):
    monkeypatch.setattr(geometry, "WIDEST", 5)
    monkeypatch.setattr(module, "WIDEST", 5)
    corpus = pairs(20)
    found = rows(run([Table("t", vectors_of(corpus))], corpus))
    assert found["", "i_a"].reason == "needs all singular values, which are computed up to 5 texts or dimensions"
    assert found["", "isoscore"].value is not None


# --- words -----------------------------------------------------------------------------------------------


def test_the_verdict_ranks_nobody_and_says_how_many_dimensions_are_used(measured):
    matrix, result = measured
    (verdict,) = result.verdicts
    assert (verdict.metric, verdict.best, verdict.candidates) == ("", None, ("t",))
    assert sentences(result) == [
        f"t: the texts use {isotropy(matrix).participation_ratio:.0f} of 6 dimensions (participation ratio); "
        f"two of them have a mean cosine of {naive(matrix)['mean_cosine']:.2f}",
    ]


@pytest.mark.parametrize("number", [30, 40, 60, 100])
def test_the_dimensions_used_are_stated_from_five_texts_for_each_on(number):
    # About 10 of 10 dimensions take 50 texts.
    corpus = pairs(number // 2)
    rng = np.random.default_rng(3)
    vectors = {t: rng.normal(size=10) for _, t in corpus.texts()}
    result = run([Table("t", vectors)], corpus)
    used = rows(result)["", "participation_ratio"].value
    needed = math.ceil(5 * min(used, 10))
    (note,) = [note for note in sentences(result) if "participation" in note]
    if number >= needed:
        assert note.startswith(f"t: the texts use {min(used, 10):.0f} of 10 dimensions (participation ratio)")
    else:
        words = f"t: {number} texts are too few to say how many of 10 dimensions they use: that takes about {needed} ("
        assert note.startswith(words)
    assert (number >= needed) is (number > 50)


@pytest.mark.parametrize(("texts", "width", "warned"), [(12, 6, False), (10, 6, True), (4, 6, True)])
def test_whitening_by_fewer_than_twice_as_many_texts_as_dimensions_is_warned_of(texts, width, warned):
    corpus = pairs(texts // 2)
    found = sentences(run([Table("t", vectors_of(corpus, width))], corpus))
    rank = min(width, texts - 1)
    line = (
        f"t: whitening is based on {texts} texts for {width} dimensions (rank {rank}); "
        "with fewer than twice as many it overfits"
    )
    assert (line in found) is warned
    assert len(found) == 1 + warned


def test_baselines_have_rows_and_no_findings():
    corpus = pairs(12)
    result = run([Table("t", vectors_of(corpus))], corpus, baselines=True)
    assert {r.encoder for r in result.rows} == {"t", "tfidf", "random"}
    (verdict,) = result.verdicts
    assert verdict.candidates == ("t",)
    assert {finding.encoder for finding in result.statements} == {"t"}


# --- what is kept ----------------------------------------------------------------------------------------


def test_scores_are_figures_and_no_items():
    corpus = pairs(5)
    texts = corpus.texts()
    matrix = np.array(list(vectors_of(corpus).values()), dtype=np.float32)
    found = create().score(corpus, Vectors(matrix, {t: i for i, t in enumerate(texts)}), Origin(*["x"] * 6))
    assert (found.values, found.labels["role"].tolist()) == ({}, ["text"] * 10)
    assert found.scalars["texts//width"] == 6
    assert all(math.isfinite(v) for v in found.scalars.values())
    (row, *_) = create().summarise([found], Draws()).rows
    assert "|scores:" in row.signature


def test_it_joins_the_diagnostics_of_every_shape_and_stands_last():
    for corpus in (pairs(3), load_corpus("edits")):
        part = replace(corpus, samples=corpus.samples[:3])
        result = assay(["hashing"], [part], profile="research", cache=None, baselines=False, resamples=10)
        assert [v.diagnostic for v in result.verdicts] == [DIAGNOSTIC_OF[corpus.shape], "isotropy"]


def test_the_documents_of_a_retrieval_corpus_have_one_isotropy():
    # Every second document has the same second passage: each distinct text counts once, in both diagnostics.
    passages = [(f"passage {n}", "licence") if n % 2 else (f"passage {n}",) for n in range(40)]
    documents = tuple(Document(f"d{n}", texts) for n, texts in enumerate(passages))
    questions = tuple(Question(f"q{n}", f"question {n}", (f"d{n}",)) for n in range(20))
    corpus = Corpus("mine", "retrieval", questions, documents=documents)
    result = assay(
        [Table("t", vectors_of(corpus))],
        [corpus],
        ["retrieval,transforms=all", "isotropy"],
        cache=None,
        baselines=False,
    )
    found = {}
    for row in result.rows:
        if row.subset == "documents":
            found.setdefault((row.condition, row.metric), []).append((row.diagnostic, row.value, row.items))
    in_both = {key: of_both for key, of_both in found.items() if len(of_both) == 2}
    assert {metric for _, metric in in_both} == {"i_a", "isoscore", "isoscore_unbiased", "rank"}
    assert {condition for condition, _ in in_both} == set(CONDITIONS)
    for (_, value, items), (_, other_value, other_items) in in_both.values():
        assert value == pytest.approx(other_value, rel=1e-4)
        assert items == other_items == 41
