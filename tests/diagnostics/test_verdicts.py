"""What is called best, better or worse, from vectors to sentences."""

import numpy as np
import pytest

from embassay.api import assay
from embassay.core.errors import UnknownNameError
from embassay.core.result import worse_systems
from embassay.core.samples.shapes import Choice
from embassay.core.types import Corpus
from embassay.reports.findings.support import verdict
from tables import Table


def corpus_of(number):
    samples = (Choice(f"{n}", *(f"{kind}{n}" for kind in "iapq"), "adjective", "bad–good") for n in range(number))
    return Corpus("mine", "choice", tuple(samples))


def answering(corpus, right, hard=()):
    """Vectors by which the entries ``right`` are answered right; the inputs of ``hard`` ones are zero vectors."""
    vectors = {}
    for n, sample in enumerate(corpus.samples):
        near, far = (0.9, 0.1) if n in right else (0.1, 0.9)
        fields = {sample.input: 1.0, sample.antonym: 0.0, sample.polarity: far, sample.paraphrase: near}
        vectors |= {text: (c, np.sqrt(1 - c * c)) for text, c in fields.items()}
    return vectors | {corpus.samples[n].input: (0.0, 0.0) for n in hard}


def sentences(result):
    """The findings and the other lines of the only verdict."""
    (found,) = result.verdicts
    return list(verdict(result, found))


def run(encoders, corpus, diagnostic="negated_antonyms", **options):
    return assay(encoders, [corpus], [diagnostic], cache=None, resamples=200, **{"baselines": False, **options})


# --- who gives no vector to hard texts -------------------------------------------------------------------


@pytest.mark.parametrize(("number", "hard", "left_out"), [(130, 40, True), (260, 13, False)])
def test_an_encoder_that_leaves_hard_texts_out_is_not_used_where_the_other_wins(number, hard, left_out):
    # good answers all easy entries right and half of the hard ones at most. leaves gives no vector to the hard ones and
    # misses eight of the easy ones: by its own share it is higher, and on what both answer it loses.
    corpus = corpus_of(number)
    easy, hard_ones = range(number - hard), range(number - hard, number)
    good = answering(corpus, {*easy, *hard_ones[: hard // 3]})
    leaves = answering(corpus, set(easy[8:]), hard_ones)
    result = run([Table("leaves", leaves), Table("good", good)], corpus)
    (found,) = result.verdicts
    (difference,) = result.comparisons
    own = {r.encoder: r.value for r in result.rows if (r.metric, r.subset) == ("accuracy", "all")}
    assert own["leaves"] > own["good"]
    assert (difference.a, difference.b, difference.family) == ("leaves", "good", "models")
    assert (difference.difference, difference.won, difference.lost) == (pytest.approx(-8 / len(easy)), 0, 8)
    # All eight signs agree in 2 of 2⁸ patterns, of which half counts; 9,999 patterns are drawn.
    assert difference.p == difference.p_holm == pytest.approx(1 / 256, abs=0.002)
    assert found.left_out == (("leaves",) if left_out else ())
    assert worse_systems(result.differences(found)) == {"leaves": {"good"}}
    assert "leaves" not in found.best_set
    assert found.undefined_as_wrong["leaves"] < found.undefined_as_wrong["good"]
    told = sentences(result)
    assert any(line.startswith("Use: good.") for line in told)
    assert any(
        line.startswith(f"leaves is undefined for {hard} items; counted as wrong, the value is ") for line in told
    )


def test_encoders_without_a_vector_for_many_texts_are_not_ranked():
    corpus = corpus_of(130)
    easy, hard = range(90), range(90, 130)
    leaving = [Table(f"leaves, {right}", answering(corpus, set(easy[:right]), hard)) for right in (40, 80, 60)]
    (found,) = run([*leaving, Table("good", answering(corpus, set(range(50))))], corpus).verdicts
    assert set(found.left_out) == {"leaves, 40", "leaves, 80", "leaves, 60"}
    assert found.candidates == ("leaves, 80", "leaves, 60", "leaves, 40", "good")
    assert found.best_set == ("good",)


# --- one home, one interval, one p -----------------------------------------------------------------------


def test_no_pair_has_two_verdicts_and_none_contradicts_its_interval_or_the_list():
    corpus = corpus_of(60)
    rng = np.random.default_rng(0)
    for options in ("", ",compare=all") * 3:
        tables = [
            Table(f"e{k}", answering(corpus, set(np.flatnonzero(rng.random(60) < p)), rng.choice(60, 2)))
            for k, p in enumerate(rng.uniform(0.3, 0.9, size=4))
        ]
        result = run(tables, corpus, f"negated_antonyms{options}", baselines=True)
        (found,) = result.verdicts
        pairs = [(c.metric, c.subset, c.condition, frozenset((c.a, c.b))) for c in result.comparisons]
        assert len(set(pairs)) == len(pairs)
        for comparison in result.comparisons:
            if comparison.p_holm is not None:
                excludes_0 = comparison.low > 0 or comparison.high < 0
                assert excludes_0 == (comparison.p_holm <= 0.05)
        assert not set(found.best_set).intersection(worse_systems(result.differences(found)))


# --- what joins a run ------------------------------------------------------------------------------------


def test_the_reference_is_the_first_encoder_or_the_one_that_is_named():
    corpus = corpus_of(40)
    tables = [Table(n, answering(corpus, set(range(k)))) for n, k in (("a", 10), ("b", 20), ("c", 30))]
    for reference, expected in (("", "a"), ("b", "b"), ("c", "c")):
        result = run(tables, corpus, reference=reference, baselines=True)
        (found,) = result.verdicts
        assert (found.reference, found.baseline) == (expected, "tfidf")
        assert [(c.a, c.b) for c in result.comparisons if c.family == "main"] == [(expected, "tfidf")]


def test_the_reference_moves_neither_values_nor_the_best_set():
    corpus = corpus_of(40)
    tables = [Table(n, answering(corpus, set(range(k)))) for n, k in (("a", 10), ("b", 20), ("c", 30))]
    first, second = (run(tables, corpus, reference=name) for name in "ab")
    assert first.rows == second.rows
    assert first.verdicts[0].best_set == second.verdicts[0].best_set


@pytest.mark.parametrize("label", ["hashnig", "tfidf", "chance"])
def test_a_reference_that_is_no_candidate_is_refused(label):
    # tfidf joined by itself, and random vectors stand for chance.
    with pytest.raises(UnknownNameError, match=f"unknown reference encoder '{label}'") as error:
        assay(["hashing", "bow", "chance=random"], ["opposites"], cache=None, reference=label)
    assert str(error.value).endswith("Known: bow, hashing. --reference takes the label of an encoder from -e.")
    assert ("did you mean 'hashing'?" in str(error.value)) is (label == "hashnig")


def test_compare_all_adds_metrics_and_moves_no_verdict():
    corpus = corpus_of(40)
    tables = [Table(n, answering(corpus, set(range(k)))) for n, k in (("a", 10), ("b", 20), ("c", 30), ("d", 35))]
    usual, result = (run(tables, corpus, f"negated_antonyms{options}") for options in ("", ",compare=all"))
    of_headline = [c for c in result.comparisons if (c.metric, c.subset) == ("accuracy", "all")]
    assert of_headline == list(usual.comparisons)
    assert {frozenset((c.a, c.b)) for c in of_headline} == {frozenset(x) for x in ("ab", "ac", "ad", "bc", "bd", "cd")}
    assert len(result.comparisons) > len(of_headline)
    assert usual.verdicts == result.verdicts
