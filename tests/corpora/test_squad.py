"""SQuAD's form: the sentence in which an answer begins, questions without one, and every broken file."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embassay.core.errors import SourceError, UnknownNameError
from embassay.corpora.io.passages import sentences
from embassay.corpora.retrieval.squad import load, recognises
from embassay.run.resolve import load_corpus
from failing import failing

TEXT = "Dr. Ito left early. The train stood at Ghent\u00a0station.  It was late, and late it stayed."


def answer(text, start=None):
    return {"text": text, "answer_start": TEXT.index(text) if start is None else start}


def qa(name, *answers, **more):
    return {"id": name, "question": f"  What of {name}? ", "answers": list(answers), **more}


def article(*qas, context=TEXT, title="Trains"):
    return {"title": title, "paragraphs": [{"context": context, "qas": list(qas)}]}


@pytest.fixture
def file(tmp_path):
    def write(*articles, name="mine.json", **more):
        path = tmp_path / name
        path.write_text(json.dumps({**more, "data": list(articles)}), encoding="utf-8")
        return str(path)

    return write


fails = failing(load)


def right(corpus):
    return {q.id: q.right for q in corpus.samples}


def test_a_sentence_is_right_where_an_answer_begins_in_it(file):
    corpus = load_corpus(file(article(qa("a", answer("Ito")), qa("b", answer("Ghent")), qa("c", answer("late, and")))))
    assert (corpus.loader, corpus.shape, corpus.name) == ("squad", "retrieval", "mine")
    assert [(d.id, d.passages) for d in corpus.documents] == [
        ("0-0-0", ("Dr. Ito left early.",)),
        ("0-0-1", ("The train stood at Ghent station.",)),
        ("0-0-2", ("It was late, and late it stayed.",)),
    ]
    assert right(corpus) == {"a": ("0-0-0",), "b": ("0-0-1",), "c": ("0-0-2",)}
    assert [q.question for q in corpus.samples] == ["What of a?", "What of b?", "What of c?"]
    assert {q.gains for q in corpus.samples} == {()}
    assert corpus.notes == ("1 article, 1 paragraph", "documents: sentences", "3 documents, 3 questions")


def test_a_paragraph_is_right_as_a_whole(file):
    path = file(article(qa("a", answer("Ito"))), article(qa("b", answer("Ghent")), context=f" {TEXT}\n"))
    corpus = load_corpus(f"{path},documents=paragraphs")
    assert [(d.id, d.passages) for d in corpus.documents] == [("0-0", (TEXT,)), ("1-0", (TEXT,))]
    assert right(corpus) == {"a": ("0-0",), "b": ("1-0",)}
    assert any(note.startswith("1 document repeats the text of another") for note in corpus.notes)


def test_every_annotators_sentence_is_right_once_in_the_order_of_the_text(file):
    corpus = load_corpus(file(article(qa("a", answer("late it"), answer("Ito"), answer("It was"), answer("Dr.")))))
    assert right(corpus) == {"a": ("0-0-0", "0-0-2")}


def test_articles_are_units(file):
    corpus = load_corpus(
        file(article(qa("a", answer("Ito")), qa("b", answer("Ghent"))), article(qa("c", answer("Ito"))))
    )
    assert [q.units for q in corpus.samples] == [("article:0",), ("article:0",), ("article:1",)]
    assert corpus.units.tolist() == [0, 0, 1]
    assert corpus.unit_labels.shape == (0, 2)


def test_documents_are_called_what_they_are(file):
    path = file(article(qa("a", answer("Ito"))))
    assert [load_corpus(f"{path}{options}").document_noun for options in ("", ",documents=paragraphs")] == [
        "sentence",
        "paragraph",
    ]


def test_what_is_impossible_is_unanswerable_whatever_stands_beside_it(file):
    bad = answer("Ito", 4)
    corpus = load_corpus(file(article(qa("a", bad, is_impossible=True), qa("b", answer("Ito"), is_impossible=False))))
    assert right(corpus) == {"a": (), "b": ("0-0-0",)}
    assert corpus.notes[-1] == "3 documents, 2 questions, 1 of them not answered by any document"
    without = {"id": "c", "question": "Why?", "is_impossible": True}
    assert right(load_corpus(file(article(without)))) == {"c": ()}


def test_an_answer_that_stands_once_elsewhere_is_taken_there_and_counted(file):
    corpus = load_corpus(file(article(qa("a", answer("Ghent", 3)), qa("b", answer("Ito", -5)))))
    assert right(corpus) == {"a": ("0-0-1",), "b": ("0-0-0",)}
    assert "2 answers not at the offset: located by the text, which occurs once" in corpus.notes


@pytest.mark.parametrize("lost", ["Paris", "late", "", "  "])
def test_an_answer_that_cannot_be_placed_is_left_out_and_so_is_a_question_without_another(file, lost):
    corpus = load_corpus(file(article(qa("a", answer(lost, 4)), qa("b", answer(lost, 4), answer("Ito")), qa("c"))))
    assert right(corpus) == {"b": ("0-0-0",)}
    assert corpus.notes[2:4] == (
        "2 answers left out: empty, or not exactly once in the context",
        "2 questions left out: no answer can be located",
    )


def test_space_before_an_answer_belongs_to_no_sentence(file):
    assert right(load_corpus(file(article(qa("a", answer("  It was")))))) == {"a": ("0-0-2",)}


def test_it_is_recognised_by_its_beginning_however_long_it_is():
    head = '{"data": [{"paragraphs": [{"context": "'
    assert recognises(head + "x" * 200_000)
    assert recognises('\ufeff\n{\n  "version": "v2.0",\n  "data" : [\n    {\n "title": "x",\n "paragraphs" : [')
    for other in ('{"data": 1, "context": 2}', '{"paragraphs": []}', '["data", "context"]', '{"data": [{"a": 1}]}'):
        assert not recognises(other)


def test_a_file_without_questions_is_an_error(file):
    assert fails(file()).startswith(": the file has no usable question")
    assert fails(file(article())).startswith(": the file has no usable question")
    assert fails(file(article(qa("a", answer("Paris", 0))))) == ": the file has no usable question"


def test_a_question_about_a_whole_article_is_unanswerable_only_if_the_file_says_so(file):
    corpus = load_corpus(
        file(article(qa("a", answer("Ito"), answer(" ", 3)), qa("b"), qa("c", is_impossible=True)))
        + ",documents=articles"
    )
    assert right(corpus) == {"a": ("0",), "c": ()}
    assert corpus.samples[0].answers == ("Ito",)
    assert "1 question left out: no answer can be located" in corpus.notes
    with pytest.raises(SourceError, match="the file has no usable question"):
        load_corpus(file(article(qa("b"))) + ",documents=articles")


def test_an_unknown_option_or_value_is_named(file):
    path = file(article(qa("a", answer("Ito"))))
    with pytest.raises(UnknownNameError, match="did you mean 'documents'"):
        load_corpus(f"{path},document=sentences")
    with pytest.raises(Exception, match="must be 'sentences', 'paragraphs' or 'articles', is 'words'"):
        load_corpus(f"{path},documents=words")


def places(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


WHOLE = {"version": "2", "data": [article(qa("a", answer("Ito"), is_impossible=False), qa("b", answer("Ghent")))]}
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 90) | st.floats() | st.text(max_size=4) | st.just("\ud83d"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "id", "qas"]), inner),
    max_leaves=4,
)


@settings(max_examples=100, deadline=None)
@given(place=st.sampled_from(list(places(WHOLE))), value=values, drop=st.booleans())
def test_no_value_anywhere_brings_anything_but_a_corpus_or_a_source_error(place, value, drop, tmp_path_factory):
    data = copy.deepcopy(WHOLE)
    inner = data
    for key in place[:-1]:
        inner = inner[key]
    if not place:
        data = value
    elif drop:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    path = tmp_path_factory.getbasetemp() / "values-squad.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    try:
        corpus = load(str(path), "mine")
    except SourceError as error:
        assert str(error).startswith(str(path))
        return
    known = {d.id for d in corpus.documents}
    assert all(set(q.right) <= known for q in corpus.samples)


alphabet = st.sampled_from("aB.?! \n\t\r\u00a0\u2028\u3000“”é日。😀\u200b\x85…1")


@settings(max_examples=100, deadline=None)
@given(text=st.text(alphabet, max_size=60))
def test_sentences_are_where_they_are_said_to_be_and_nothing_is_lost(text):
    found = sentences(text)
    assert "".join("".join(s.split()) for _, s in found) == "".join(text.split())
    for start, sentence in found:
        assert "".join(text[start:].split()).startswith("".join(sentence.split()))
        assert not text[start].isspace()


def test_xquad_is_read_as_counted_by_hand(data):
    # 48 articles, 240 paragraphs, 1190 questions: counted in the file. 1162 sentences: sentencex 1.0.32 with "en".
    path = data / "xquad_en" / "xquad.en.json"
    corpus = load_corpus(str(path))
    assert corpus.loader == "squad"
    assert corpus.notes[0] == "48 articles, 240 paragraphs"
    assert len(corpus.samples) == 1190
    assert abs(len(corpus.documents) - 1162) <= 10
    assert int(corpus.units.max()) + 1 == 48
    assert all(len(q.right) == 1 for q in corpus.samples)
    paragraphs = load_corpus(f"{path},documents=paragraphs")
    assert len(paragraphs.documents) == 240
    assert [q.right[0].rpartition("-")[0] for q in corpus.samples] == [q.right[0] for q in paragraphs.samples]
    text = {d.id: d.passages[0] for d in corpus.documents}
    raw = json.loads(path.read_text(encoding="utf-8"))["data"]
    qas = [q for a in raw for p in a["paragraphs"] for q in p["qas"]]
    begins = [" ".join(q["answers"][0]["text"].split()).split(" ")[0] for q in qas]
    assert all(word in text[q.right[0]] for q, word in zip(corpus.samples, begins, strict=True))


def test_telequad_is_read_as_counted_by_hand(data):
    # 536 contexts, 4485 questions, 223 is_impossible: counted in the file; 9 answers are empty, 2 not in their context.
    corpus = load_corpus(str(data / "telequad" / "TeleQuAD-v4-full.json"))
    assert corpus.notes[0] == "536 articles, 536 paragraphs"
    assert len(corpus.samples) == 4485
    assert sum(not q.right for q in corpus.samples) == 223
    assert any(note.startswith("11 answers left out") for note in corpus.notes)
    assert not any("questions left out" in note for note in corpus.notes)
