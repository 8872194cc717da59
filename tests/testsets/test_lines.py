"""The written form of a test set: what its loader reads back is what was built."""

from collections import Counter

import pytest

from embassay.core.samples.retrieval import Document, Question
from embassay.core.samples.shapes import Composition
from embassay.run.resolve import load_corpus
from embassay.testsets.base import Built
from embassay.testsets.files import content_of, lines_of
from embassay.testsets.sheets import UNANSWERED, rateable

COMPOSED = (
    Composition("1.union", "union", "It rained.", "It was cold.", "It rained and was cold.", "a"),
    Composition("1.minus", "difference", "It rained and was cold.", "It rained.", "It was cold.", "a"),
    Composition("2.both", "overlap", "He ran and sang.", "He sang and slept.", "He sang.", "b"),
)
DOCUMENTS = (Document("d#1", ("A valve opens.",)), Document("d#2", ("A pump turns.",)), Document("e", ("Oil cools.",)))
QUESTIONS = (
    Question("q1", "What opens?", ("d#1",), units=("d",)),
    Question("q2", "What turns or cools?", ("d#2", "e"), units=("d",)),
    Question("q3", "What melts?", (), units=("f",)),
)


def written(tmp_path, built):
    path = tmp_path / "set.jsonl"
    path.write_bytes(content_of(lines_of(built)))
    return str(path)


def test_compositions_are_read_back_with_their_units_and_filters(tmp_path):
    built = Built(COMPOSED, Counter(), filtered_with=("bow", "tfidf"), fields={"1.union": {"source": "fused by rules"}})
    corpus = load_corpus(written(tmp_path, built))
    assert corpus.samples == COMPOSED
    assert corpus.filtered_with == ("bow", "tfidf") == built.corpus().filtered_with
    assert lines_of(built)[0]["source"] == "fused by rules"


def test_questions_are_read_back_with_their_documents(tmp_path):
    splits = {"q1": {"split": "train"}, "q2": {"split": "test"}, "q3": {"split": "test"}}
    built = Built(QUESTIONS, Counter(), documents=DOCUMENTS, fields=splits)
    path = written(tmp_path, built)
    corpus = load_corpus(path)
    assert (corpus.samples, corpus.documents) == (QUESTIONS, DOCUMENTS)
    assert corpus.fingerprint == built.corpus().fingerprint
    assert [q.id for q in load_corpus(f"{path},split=test").samples] == ["q2", "q3"]


def test_a_composition_stands_beside_both_sentences():
    (row,) = rateable(lines_of(Built(COMPOSED[1:2], Counter())))
    assert (row.item, row.edit, row.text) == ("1.minus", "difference", "It was cold.")
    assert row.original == "A: It rained and was cold. / B: It rained."


@pytest.mark.parametrize(("question", "beside"), [(QUESTIONS[0], "A valve opens."), (QUESTIONS[2], UNANSWERED)])
def test_a_question_stands_beside_the_passage_that_is_to_answer_it(question, beside):
    (row,) = rateable(lines_of(Built((question,), Counter(), documents=DOCUMENTS)))
    assert row == (question.id, "question", beside, question.question)
