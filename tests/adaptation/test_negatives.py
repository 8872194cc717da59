"""Hard negatives against a naive loop, and what is never one."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from embassay.core.errors import InputError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Card, Corpus
from embassay.training.negatives import NEAR_DUPLICATE, Triplet
from embassay.training.negatives import mine as mine_with
from embassay.training.options import FinetuneOptions


def mine(corpus, questions, encoder, held_out=(), **options):
    """Mine with at most four negatives for each question."""
    return mine_with(corpus, questions, encoder, FinetuneOptions(**{"negatives": 4, **options}), held_out)


@dataclass
class Given:
    """An encoder of given vectors."""

    vectors: dict
    name: str = "given"
    fingerprint: str = "given"
    card: Card = field(default_factory=lambda: Card("given"))

    def fit(self, texts):
        return self

    def encode(self, texts, role="text"):
        return np.array([self.vectors[text] for text in texts], dtype=np.float32)


def at(degrees):
    return np.cos(np.radians(degrees)), np.sin(np.radians(degrees))


def circle(questions, **documents):
    """Questions at 0 degrees, documents at theirs."""
    vectors = {question.question: at(0) for question in questions}
    vectors |= {name: at(angle) for name, angle in documents.items()}
    corpus = Corpus("c", "retrieval", tuple(questions), documents=tuple(Document(d, (d,)) for d in documents))
    return corpus, Given(vectors)


ONE = Question("q", "where", ("right",))


def test_the_wrong_ones_are_those_of_a_naive_loop():
    rng = np.random.default_rng(3)
    names = [f"d{n}" for n in range(60)]
    questions = [Question(f"q{n}", f"ask {n}", (f"d{n}",)) for n in range(20)]
    vectors = {text: rng.normal(size=4) for text in [*names, *(q.question for q in questions)]}
    corpus = Corpus("c", "retrieval", tuple(questions), documents=tuple(Document(d, (d,)) for d in names))
    window, margin = 30, 0.1
    found = mine(corpus, questions, Given(vectors), negatives=99, window=window, margin=margin)

    def cosine(a, b):
        a, b = vectors[a].astype(np.float32).astype(float), vectors[b].astype(np.float32).astype(float)
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    for question, triplet in zip(questions, found, strict=True):
        order = sorted(names, key=lambda d: -cosine(question.question, d))[:window]
        right = question.right[0]
        bar = cosine(question.question, right) - margin
        wanted = [
            d
            for d in order
            if d != right and cosine(d, right) <= NEAR_DUPLICATE and cosine(question.question, d) <= bar
        ]
        assert triplet == Triplet(question.question, right, tuple(wanted), (right,))
    assert sum(len(t.wrong) for t in found) > 100


def test_copies_near_duplicates_and_documents_within_the_margin_are_no_negatives():
    corpus, encoder = circle([ONE], right=20, twin=21, RIGHT=40, close=-19, far=80)
    corpus = Corpus(
        "c", "retrieval", (ONE,), documents=(*corpus.documents[:2], Document("copy", ("Right",)), *corpus.documents[3:])
    )
    encoder.vectors["Right"] = at(40)
    found = mine(corpus, [ONE], encoder)
    assert found == (Triplet("where", "right", ("far",), ("right",)),)


def test_another_right_document_is_never_wrong_and_makes_a_triplet_of_its_own():
    both = Question("q", "where", ("right", "other"))
    corpus, encoder = circle([both], right=5, other=50, far=85)
    found = mine(corpus, [both], encoder)
    rights = ("right", "other")
    assert found == (Triplet("where", "right", ("far",), rights), Triplet("where", "other", ("far",), rights))


def test_what_answers_a_question_of_the_same_text_is_never_wrong():
    again = Question("r", "WHERE?", ("other",))
    corpus, encoder = circle([ONE, again], right=5, other=50, far=85)
    found = mine(corpus, [ONE, again], encoder)
    assert [t.wrong for t in found] == [("far",), ("far",)]
    assert {t.rights for t in found} == {("right", "other")}


@pytest.mark.parametrize(
    ("other", "wrong"),
    [
        ("First it hums. The relay timer opens, after five seconds! Then it stops.", False),
        ("Five seconds", False),
        ("The relay timer opens after fifty-five seconds.", True),
        ("The relay tim", True),
    ],
)
def test_a_text_that_holds_a_right_one_or_is_a_part_of_it_is_never_wrong(other, wrong):
    corpus, encoder = circle([ONE], right=5, other=50, far=85)
    right = "The relay timer opens after five seconds."
    documents = (Document("right", (right,)), Document("other", (other,)), Document("far", ("far",)))
    encoder.vectors |= {right: at(5), other: at(50)}
    found = mine(replace(corpus, documents=documents), [ONE], encoder)
    assert (other in found[0].wrong) == wrong


def test_documents_that_are_held_out_and_others_of_their_text_are_no_negatives():
    corpus, encoder = circle([ONE], right=5, held=50, copy=55, far=85)
    documents = (*corpus.documents[:2], Document("copy", ("HELD.",)), corpus.documents[3])
    encoder.vectors["HELD."] = at(55)
    found = mine(replace(corpus, documents=documents), [ONE], encoder, held_out={"held"})
    assert found[0].wrong == ("far",)


def test_a_question_without_a_wrong_document_stays_as_a_pair():
    late = Question("l", "late", ("far",))
    corpus, encoder = circle([ONE, late], right=5, far=85)
    found = mine(corpus, [ONE, late], encoder)
    assert found[1] == Triplet("late", "far", (), ("far",))


def test_of_a_document_of_passages_the_nearest_one_stands_for_it():
    documents = (Document("right", ("r far", "r near")), Document("wrong", ("w near", "w far")))
    vectors = {"where": at(0), "r far": at(-70), "r near": at(5), "w near": at(60), "w far": at(120)}
    corpus = Corpus("c", "retrieval", (ONE,), documents=documents)
    assert mine(corpus, [ONE], Given(vectors)) == (Triplet("where", "r near", ("w near",), ("r far", "r near")),)


def test_of_a_dot_product_the_margin_is_a_share():
    corpus, encoder = circle([ONE], right=0, wrong=0)
    encoder.vectors |= {"right": (10.0, 0.0), "wrong": (9.0, 8.0)}
    encoder.card = Card("given", similarity="dot")
    assert len(mine(corpus, [ONE], encoder, margin=0.05)[0].wrong) == 1
    with pytest.raises(InputError):
        mine(corpus, [ONE], encoder, margin=0.2)


def test_the_draw_depends_on_seed_and_question_alone():
    others = [Question(f"q{n}", f"ask {n}", ("right",)) for n in range(6)]
    corpus, encoder = circle(others, right=5, **{f"d{n}": 30 + n for n in range(40)})
    whole = mine(corpus, others, encoder, seed=1)
    assert mine(corpus, others[3:], encoder, seed=1) == whole[3:]
    assert mine(corpus, others, encoder, seed=2) != whole
    assert {len(set(t.wrong)) for t in whole} == {4}
    assert len({t.wrong for t in whole}) > 1


@pytest.mark.parametrize(
    ("angles", "options"),
    [({"near": 61}, {}), ({"close": 5}, {}), ({"held": 85}, {"held_out": ["held"]}), ({"Right": 85}, {}), ({}, {})],
)
def test_where_nothing_is_wrong_enough_the_options_are_named(angles, options):
    corpus, encoder = circle([ONE], right=60, **angles)
    with pytest.raises(InputError, match=r"none of its 1 questions .* use a larger --window or a smaller --margin"):
        mine(corpus, [ONE], encoder, **options)
