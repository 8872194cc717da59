"""What is called best, better or worse, from vectors to sentences."""

import numpy as np
import pytest

from embassay.api import assay
from embassay.errors import UnknownNameError
from embassay.findings.support import verdict
from embassay.samples.choice import Choice
from embassay.types import Corpus
from tables import Labelled, Table


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
    return list(verdict(result, found, {}, {}))


def run(encoders, corpus, diagnostic="negated_antonyms", **options):
    return assay(encoders, [corpus], [diagnostic], cache=None, resamples=200, **{"baselines": False, **options})


# --- defect 1: who gives no vector to hard texts ---------------------------------------------------------


@pytest.mark.parametrize(("number", "hard", "left_out"), [(130, 40, True), (260, 13, False)])
def test_an_encoder_that_leaves_hard_texts_out_is_not_called_best_where_the_other_wins(number, hard, left_out):
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
    assert (difference.a, difference.b, difference.family) == ("good", "leaves", "reference")
    assert difference.difference == pytest.approx(8 / len(easy))
    assert difference.p == difference.p_holm == 2 / 2**8
    assert (found.best, found.best_set) == ("good", ("good",))
    assert found.left_out == (("leaves",) if left_out else ())
    assert found.undefined_as_wrong["leaves"] < found.undefined_as_wrong["good"]
    told = sentences(result)
    assert any(line.startswith("good is better than leaves by ") for line in told)
    assert any(
        line.startswith(f"leaves is undefined for {hard} items; counted as wrong, the value is ") for line in told
    )
    # The best set is named with figures in brackets.
    assert not any("best" in line and "leaves (" in line for line in told)


def test_encoders_without_ranks_come_last_by_their_values():
    """Those that give no vector to many texts are not ranked with the others."""
    corpus = corpus_of(130)
    easy, hard = range(90), range(90, 130)
    leaving = [Table(f"leaves, {right}", answering(corpus, set(easy[:right]), hard)) for right in (40, 80, 60)]
    (found,) = run([*leaving, Table("good", answering(corpus, set(range(50))))], corpus).verdicts
    assert found.left_out == ("leaves, 40", "leaves, 80", "leaves, 60")
    assert found.candidates == ("good", "leaves, 80", "leaves, 60", "leaves, 40")


def test_best_and_better_never_contradict_each_other():
    # Drawn at random: whoever is in the best set is not significantly worse than the reference in it.
    corpus = corpus_of(60)
    rng = np.random.default_rng(0)
    for _ in range(10):
        shares = rng.uniform(0.3, 0.9, size=4)
        tables = [
            Table(f"e{k}", answering(corpus, set(np.flatnonzero(rng.random(60) < p)), rng.choice(60, 2)))
            for k, p in enumerate(shares)
        ]
        (found,) = run(tables, corpus).verdicts
        reference = found.opponent("reference")
        if reference.name in found.best_set:
            better = {gap.candidate for gap in reference.differences if gap.is_significant and gap.is_higher}
            assert better <= set(found.left_out)


# --- defect 12: variants of one model --------------------------------------------------------------------


@pytest.mark.slow
def test_seven_variants_of_a_model_leave_the_answer_against_bm25_as_it_was():
    model, variants = ["model=hashing,dim=512"], [f"variant{k}=hashing,dim={513 + k}" for k in range(7)]
    options = {"cache": None, "resamples": 200}
    alone, joined = (assay(e, ["handbook"], ["retrieval"], **options) for e in (model, [*model, *variants]))
    of_model = [next(c for c in r.comparisons if (c.a, c.family) == ("model", "baseline")) for r in (alone, joined)]
    first, second = ((c.b, c.difference, c.low, c.high, c.p, c.p_method, c.items, c.units) for c in of_model)
    assert first == second
    assert (
        first[0]
        == alone.verdicts[0].opponent("baseline").name
        == joined.verdicts[0].opponent("baseline").name
        == "bm25"
    )
    assert [c.pairs_in_family for c in of_model] == [1, 8]
    assert of_model[1].p_holm <= 0.05
    against = joined.verdicts[0].opponent("baseline").difference("model")
    assert (against.difference, against.p) == (of_model[1].difference, of_model[1].p_holm)


# --- whom the others are compared with -------------------------------------------------------------------


def test_the_reference_is_the_first_encoder_or_the_one_that_is_named():
    corpus = corpus_of(40)
    tables = [Table(n, answering(corpus, set(range(k)))) for n, k in (("a", 10), ("b", 20), ("c", 30))]
    for reference, expected in (("", "a"), ("b", "b"), ("c", "c")):
        result = run(tables, corpus, reference=reference)
        (found,) = result.verdicts
        assert found.opponent("reference").name == expected
        assert {c.b for c in result.comparisons} == {expected}
        assert set(found.opponent("reference").tested) == {"a", "b", "c"} - {expected}
    assert "c is better than b by 25.0 points" in " ".join(sentences(run(tables, corpus, reference="b")))


def test_the_reference_moves_neither_values_nor_the_best_set():
    corpus = corpus_of(40)
    tables = [Table(n, answering(corpus, set(range(k)))) for n, k in (("a", 10), ("b", 20), ("c", 30))]
    first, second = (run(tables, corpus, reference=name) for name in "ab")
    assert first.rows == second.rows
    assert first.verdicts[0].best_set == second.verdicts[0].best_set
    assert first.verdicts[0].rank_low == second.verdicts[0].rank_low


@pytest.mark.parametrize("label", ["hashnig", "tfidf", "chance"])
def test_a_reference_that_is_no_candidate_is_refused(label):
    # tfidf joined by itself, and random vectors stand for chance.
    with pytest.raises(UnknownNameError, match=f"unknown reference encoder '{label}'") as error:
        assay(["hashing", "bow", "chance=random"], ["opposites"], cache=None, reference=label)
    assert str(error.value).endswith("Known: bow, hashing. --reference takes the label of an encoder from -e.")
    assert ("did you mean 'hashing'?" in str(error.value)) is (label == "hashnig")


# --- all pairs, and their number -------------------------------------------------------------------------


def test_compare_all_gives_every_pair_beside_the_usual_questions():
    corpus = corpus_of(40)
    tables = [Table(n, answering(corpus, set(range(k)))) for n, k in (("a", 10), ("b", 20), ("c", 30), ("d", 35))]
    result = run(tables, corpus, "negated_antonyms,compare=all")
    of_headline = [c for c in result.comparisons if (c.metric, c.subset) == ("accuracy", "all")]
    pairs = {frozenset((c.a, c.b)) for c in of_headline if c.family == "all"}
    assert pairs == {frozenset(pair) for pair in ("ab", "ac", "ad", "bc", "bd", "cd")}
    assert len(of_headline) == 6 + 3
    assert {c.pairs_in_family for c in of_headline if c.family == "all"} == {6}
    usual = run(tables, corpus)
    assert [c for c in of_headline if c.family != "all"] == list(usual.comparisons)
    assert usual.verdicts == result.verdicts


def test_the_number_of_comparisons_grows_with_the_number_of_encoders():
    corpus = corpus_of(20)
    numbers = {}
    for encoders in (8, 16, 32):
        result = run([Labelled(f"e{n}", 16 + n) for n in range(encoders)], corpus, baselines=True)
        numbers[encoders] = len(result.comparisons)
        assert len({r.encoder for r in result.rows}) == encoders + 2
    # Each candidate against tfidf, and each but the reference against the reference.
    assert numbers == {8: 15, 16: 31, 32: 63}
