"""The built-in handbook: what it holds, and that questions and sentences belong together."""

import re

import numpy as np
import pytest

from embassay.run.resolve import load_corpus


@pytest.fixture(scope="module")
def corpus():
    return load_corpus("handbook")


def page_of(name):
    return name.rpartition("-")[0]


def test_how_much_there_is(corpus):
    assert len(corpus.documents) == 301
    assert len(corpus.samples) == 135
    assert sum(not s.right for s in corpus.samples) == 15
    assert len({page_of(d.id) for d in corpus.documents}) == 30
    assert (corpus.shape, corpus.builtin, corpus.licence) == ("retrieval", True, "CC-BY-4.0")
    assert corpus.notes == ("135 questions, 15 of them unanswerable, on 30 pages",)


def test_ids_and_texts_are_unique(corpus):
    sentences = [d.passages[0] for d in corpus.documents]
    questions = [s.question for s in corpus.samples]
    for distinct in (sentences, questions, [d.id for d in corpus.documents], [s.id for s in corpus.samples]):
        assert len({text.casefold() for text in distinct}) == len(distinct)
    assert not {text.casefold() for text in sentences} & {text.casefold() for text in questions}
    assert corpus.audit().duplicates == 0


def test_every_document_is_one_sentence(corpus):
    assert all(len(d.passages) == 1 for d in corpus.documents)
    for (text,) in (d.passages for d in corpus.documents):
        assert re.fullmatch(r"[A-Z0-9].*\.", text), text
        assert 6 <= len(text.split()) <= 35, text


def test_sentences_stand_alone(corpus):
    # What points back at the sentence before cannot be found by itself.
    for (text,) in (d.passages for d in corpus.documents):
        assert not re.match(r"(It|This|They|These|That)\b", text), text


def test_right_documents_exist_and_are_named_once(corpus):
    ids = {d.id for d in corpus.documents}
    for sample in corpus.samples:
        assert set(sample.right) <= ids, sample.id
        assert len(set(sample.right)) == len(sample.right), sample.id


def test_questions_ask(corpus):
    for sample in corpus.samples:
        assert sample.question.endswith("?"), sample.id
        assert sample.question == sample.question.strip()


def test_the_labels_of_a_question_are_its_pages(corpus):
    # An unanswerable question stands alone; questions about the same pages have the same unit.
    pages = [frozenset(page_of(name) for name in s.right) for s in corpus.samples]
    names = [own or question for own, question in zip(pages, range(len(pages)), strict=True)]
    assert len(set(zip(corpus.units.tolist(), names, strict=True))) == len(set(names)) == corpus.audit().units
    label_counts = dict(zip(*np.unique(corpus.unit_labels[:, 0], return_counts=True), strict=True))
    assert [label_counts[unit] for unit in corpus.units] == [max(len(own), 1) for own in pages]
    assert len(np.unique(corpus.unit_labels[:, 1])) == len(frozenset().union(*pages)) + sum(not own for own in pages)


def test_sentences_of_a_page_stand_together(corpus):
    pages = [page_of(d.id) for d in corpus.documents]
    assert [page for page, before in zip(pages, ["", *pages], strict=False) if page != before] == list(
        dict.fromkeys(pages)
    )
