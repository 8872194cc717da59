"""Corpora and results that were made in Python: what nothing can be measured with is refused, in one line."""

import math
from dataclasses import replace

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import SpecError
from embassay.core.plugins import CORPORA, DIAGNOSTICS
from embassay.core.result import Estimate, Row
from embassay.core.samples.checks import SAMPLES
from embassay.core.samples.retrieval import Document, Question
from embassay.core.samples.shapes import Choice, Composition, Grouped, MinimalPairs, Pair, TwoText
from embassay.core.types import Corpus, ItemScores, Origin
from embassay.run.plan import ANY, prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import builtin_names, load_corpus

CHOICE = Choice("0", "She is bad.", "She is good.", "She is not bad.", "She is not good.", "adjective", "bad–good")
EDITS = MinimalPairs("0", "a cat", (("typo", "a cta"), ("synonym", "a feline")))
COMPOSED = Composition("0", "overlap", "a b", "b c", "b", ratings=(0, 4.0))
PAIR = Pair("0", "a cat", "a dog", 2)
QUESTION = Question("0", "Which cat?", ("d0", "d1"), (1, 2), ("article 1",))
GROUPED = Grouped("0", "a cat", "cats")
MEMBER = TwoText("0", "domain", "text", "a cat")
DOCUMENTS = (Document("d0", ("one", "two")), Document("d1", ("three",)))
GOOD = {
    "choice": CHOICE,
    "minimal_pairs": EDITS,
    "composition": COMPOSED,
    "pairs": PAIR,
    "retrieval": QUESTION,
    "groups": GROUPED,
    "two": MEMBER,
}


def corpus(*samples, shape="", documents=DOCUMENTS, name="mine"):
    shape = shape or next(s for s, kind in SAMPLES.items() if isinstance(samples[0], kind))
    return Corpus(name, shape, samples, documents=documents if shape == "retrieval" else ())


@pytest.mark.parametrize("shape", GOOD)
def test_what_is_sound_is_taken(shape):
    both = corpus(GOOD[shape], replace(GOOD[shape], id="1"))
    both.check()
    assert both.audit().items == 2


def test_every_shape_that_a_loader_or_a_diagnostic_has_is_known():
    loaders = {CORPORA.module(name).SHAPE for name in CORPORA.own_names()}
    diagnostics = {DIAGNOSTICS.module(name).create().shape for name in DIAGNOSTICS.own_names()} - {ANY}
    assert loaders | diagnostics == set(SAMPLES) == set(GOOD)


@pytest.mark.parametrize("name", builtin_names())
def test_built_in_corpora_are_sound(name):
    built_in = load_corpus(name)
    built_in.check()
    assert built_in.builtin


WRONG = [
    # ids and units
    (replace(PAIR, id=""), "id"),
    (replace(EDITS, group=None), "group"),
    # texts
    (replace(PAIR, second=""), "second"),
    (replace(PAIR, first=b"bytes"), "first"),
    (replace(PAIR, first="half \ud800"), "first"),
    # choices
    (replace(CHOICE, paraphrase=""), "paraphrase"),
    (replace(CHOICE, part_of_speech="Adj"), "part_of_speech"),
    # minimal pairs
    (replace(EDITS, edits=()), "edits"),
    (replace(EDITS, edits=(("tpyo", "a cta"),)), "edits"),
    (replace(EDITS, edits=(("typo", ""),)), "edits.0.1: an empty text"),
    (replace(EDITS, edits=(("typo", "x"), ("typo", "y"))), "edit"),
    # compositions
    (replace(COMPOSED, operator="minus"), "operator"),
    (replace(COMPOSED, mirrored=True), "mirrored"),
    (replace(COMPOSED, ratings=(5,)), "ratings"),
    (replace(COMPOSED, ratings=(math.nan,)), "ratings"),
    # pairs
    (replace(PAIR, score=math.inf), "score"),
    (replace(PAIR, score=True), "score"),
    # questions
    (replace(QUESTION, right=("d0", "d7")), "the right document"),
    (replace(QUESTION, right="d0", gains=()), "right"),
    (replace(QUESTION, right=("d0", "d0")), "listed twice"),
    (replace(QUESTION, gains=(1,)), "gains"),
    (replace(QUESTION, gains=(1, 0)), "gains"),
    (replace(QUESTION, units=("",)), "units"),
    # two sides
    (replace(MEMBER, side="other"), "side"),
]


@pytest.mark.parametrize(("sample", "told"), WRONG)
def test_a_sample_that_is_wrong_is_refused_with_its_number(sample, told):
    with pytest.raises(SpecError) as caught:
        corpus(sample).check()
    assert told in str(caught.value)
    assert str(caught.value).startswith("corpus 'mine', sample 0: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("documents", "told"),
    [
        ((), "corpus 'mine' has questions but no documents; pass documents="),
        ((Document("d0", ("a",)), Document("d0", ("b",))), "document 1: the id 'd0' is already used by number 0"),
        ((Document("d0", ()),), "document 0: passages: "),
        ((Document("d0", ("a", " ")),), "document 0: passages.1: an empty text"),
        (("a document",), "must be an instance of Document; it is 'a document'"),
    ],
)
def test_documents_that_are_wrong_are_refused(documents, told):
    with pytest.raises(SpecError) as caught:
        corpus(replace(QUESTION, right=(), gains=()), documents=documents).check()
    assert told in str(caught.value)


def test_documents_without_questions_are_a_corpus():
    without = Corpus("mine", "retrieval", (), documents=DOCUMENTS)
    without.check()
    assert len(without.texts()) == sum(len(document.passages) for document in DOCUMENTS)


def test_a_shape_that_nothing_reads_is_refused_and_not_left_to_isotropy():
    with pytest.raises(SpecError, match="corpus 'mine' has the shape chioce, which no diagnostic of this run reads"):
        prepare(RunRequest(["hashing"], [Corpus("mine", "chioce", (CHOICE,))], []))


def test_assay_refuses_what_is_wrong_before_any_work():
    with pytest.raises(SpecError, match="sample 1: the id '0' is already used by number 0"):
        ea.assay(["no such encoder"], [corpus(CHOICE, CHOICE)], cache=None)


# Figures


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"low": 0.9, "high": 0.1}, "low and high must be the ends of an interval"),
        ({"low": None}, "low and high must be the ends of an interval"),
        ({"value": math.nan}, "value must be finite or None"),
    ],
)
@pytest.mark.parametrize("kind", [Estimate, Row])
def test_figures_that_contradict_each_other_are_refused(kind, changes, told):
    usual = {"value": 0.5, "low": 0.4, "high": 0.6, "items": 40, "units": 20, "undefined": 0, "reason": None}
    if kind is Row:
        names = ("diagnostic", "corpus", "encoder", "subset", "similarity_function", "condition", "metric", "signature")
        usual |= dict.fromkeys(names, "x")
    kind(**usual)
    with pytest.raises(ValueError, match=told):
        kind(**{**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"item": np.array([0, 1])}, "items and labels must be arrays of str"),
        ({"labels": {"subset": np.array([0, 1])}}, "items and labels must be arrays of str"),
        ({"labels": {"subset": np.array(["a", None])}}, "items and labels must be arrays of str"),
        ({"values": {"x": np.zeros(2, np.float32)}}, "values arrays of float64"),
        ({"values": {"x": np.zeros(3)}}, "one entry for each item"),
        ({"unit": np.zeros(1, np.int64)}, "one entry for each item"),
    ],
)
def test_scores_that_do_not_belong_together_are_refused(changes, told):
    usual = {"item": np.array(["0", "1"]), "unit": np.arange(2), "labels": {}, "values": {"x": np.zeros((2, 3))}}
    ItemScores(Origin(*["x"] * 6), "cosine", **usual)
    with pytest.raises(ValueError, match=told):
        ItemScores(Origin(*["x"] * 6), "cosine", **{**usual, **changes})
