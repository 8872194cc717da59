"""Answers that are given as texts: where they stand in documents, and what is said of those that stand nowhere."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import embassay as ea
from embassay.core.errors import SourceError, SpecError
from embassay.core.samples.retrieval import length
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.answers import locate
from embassay.corpora.retrieval.corpus import cut_all
from embassay.run.resolve import load_corpus

TEXT = (
    "The warranty lasts “24 months” from delivery – not from the order.\n\nIt costs 1 000 euros; E\u0301cole opens at "
    "12:30. A contract may be cancelled within fourteen days of the delivery of goods. 東京は日本の首都である。在38年。"
    "Take 5."
)


def found(answer, text=TEXT):
    return [text[start:end] for start, end in locate(answer, {"d": text}).spans.get("d", ())]


@pytest.mark.parametrize(
    ("answer", "written"),
    [
        ("24 months", "24 months"),
        ('"24 Months"', "24 months"),
        ("DELIVERY - not", "delivery – not"),
        ("1 000", "1 000"),
        ("\u00c9cole", "E\u0301cole"),
        ("order. It   costs", "order.\n\nIt costs"),
        ("order.", "order."),
        ("12:30", "12:30"),
        ("首都", "首都"),
        ("38", "38"),
        ("5", "5"),
        ("`It` costs **1 000** [euros](prices.html)", "It costs 1 000 euros"),
        (
            "contract may be canceled within fourteen days of the delivery of goods",
            "contract may be cancelled within fourteen days of the delivery of goods",
        ),
    ],
)
def test_an_answer_is_found_as_it_is_written(answer, written):
    assert found(answer) == [written]


@pytest.mark.parametrize(
    "answer",
    [
        "A",
        "12",
        "30",
        "24 month",
        "26 months",
        "1 00",
        "contract may be cancelled within thirty days of the delivery of goods",
        "contract may not be cancelled within fourteen days of the delivery of goods",
        "contract may be uncancelled within fourteen days of the delivery of goods",
        "contract may be cancelled within fourteen days of the delivery of foods",
        "`` ** ``",
        "Гарантия",
        "x" * 2_000,
    ],
)
def test_no_other_number_no_negation_and_no_part_of_a_word_is_an_answer(answer):
    assert found(answer) == []


def test_all_places_count_and_what_is_written_alike_comes_first():
    assert found("Berlin", "Berlin is Berlin, not BERLIN.") == ["Berlin", "Berlin"]
    assert found("berlin", "Berlin is Berlin, not BERLIN.") == ["Berlin", "Berlin", "BERLIN"]


words = st.lists(st.text("aé.“ü1ß東", min_size=1, max_size=6), min_size=1, max_size=80)


@given(words, st.sampled_from(["document", "paragraph", "sentence", "1", "7", "20", "9tokens"]))
def test_a_place_is_the_same_however_the_document_is_divided(parts, passages):
    text = " ".join(parts)
    (document,) = cut_all({"d": text}, Cutter(passages))
    letters = "".join(text.split())
    for passage, start, end in document.placed:
        assert letters[start:end] == "".join(passage.split())
    assert document.placed[-1][2] == length(text)


TREE = "# Guide\n\nIt is red.\n\n## Use\n\nPress the button.\n\n### Twice\n\nIt stops.\n\n## Care\n\nKeep it dry."


def test_headings_before_passages_are_read_but_are_no_place():
    cuts = {way: cut_all({"d": TREE}, Cutter(way))[0] for way in ("section", "paragraph+headings", "4+title")}
    assert cuts["section"].passages[1:3] == ("## Use Press the button.", "### Twice It stops.")
    assert cuts["paragraph+headings"].passages[1:3] == (
        "Guide\n## Use Press the button.",
        "Guide > Use\n### Twice It stops.",
    )
    assert cuts["4+title"].passages[:2] == ("# Guide It is", "Guide\nis red. ## Use")
    letters = "".join(TREE.split())
    for document in cuts.values():
        for passage, start, end in document.placed:
            assert letters[start:end] == "".join(passage.split())
        assert "".join(document.whole.split()) == letters
    with pytest.raises(SpecError, match=r"may end with \+title or \+headings; it is '100\+all'"):
        Cutter("100+all")


def test_planted_answers_are_located_and_no_others():
    """Of 1,000 answers in other white space, case, quotes and dashes, all are found where they were planted."""
    rng = random.Random(0)  # noqa: S311 - not a secret
    vocabulary = ["alpha", "beta's", "“gamma”", "delta–epsilon", "12", "3.5", "zeta", "eta", "theta", "iota", "kappa"]
    for number in range(1_000):
        tokens = [rng.choice(vocabulary) + rng.choice(["", "", ","]) for _ in range(120)]
        start = rng.randrange(100)
        # A text that stands nowhere else.
        tokens[start] = f"word{number}"
        planted = tokens[start : start + rng.randint(1, 12)]
        answer = rng.choice(["  ", " ", "\n"]).join(planted).replace("“", '"').replace("”", '"').replace("–", "-")
        if rng.random() < 0.5:
            answer = answer.upper()
        document = " ".join(tokens)
        located = locate(answer, {"d": document}).spans["d"]
        before = len("".join(tokens[:start]))
        (span,) = [(length(document[:start]), length(document[:end])) for start, end in located]
        assert span[0] == before
        assert before + len("".join(planted).rstrip(",”")) <= span[1] <= before + len("".join(planted))
        # Another number is another answer.
        assert locate(answer.upper().replace(f"WORD{number}", f"WORD{number}7"), {"d": document}).spans == {}


# Tables


@pytest.fixture
def tables(tmp_path):
    """Write a table of documents and one of questions, and return the source."""

    def write(questions, documents="id,text\na,It rained for 24 hours.\nb,It snowed. A dog ran.\n"):
        (tmp_path / "docs.csv").write_text(documents, encoding="utf-8")
        (tmp_path / "q.csv").write_text(questions, encoding="utf-8")
        return f"{tmp_path / 'docs.csv'},questions={tmp_path / 'q.csv'}"

    return write


def test_answers_beside_and_instead_of_documents(tables):
    corpus = load_corpus(tables("question,document,answer\nHow long?,a,24 hours\nWho ran?,,a dog\nWhy?,b,\n"))
    first, second, third = corpus.samples
    assert first.places == (ea.AnswerPlace("a", len("Itrainedfor"), len("Itrainedfor24hours")),)
    assert (second.right, second.answers) == (("b",), ("a dog",))
    assert type(third) is ea.Question
    assert "answers of 2 of 2 questions found in the documents" in corpus.notes
    corpus = load_corpus(tables("question,answer\nHow long?,24 hours\n"))
    assert corpus.samples[0].right == ("a",)
    assert corpus.shown(corpus.samples[0])["answer"] == "24 hours"


def test_places_are_whole_numbers_also_after_a_single_letter(tables):
    corpus = load_corpus(tables("question,answer\nWho ran?,cat ran\n", "id,text\na,A cat ran.\n"))
    assert "start=1, end=7" in str(corpus.samples[0])


def test_what_is_not_found_is_named_with_what_is_nearest(tables):
    corpus = load_corpus(tables("question,document,answer\nHow long?,a,48 hours\nWho ran?,b,A dog\nWhy?,,a cat\n"))
    assert [type(sample) for sample in corpus.samples] == [ea.Question, ea.AnsweredQuestion]
    short = load_corpus(tables("question,document,answer\nWhich?,a,'I'\nWho ran?,b,A dog\n"))
    assert """line 2: the answer "'I'" is a single letter or sign, which stands anywhere""" in short.notes
    assert "line 2: the answer '48 hours' is not found in a; nearest: a: 24 hours" in corpus.notes
    assert "answers of 1 of 3 questions found in the documents; 1 question without a document left out" in corpus.notes


def test_the_first_way_in_which_an_answer_stands_anywhere_is_used(tables):
    """A text that is written a little differently is no place of an answer that stands elsewhere as it is written."""
    documents = "id,text\na,The export of signed reports is on.\nb,The export of signed report is on.\n"
    exact = "question,answer\nWhat?,The export of signed reports is on\n"
    corpus = load_corpus(tables(exact, documents))
    assert corpus.samples[0].right == ("a",)
    corpus = load_corpus(
        tables(exact.replace("reports is on", "reporst is on"), documents.replace("report ", "letters "))
    )
    assert corpus.samples[0].right == ("a",)
    taken = (
        "line 2: the answer 'The export of signed reporst is on' is found in a with another spelling: reporst → reports"
    )
    assert taken in corpus.notes


def test_an_answer_in_many_documents_says_nothing_of_any(tables):
    documents = "id,text\n" + "".join(f"d{number},The fee is 5 euros.\n" for number in range(40))
    corpus = load_corpus(tables("question,answer,document\nWhat fee?,5 euros,\nAnd here?,5 euros,d7\n", documents))
    assert [sample.right for sample in corpus.samples] == [("d7",)]
    assert "line 2: the answer '5 euros' stands in 40 documents; name its document" in corpus.notes


def test_a_table_without_any_answer_that_is_found_is_refused(tables):
    with pytest.raises(SourceError, match=r"q\.csv: no answer is found in the documents: line 2: the answer 'a cat'"):
        load_corpus(tables("question,answer\nWhy?,a cat\n"))
    with pytest.raises(SourceError, match=r"found question; add it"):
        load_corpus(tables("question\nWhy?\n"))


def test_records_of_answers_as_the_hub_has_them(tmp_path):
    (tmp_path / "docs.csv").write_text("id,text\na,It rained for 24 hours.\n", encoding="utf-8")
    line = {"id": "1", "question": "How long?", "answers": {"text": ["24 hours", "a day"], "answer_start": [15, 0]}}
    (tmp_path / "q.jsonl").write_text(json.dumps(line), encoding="utf-8")
    corpus = load_corpus(f"{tmp_path / 'docs.csv'},questions={tmp_path / 'q.jsonl'}")
    assert corpus.samples[0].answers == ("24 hours", "a day")
    assert len(corpus.samples[0].places) == 1


# SQuAD


def test_articles_of_squad(tmp_path):
    contexts = ["Ann sang at noon.", "Bob ran. He ran at noon."]
    asked = [
        {"id": "1", "question": "When did Ann sing?", "answers": [{"text": "noon", "answer_start": 12}]},
        {"id": "2", "question": "Who slept?", "answers": [], "is_impossible": True},
    ]
    paragraphs = [{"context": contexts[0], "qas": asked}, {"context": contexts[1], "qas": []}]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"title": "A_B", "paragraphs": paragraphs}]}), encoding="utf-8")
    corpus = load_corpus(f"{path},documents=articles,passages=sentence")
    assert corpus.documents[0].passages == ("Ann sang at noon.", "Bob ran.", "He ran at noon.")
    first, second = corpus.samples
    letters = "".join("".join(contexts).split())
    assert [letters[start:end] for _, start, end in first.places] == ["noon", "noon"]
    assert (second.right, first.right) == ((), ("0",))
    with pytest.raises(SpecError, match="documents=articles"):
        load_corpus(f"{path},passages=100")
