"""Splits of questions: shares, whole groups, the seed, and that nothing tested was learnt from."""

from itertools import combinations
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from embassay.core.errors import InputError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.training.negatives import normalised
from embassay.training.splits import contains_any
from embassay.training.splits import split as split_questions


def split(corpus, **options):
    """Split a corpus, and return the ids of each part."""
    parts = split_questions(corpus, **options)
    return SimpleNamespace(**{part: tuple(question.id for question in found) for part, found in vars(parts).items()})


def corpus(questions, documents=()):
    ids = dict.fromkeys(name for question in questions for name in question.right)
    made = {d.id: d for d in documents}
    there = tuple(made.get(name) or Document(name, (f"Text of document {name}.",)) for name in ids)
    return Corpus("mine", "retrieval", tuple(questions), documents=there)


def plain(number, per_document=1, per_unit=1):
    return [
        Question(f"q{i}", f"What is thing number {i}?", (f"d{i // per_document}",), units=(f"u{i // per_unit}",))
        for i in range(number)
    ]


def test_the_shares_are_those_asked_for_and_every_question_has_one_side():
    mine = corpus(plain(100))
    found = split(mine)
    assert (len(found.train), len(found.dev), len(found.test)) == (72, 8, 20)
    assert sorted((*found.train, *found.dev, *found.test)) == sorted(s.id for s in mine.samples)


def right_of(mine, names):
    return {right for sample in mine.samples if sample.id in names for right in sample.right}


def test_by_question_shares_documents_and_by_context_does_not():
    mine = corpus(plain(200, per_document=4))
    for by, shares in (("question", True), ("context", False)):
        found = split(mine, by=by)
        learnt = right_of(mine, (*found.train, *found.dev))
        assert bool(learnt & right_of(mine, found.test)) == shares
    assert len(found.test) == 40


def test_by_context_keeps_units_and_equal_documents_together():
    twins = [Document(f"d{i}", (f"The pump number {i // 2}  stands still.",)) for i in range(100)]
    mine = corpus([Question(f"q{i}", f"Which {i}?", (f"d{i}",)) for i in range(100)], twins)
    found = split(mine, by="context")
    assert all((f"q{i}" in found.test) == (f"q{i + 1}" in found.test) for i in range(0, 100, 2))


def test_questions_without_an_answer_are_tested_in_their_share_and_never_learnt_from():
    mine = corpus([*plain(80), *(Question(f"n{i}", f"And what of {i}?", ()) for i in range(80))])
    found = split(mine)
    assert 5 < sum(name.startswith("n") for name in found.test) < 27
    assert not [name for name in (*found.train, *found.dev) if name.startswith("n")]


def test_what_hangs_together_cannot_be_divided():
    mine = corpus([Question(f"q{i}", f"What is thing number {i}?", ("one",)) for i in range(60)])
    with pytest.raises(InputError, match=r"questions cannot be divided.*1 connected groups"):
        split(mine, by="context")


@given(st.lists(st.tuples(*[st.integers(0, 99)] * 3), min_size=30, max_size=60))
def test_a_split_is_apart_however_questions_hang_together(links):
    mine = corpus(
        [Question(f"q{i}", f"Question {text}?", (f"d{d}",), units=(f"u{u}",)) for i, (text, d, u) in enumerate(links)]
    )
    for by in ("question", "context"):
        try:
            found = split(mine, by=by, test=0.3)
        except InputError:
            continue
        parts = [[links[int(name[1:])] for name in part] for part in (found.train, found.dev, found.test)]
        assert sum(map(len, parts)) == len(links)
        for one, other in combinations(parts, 2):
            for field in (0,) if by == "question" else (0, 1, 2):
                assert not {link[field] for link in one} & {link[field] for link in other}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("where is the VALVE", True),
        ("Q1: Where is the valve? On deck.", True),
        ("Where is the valve-house?", True),
        ("Nowhere is the valve seen", False),
        ("Where is the valves", False),
        ("Why?", True),
        ("He says why.", False),
        ("???", True),
        ("", False),
    ],
)
def test_questions_are_found_word_for_word(text, there):
    assert contains_any(text, {"where is the valve", "why", "???"}) == there


@given(st.lists(st.text("ab ", min_size=1), min_size=1, max_size=5), st.text("ab ", max_size=40))
def test_questions_are_found_as_a_naive_search_finds_them(questions, text):
    own = normalised(text)
    forms = [normalised(question) for question in questions]
    wanted = any(q == own or (len(q.split()) >= 3 and f" {q} " in f" {own} ") for q in forms)
    assert contains_any(text, forms) == wanted
