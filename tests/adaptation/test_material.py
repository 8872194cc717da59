"""What a model is adapted on: the union of corpora, enough questions, sentences of the documents only."""

from dataclasses import replace

import pytest

from embassay.core.errors import InputError, SpecError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.run.resolve import load_corpus
from embassay.training.material import gather as gather_with
from embassay.training.options import AdaptOptions


def gather(corpora, **options):
    return gather_with(corpora, AdaptOptions(**options))


def corpus(name, number, text="What does pump {} of {} do?"):
    return Corpus(
        name,
        "retrieval",
        tuple(Question(f"q{i}", text.format(i, name), (f"d{i}",), units=(f"u{i // 2}",)) for i in range(number)),
        licence=f"licence of {name}",
        documents=tuple(
            Document(f"d{i}", (f"Pump {i} lifts water. It is of {name}.", f"A heading {i}")) for i in range(number)
        ),
    )


def test_several_corpora_are_learnt_from_together_and_tested_each():
    found = gather([corpus("one", 200), corpus("two", 200)])
    assert {question.id.split("/")[0] for question in found.split.train} == {"one", "two"}
    assert [test.name for test in found.tests] == ["one", "two"]
    tested = [f"{test.name}/{sample.id}" for test in found.tests for sample in test.samples]
    assert tested == [question.id for question in found.split.test]
    assert all(len(test.documents) == 200 for test in found.tests)
    assert not {*tested} & {question.id for question in (*found.split.train, *found.split.dev)}
    right = {document.id for document in found.union.documents}
    assert all(set(question.right) <= right for question in (*found.split.train, *found.split.dev))


def test_a_question_of_two_corpora_is_on_one_side():
    found = gather([corpus("one", 200, "What is {0}?"), corpus("two", 200, "what is {0}")])
    texts = {q.question.lower().rstrip("?") for q in (*found.split.train, *found.split.dev)}
    assert not texts & {q.question.lower().rstrip("?") for test in found.tests for q in test.samples}


def test_the_sentences_are_those_of_the_documents():
    found = gather([corpus("one", 200)])
    assert found.sentences[:3] == ("Pump 0 lifts water.", "It is of one.", "A heading 0")
    assert len(found.sentences) == 200 + 1 + 200  # one sentence stands in all of them
    assert not [s for s in found.sentences if s.endswith("?")]


def frequently_asked(number):
    """Documents that begin with the questions they answer, as people list them."""
    asked = [f"How is part {i} cleaned?" for i in range(number)]
    begun = ("{}", "Q: {}", "12. {}")
    documents = tuple(
        Document(f"d{i}", (f"{begun[i % 3].format(q)} Part {i} is cleaned with water.",)) for i, q in enumerate(asked)
    )
    questions = tuple(Question(f"q{i}", q.upper(), (f"d{i}",)) for i, q in enumerate(asked))
    return Corpus("faq", "retrieval", questions, documents=documents)


def test_test_and_dev_questions_are_not_pre_trained_on_and_those_left_out_are_counted():
    found = gather([frequently_asked(200)])
    held_out = {question.id for question in (*found.split.test, *found.split.dev)}
    told = "\n".join(found.sentences).upper()
    asked = {s.id: s.question in told for s in found.union.samples}
    assert {name for name, there in asked.items() if not there} == held_out
    assert found.withheld == len(held_out) == len(found.split.test) + len(found.split.dev)
    assert found.warnings() == [
        "left out of pre-training: 56 sentences that contain a test or dev question word for word",
    ]


def test_split_by_context_the_documents_of_test_and_dev_questions_are_held_out():
    found = gather([corpus("one", 200)], by="context")
    assert found.held_out == {right for asked in (*found.split.test, *found.split.dev) for right in asked.right}
    assert gather([corpus("one", 200)]).held_out == frozenset()


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([corpus("one", 60)], {}, r"43 questions are left for training, and 12 .* at least 50 and 30 are needed"),
        ([corpus("one", 200)], {"test": 0.8}, r"36 questions are left for training.*for the test with --test$"),
        ([corpus("one", 300), corpus("two", 20)], {}, "62 and 2 answered ones"),
        ([corpus("one", 200), corpus("one", 200)], {}, "two corpora have the label 'one'"),
        ([], {}, "no corpus given"),
    ],
)
def test_too_little_is_said_with_what_is_needed(given, options, message):
    with pytest.raises(InputError, match=message):
        gather(given, **options)


def test_a_test_of_few_units_is_said_before_any_training():
    few = corpus("few", 200)
    few = replace(few, samples=tuple(replace(s, units=(f"page {i % 5}",)) for i, s in enumerate(few.samples)))
    (warning,) = gather([few]).warnings()
    assert warning.startswith(
        "few: the test questions have only 5 independent units; with fewer than 10 there is no interval"
    )
    assert gather([corpus("one", 200)]).warnings() == []


def test_a_corpus_without_questions_is_refused():
    with pytest.raises(SpecError, match="'opposites' has shape choice; adaptation needs questions"):
        gather([load_corpus("opposites")])


def test_queries_that_were_made_from_the_documents_are_no_questions(tmp_path):
    (tmp_path / "a.md").write_text("A pump lifts water from a low to a high place. Its seal keeps the oil in the case.")
    made = load_corpus(str(tmp_path))
    with pytest.raises(
        InputError, match=r"has no questions, only queries made from sentences .*; add questions=FILE, or build"
    ):
        gather([made])
    # A file that was built on purpose, for example for training on inverse cloze, is accepted as far as its size goes.
    with pytest.raises(InputError, match="cannot be divided into training and test"):
        gather([replace(made, loader="retrieval")])
