"""Answers read on XQuAD as 48 documents, with all-MiniLM-L6-v2: the figures of a program that was written apart.

It divides texts by its own rules, and counts the annotated place of an answer only, in one piece.
"""

from __future__ import annotations

import json
import re
from functools import partial

import numpy as np
import pytest

import embassay as ea
from embassay.core.samples.retrieval import length
from embassay.diagnostics.answers import Answers, Passages
from embassay.run.engine.encode import encode
from embassay.search.exact.top import search

pytestmark = pytest.mark.slow
BUDGETS = (100, 200, 400, 800)


def sentences(paragraphs):
    return [part for paragraph in paragraphs for part in re.split(r"(?<=[.!?])\s+", paragraph)]


def words(paragraphs, count):
    of_text = " ".join(paragraphs).split()
    return [" ".join(of_text[start : start + count]) for start in range(0, len(of_text), count)]


CUTS = {
    "sentence": (sentences, (87.6, 92.0, 95.3, 96.8), (89.0, 92.6, 95.5, 96.8), 90.3),
    "words100": (partial(words, count=100), (70.9, 85.3, 92.2, 95.5), None, 93.8),
    "paragraph": (list, (34.2, 84.1, 94.4, 98.3), (77.6, 91.0, 96.5, 98.5), 98.2),
}
"""The rule, the percentages by whole passages and up to the Nth word, and those within five passages."""


def corpus_of(articles, cut):
    """Return the articles as documents; only the annotated place of an answer counts."""
    documents, questions = [], []
    for number, article in enumerate(articles):
        contexts = [paragraph["context"] for paragraph in article["paragraphs"]]
        documents.append(ea.Document(str(number), tuple(cut(contexts))))
        before = 0
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answer = asked["answers"][0]
                start = before + length(paragraph["context"][: answer["answer_start"]])
                place = ea.AnswerPlace(str(number), start, start + length(answer["text"]))
                questions.append(
                    ea.AnsweredQuestion(
                        asked["id"], asked["question"], (str(number),), answers=(answer["text"],), places=(place,)
                    )
                )
            before += length(paragraph["context"])
    return ea.Corpus("xquad", "retrieval", tuple(questions), documents=documents)


@pytest.mark.parametrize("name", CUTS)
def test_both_readings(name, data, monkeypatch):
    cut, whole, stop, first_five = CUTS[name]
    articles = json.loads((data / "xquad_en/xquad.en.json").read_text(encoding="utf-8"))["data"]
    corpus = corpus_of(articles, cut)
    # There a word is what stands between spaces, in Chinese names too.
    monkeypatch.setattr("embassay.diagnostics.answers.word_count", lambda text: len(text.split()))
    vectors, _ = encode(ea.encoder("all-MiniLM-L6-v2"), corpus.texts())
    stored = Answers().values(corpus, ea.Vectors(vectors.matrix, vectors.row, search=search))
    # There an answer counts only in one piece: these figures are those of answers that no cut divides.
    passages = Passages.of_documents(corpus.documents)
    places = [sample.places[0] for sample in corpus.samples]
    spans = [[passages.spans[row] for row in passages.rows[place.document]] for place in places]
    in_one = np.array(
        [any(start <= at.start and at.end <= end for start, end in of) for at, of in zip(places, spans, strict=True)]
    )

    def percent(key, most):
        return 100 * np.mean(in_one & (stored[key] <= most))

    assert [percent("whole", most) for most in BUDGETS] == pytest.approx(whole, abs=0.1)
    if stop:
        assert [percent("stop", most) for most in BUDGETS] == pytest.approx(stop, abs=0.1)
    assert percent("rank", 5) == pytest.approx(first_five, abs=0.1)
