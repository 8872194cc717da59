"""Answers read: against a reader that reads word by word, in documents that are divided in several ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import SpecError
from embassay.core.samples.retrieval import length
from embassay.core.types import Draws, Origin
from embassay.corpora.io.passages import Cutter, word_count
from embassay.corpora.retrieval.corpus import cut_all
from embassay.diagnostics.answers import BUDGETS, Answers, Passages, beginning, until
from embassay.search.exact.top import search

WORDS = ("rain", "snow", "a", "of", "gateway", "24", "months", "node", "relay", "the")


def reader(order, documents, place):
    """Return in which passage, and after how many words, a reader who goes word by word has read all of a place."""
    passages = [(document, number) for document in documents for number in range(len(document.passages))]
    missing, read = set(range(place.start, place.end)), 0
    for position, row in enumerate(order, start=1):
        document, number = passages[row]
        at, end_of_passage = document.placed[number][1], read + len(document.passages[number].split())
        for word in document.passages[number].split():
            read += 1
            if document.id == place.document:
                missing -= set(range(at, at + len(word)))
                at += len(word)
            if not missing:
                return position, read, end_of_passage
    return np.inf, np.inf, np.inf


@pytest.mark.parametrize("passages", ["document", "1", "3", "20"])
def test_until_against_a_reader_of_words(passages):
    rng = np.random.default_rng(0)
    texts = {f"d{number}": " ".join(rng.choice(WORDS, 30)) for number in range(4)}
    documents = cut_all(texts, Cutter(passages))
    all_passages = Passages.of_documents(documents)
    words = np.array(all_passages.words)
    for _ in range(60):
        # Some passages are not listed.
        order = rng.permutation(len(words))[: max(1, int(0.9 * len(words)))]
        name = rng.choice(list(texts))
        before = texts[name].split()[: rng.integers(20)]
        answer = texts[name].split()[len(before) : len(before) + rng.integers(1, 8)]
        place = ea.AnswerPlace(str(name), length(" ".join(before)), length(" ".join(before + answer)))
        found = until(place, all_passages, order, np.cumsum(words[order]))
        assert found == reader(order, documents, place)


def test_a_text_up_to_a_letter():
    text = "It rained for 24 hours."
    assert [beginning(text, letters) for letters in (1, 2, 3, 14)] == ["I", "It", "It r", "It rained for 24 h"]
    # Two letters of a script without spaces count as a word.
    assert word_count(beginning("東京は日本の首都である。", 4)) == 2


def corpus_of(passages, pages=0):
    texts = {
        "warranty": "We answer. The warranty lasts 24 months.",
        "shop": "The shop is open.",
        "office": "It is shut.",
        **{f"page{number}": f"Page {number} is blank." for number in range(pages)},
    }
    documents = cut_all(texts, Cutter(passages))
    start = length("We answer. The warranty lasts")
    asked = [
        ea.AnsweredQuestion(
            "1",
            "How long is the warranty?",
            ("warranty",),
            answers=("24 months",),
            places=(ea.AnswerPlace("warranty", start, start + length("24 months")),),
        ),
        ea.Question("2", "Is it open?", ("shop",)),
    ]
    return ea.Corpus("docs", "retrieval", tuple(asked), documents=documents)


def vectors_of(corpus, order):
    """Return vectors by which the passages stand in this order for every question."""
    row = {text: place for place, text in enumerate(corpus.texts())}
    angle = {text: 0.0 if text[0] == "query" else 0.1 * (1 + order.index(text[1])) for text in row}
    matrix = np.array([[np.cos(angle[text]), np.sin(angle[text])] for text in row], dtype=np.float32)
    return ea.Vectors(matrix, row, search=search)


def test_what_is_stored_of_a_question():
    corpus = corpus_of("sentence")
    order = ["The shop is open.", "The warranty lasts 24 months.", "We answer.", "It is shut."]
    stored = Answers().values(corpus, vectors_of(corpus, order))
    assert [stored[name][0] for name in ("rank", "stop", "whole")] == [2.0, 9.0, 9.0]
    # A question without an answer is undefined.
    assert all(np.isnan(stored[name][1]) for name in ("rank", "stop", "whole"))
    corpus = corpus_of("document")
    order = ["The shop is open.", "We answer. The warranty lasts 24 months.", "It is shut."]
    stored = Answers().values(corpus, vectors_of(corpus, order))
    assert [stored[name][0] for name in ("rank", "stop", "whole")] == [2.0, 11.0, 11.0]


@pytest.mark.parametrize(
    ("passages", "most_tokens", "encoded"), [("document", 6, 0), ("document", 7, 1), ("sentence", 5, 1)]
)
def test_an_answer_behind_the_last_token_that_is_encoded(passages, most_tokens, encoded):
    corpus = corpus_of(passages)
    vectors = vectors_of(corpus, [text for role, text in corpus.texts() if role == "document"])

    def tokens(texts):
        return [len(text.split()) for text in texts]

    method = Answers()
    stored = method.values(corpus, replace(vectors, tokens=tokens, most_tokens=most_tokens))
    assert stored["encoded"].tolist()[:1] == [encoded]
    assert np.isnan(stored["encoded"][1])
    origin = Origin("answers", "", "docs", "", "m", "")
    scores = method.stored(corpus, origin, stored)
    statements = [one.sentence for one in method.summarise([scores], Draws(100, 0)).findings if "token" in one.sentence]
    says = f"m reads {most_tokens} tokens of a passage, which leaves out 1 answer of docs (100%)."
    assert statements == ([] if encoded else [says])


def test_vectors_of_zeros_leave_every_question_undefined():
    corpus = corpus_of("sentence")
    row = {text: place for place, text in enumerate(corpus.texts())}
    stored = Answers().values(corpus, ea.Vectors(np.zeros((len(row), 2), np.float32), row, search=search))
    assert all(np.isnan(stored[name]).all() for name in ("rank", "stop", "whole"))


def test_it_runs_where_there_are_answers_and_refuses_to_where_there_are_none():
    result = ea.assay("bow", [corpus_of("sentence", pages=5)], baselines=False)
    row = result.figure("Answer@400w", "bow")
    assert (row.diagnostic, row.items, row.value) == ("answers", 1, 1.0)
    figures = {one.metric for one in result.rows if one.diagnostic == "answers"}
    assert figures == {"Answer@5", *(f"Answer@{words}w" for words in BUDGETS)}
    without = ea.assay("bow", "handbook", baselines=False)
    assert "answers" not in {one.diagnostic for one in without.rows}
    with pytest.raises(SpecError, match="'handbook' has no answers: give the table of its questions a column 'answer'"):
        ea.assay("bow", "handbook", "answers")
    with pytest.raises(SpecError, match="option 'read': must be 10 to 10000, is 5"):
        Answers(read=5)


def test_another_number_of_words_is_the_headline():
    result = ea.assay("bow", [corpus_of("sentence")], "answers,read=1000", baselines=False)
    assert result.verdict("answers").metric == "Answer@1000w"


def test_a_missed_question_says_where_its_answer_is_read():
    result = ea.assay(["bow", "random"], [corpus_of("sentence", pages=5)], "answers", baselines=False)
    labels = {one.encoder: one.labels for one in result.examples if one.kind == "outcome" and one.item == "1"}
    assert labels["bow"]["read"] == "in passage 2, after 9 words"
    assert not any(one.labels for one in result.examples if one.kind == "outcome" and one.item == "2")
    (item,) = [one for one in result.examples if one.kind == "item" and one.item == "1"]
    assert item.texts["right"] == "[warranty] The warranty lasts 24 months."
    # The passage that is read first.
    assert item.texts[labels["bow"]["first"]] == "The shop is open."
