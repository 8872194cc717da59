"""The user's own texts and triplets: how they are read, and what of them would teach the answers of the test."""

import json

import pytest

from embassay.core.errors import SourceError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.training.adaptation.material import gather
from embassay.training.adaptation.own_data import own_triplets, read_texts, read_triplets
from embassay.training.triplets import Triplet


def corpus():
    questions = [Question(f"q{i}", f"What does pump {i} do?", (f"d{i}",)) for i in range(200)]
    documents = [Document(f"d{i}", (f"Pump {i} lifts water.",)) for i in range(200)]
    return Corpus("one", "retrieval", tuple(questions), documents=tuple(documents))


@pytest.fixture
def table(tmp_path):
    def write(*rows, name="t.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
        return str(path)

    return write


def test_texts_are_read_from_files_folders_and_tables(tmp_path, table):
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("A valve opens. It closes.")
    (tmp_path / "docs" / "deep" / "b.txt").write_text("A seal holds.")
    (tmp_path / "c.txt").write_text("A pipe leads on\nto a tank.\n\nA heading")
    rows = table({"text": "A hose bends."}, {"text": "What does pump 3 do? It lifts."})
    texts = read_texts([str(tmp_path / "docs"), str(tmp_path / "c.txt"), rows])
    assert texts[:2] == ("A valve opens. It closes.", "A seal holds.")
    material = gather([corpus()], texts=texts)
    assert material.sentences[:2] == ("Pump 0 lifts water.", "Pump 1 lifts water.")
    further = ("A valve opens.", "It closes.", "A seal holds.", "A pipe leads on to a tank.", "A heading")
    assert set(material.sentences[200:]) - {"What does pump 3 do?"} == {*further, "A hose bends.", "It lifts."}


def test_a_test_question_is_left_out_of_further_text_too():
    questions = tuple(question.question for question in corpus().samples)
    material = gather([corpus()], texts=questions)
    held_out = {question.question for question in material.held_out_questions}
    assert set(material.sentences) & set(questions) == set(questions) - held_out
    assert material.withheld == len(held_out) == 56


@pytest.mark.parametrize(
    "rows",
    [
        [{"query": "Why?", "positive": "Heat.", "negatives": ["Cold.", "Rain."]}],
        [{"anchor": " Why? ", "positive": "Heat.", "negative_1": "Cold.", "negative_2": "Rain."}],
        [{"query": "Why?", "pos": ["Heat."], "neg": ["Cold.", "Rain.", "Cold."]}],
        [{"query": "Why?", "positive": "Heat.", "negative": text} for text in ("Cold.", "Rain.")],
    ],
    ids=["list", "columns", "lists", "rows"],
)
def test_triplets_are_read_in_each_form(table, rows):
    assert read_triplets(table(*rows)) == (Triplet("Why?", "Heat.", ("Cold.", "Rain.")),)


def test_a_cell_may_be_empty_and_a_query_may_have_several_positives(table):
    path = table("question,positive,negative", "Why?,Heat.,Cold.", "Why?,Fire.,", name="t.csv")
    assert read_triplets(path) == (Triplet("Why?", "Heat.", ("Cold.",)), Triplet("Why?", "Fire.", ()))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [{"query": "Why?", "positive": "Heat."}],
            "needs the columns query, positive and negatives; found q",
        ),
        ([{"query": "Why?", "positive": "Heat.", "neg": ["Heat."]}], "line 1, field 'positive': is also among the neg"),
        ([{"query": " ", "positive": "Heat.", "neg": []}], "line 1, field 'query': an empty text"),
        ([{"query": "Why?", "positive": 7, "neg": []}], "line 1, field 'positive': must be a text, is a number"),
    ],
)
def test_a_file_without_triplets_is_refused(table, rows, says):
    with pytest.raises(SourceError) as error:
        read_triplets(table(*rows))
    assert says in str(error.value)


def written(table, triplets):
    return table(*({"query": t.question, "positive": t.right, "negatives": t.wrong} for t in triplets))


def triplets():
    return [Triplet(f"what does pump {i} do", f"Pump {i} lifts water", ("Nothing.",)) for i in range(200)]


@pytest.mark.parametrize("by", ["question", "context"])
def test_triplets_of_test_and_dev_questions_are_left_out_and_counted(by, table):
    material = gather([corpus()], by=by, seed=1)
    learnt = {question.question for question in material.train}
    # Queries of the user's own, whose positives answer the questions.
    paraphrased = [Triplet(f"Tell me of {row.right}", row.right, row.wrong) for row in triplets()]
    mined = own_triplets(written(table, [*triplets(), *paraphrased]), material)
    kept = [row for row in mined.triplets if not row.question.startswith("Tell")]
    assert [f"{row.question.capitalize()}?" for row in kept] == [q.question for q in material.train]
    left_out = 56 * (2 if by == "context" else 1)
    assert len(learnt) == 144
    assert len(mined.triplets) == 400 - left_out
    assert mined.notes == (f"{left_out} triplets left out: they quote a held-out question or document",)
    held_out = material.held_out_questions[0].question
    with pytest.raises(
        SourceError, match="no triplet to learn from; 1 triplet left out: they quote a held-out question"
    ):
        own_triplets(
            written(table, [row for row in triplets() if f"{row.question.capitalize()}?" == held_out]), material
        )


def test_own_triplets_need_no_training_questions():
    few = corpus()
    few = Corpus("few", "retrieval", few.samples[:60], documents=few.documents)
    assert len(gather([few], test=0.6, least_train=0).split.test) == 36
