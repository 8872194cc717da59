"""Documents and questions in one file: what is read, and what is said of every mistake."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from embassay.core.errors import SourceError, SpecError
from embassay.core.samples.retrieval import Document, Question
from embassay.corpora.retrieval.retrieval import load
from embassay.run.resolve import load_corpus
from embassay.training.material import write_questions

FAN = {"document": "fan", "passages": ["The fan cools the oven."], "unit": "oven"}
DRUM = {"document": "drum", "passages": ["The drum turns.", "It holds 8 kg."], "unit": "washer"}
COOLS = {"id": "q1", "question": "What cools an oven?", "right": ["fan"], "unit": "oven", "split": "train"}
HOLDS = {
    "id": "q2",
    "question": "How much does a drum hold?",
    "right": ["drum"],
    "unit": "washer",
    "split": "test",
    "answer": "8 kg",
    "source": "generator: m",
}
NONE = {"id": "q3", "question": "Who made the lid?", "right": [], "unit": "lid", "split": "test", "source": "by hand"}


def message(path, **options):
    with pytest.raises(SourceError) as error:
        load(str(path), "mine", **options)
    text = str(error.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text.removeprefix(str(path))


def test_documents_and_questions_are_read(file):
    corpus = load_corpus(str(file(FAN, DRUM, COOLS, HOLDS, NONE)))
    assert (corpus.loader, corpus.shape) == ("retrieval", "retrieval")
    assert corpus.documents == (
        Document("fan", ("The fan cools the oven.",)),
        Document("drum", ("The drum turns.", "It holds 8 kg.")),
    )
    assert corpus.samples[1] == Question("q2", "How much does a drum hold?", ("drum",), units=("washer",))
    assert corpus.samples[2].right == ()
    assert corpus.source == "generator: m, by hand"
    assert corpus.notes == (
        "split test: 2 questions",
        "split train: 1 question",
        "2 documents in 3 passages, 3 questions, 1 of them not answered by any document",
    )


def test_questions_of_one_unit_are_one_unit_of_independence(file):
    twice = {**COOLS, "id": "q4", "question": "Which part cools?"}
    corpus = load_corpus(str(file(FAN, DRUM, COOLS, HOLDS, twice)))
    assert corpus.units.tolist() == [0, 1, 0]


def test_a_list_of_units_is_taken_as_it_is(file):
    several = {**COOLS, "unit": ["oven", "washer"]}
    own = {**HOLDS, "unit": []}
    corpus = load_corpus(str(file({**DRUM, "spans": [[0, 13], [11, 22]]}, FAN, several, own)))
    assert [question.units for question in corpus.samples] == [("oven", "washer"), ()]
    assert corpus.documents[0].whole == "The drum turns.\nholds 8 kg."


def test_answers_and_passages_of_an_adaptation_are_read_back(tmp_path):
    """What is held out is the same corpus: windows with headings, and where answers stand in them."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("# Care\n\n## Drum\n\nThe drum turns. It holds 8 kg. It is made of steel.\n")
    (tmp_path / "q.csv").write_text("question,answer\nHow much does it hold?,8 kg\nWhat is it made of?,steel\n")
    corpus = load_corpus(f"mine={tmp_path / 'docs'},questions={tmp_path / 'q.csv'},passages=4+headings")
    (path,) = write_questions(tmp_path, SimpleNamespace(corpora=[corpus], tests=[corpus]))
    read = load_corpus(path)
    assert read.fingerprint == corpus.fingerprint
    assert read.documents == corpus.documents
    assert read.samples == corpus.samples


@pytest.mark.parametrize("place", [["nowhere", 0, 3], ["drum", 3, 3]])
def test_an_answer_stands_in_a_right_document(file, place):
    path = file(DRUM, {**HOLDS, "answers": ["8 kg"], "places": [place]})
    assert "sample 0: an answer cannot stand in" in message(path)


def test_without_a_unit_a_question_belongs_to_that_of_its_documents(file):
    bare = {name: value for name, value in COOLS.items() if name != "unit"}
    alone = {name: value for name, value in NONE.items() if name != "unit"}
    free = {**DRUM, "unit": None}
    asks = {name: value for name, value in HOLDS.items() if name != "unit"}
    corpus = load_corpus(str(file(FAN, free, bare, alone, asks)))
    assert [sample.units for sample in corpus.samples] == [("oven",), (), ("document:drum",)]


@pytest.mark.parametrize(("split", "ids"), [("all", ["q1", "q2", "q3"]), ("train", ["q1"]), ("test", ["q2", "q3"])])
def test_a_split_takes_its_questions_and_leaves_all_documents(file, split, ids):
    corpus = load_corpus(f"{file(FAN, DRUM, COOLS, HOLDS, NONE)},split={split}")
    assert [sample.id for sample in corpus.samples] == ids
    assert len(corpus.documents) == 2
    assert corpus.notes[:2] == ("split test: 2 questions", "split train: 1 question")


def test_gains_are_read(file):
    asks = {**COOLS, "right": ["fan", "drum"], "gains": [2, 1]}
    assert load_corpus(str(file(FAN, DRUM, asks))).samples[0].gains == (2, 1)


def test_a_first_line_longer_than_what_is_looked_at_is_recognised(file):
    assert load_corpus(str(file({**FAN, "passages": ["word " * 50_000]}, COOLS))).loader == "retrieval"


def test_an_id_that_stands_twice_is_said(file):
    assert message(file(FAN, COOLS, COOLS)).startswith(": corpus 'mine', sample 1: the id 'q1' is already used")


def test_one_kind_of_line_alone_is_an_error(file):
    assert message(file(COOLS)) == ": the file has no documents"
    assert message(file(FAN)) == ": the file has no questions"
    assert message(file()) == ": the file has no documents"


def test_a_split_that_is_not_there_is_said(file):
    path = file(FAN, COOLS)
    assert message(path, split="test") == ": no question has the split 'test'; found train"
    with pytest.raises(SpecError, match="split"):
        load_corpus(f"{path},split=dev")
