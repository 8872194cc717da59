"""A cheaper set-up is compared with the exact search of its original, without labels."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Card, Corpus, content_hash
from embassay.corpora.queries.made import SOURCE
from embassay.models.base import BaseEncoder
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.stats.overlap import COMPARED

QUESTIONS, DOCUMENTS, WIDTH = 50, 120, 24


def corpus_of(**more):
    documents = tuple(Document(f"d{n}", (f"text {n}",)) for n in range(DOCUMENTS))
    # Every fifth question has no answer, and the last one repeats the first.
    samples = [Question(f"q{n}", f"question {n}", (f"d{n}",) if n % 5 else ()) for n in range(QUESTIONS)]
    samples.append(replace(samples[0], id="again"))
    return Corpus("mine", "retrieval", tuple(samples), documents=documents, **more)


@dataclass(frozen=True)
class Model(BaseEncoder):
    """Random vectors of texts, with noise if it has an option."""

    name: str
    noise: float = 0.0
    options: dict = field(default_factory=dict)

    @property
    def card(self):
        return Card(f"st:{self.name}", target="st:m", options=self.options, cached=False)

    @property
    def fingerprint(self):
        return content_hash([self.name, self.noise])

    def encode(self, texts, role="text"):
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text):
        rng = np.random.default_rng(int(content_hash(text)[:12], 16))
        own = np.random.default_rng(int(content_hash([text, self.name])[:12], 16))
        return (rng.standard_normal(WIDTH) + self.noise * own.standard_normal(WIDTH)).astype(np.float32)


M = Model("m")
NEAR = Model("near", 0.05, {"vectors": "int8"})
FAR = Model("far", 1.0, {"dim": 4})
PROMPTED = Model("prompted", 1.0, {"query_prompt": "q: "})


def request(corpus, *encoders, **options):
    options = {"baselines": False, "resamples": 50, "quiet": True, "cache": None, **options}
    return RunRequest(list(encoders), [corpus], ["retrieval"], **options)


def screened(corpus, *encoders, **options):
    screenings = execute(prepare(request(corpus, *encoders, **options))).result.screenings
    return {screening.encoder: screening for screening in screenings}


def first_documents(model, corpus):
    """The ten documents with the highest cosine, question by question."""
    passages = model.encode([document.passages[0] for document in corpus.documents]).astype(np.float64)
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    queries = model.encode([sample.question for sample in corpus.samples[:QUESTIONS]])
    return [set(np.argsort(-(passages @ query))[:COMPARED].tolist()) for query in queries]


def test_the_overlap_is_that_of_the_ten_nearest_documents():
    corpus = corpus_of()
    found = screened(corpus, M, NEAR, FAR, PROMPTED)
    # Another prompt is meant to find other documents.
    assert list(found) == ["near", "far"]
    exact = first_documents(M, corpus)
    for model, step in ((NEAR, "int8"), (FAR, "dim")):
        shared = [len(a & b) / COMPARED for a, b in zip(exact, first_documents(model, corpus), strict=True)]
        screening = found[model.name]
        assert screening.overlap == pytest.approx(np.mean(shared))
        assert (screening.corpus, screening.base, screening.step) == ("mine", "m", step)
        # All questions count, answered or not, and equal ones once.
        assert screening.questions == QUESTIONS
    assert found["far"].outcome == "differs"


def test_equal_vectors_find_the_same():
    # The vectors of a model without noise do not depend on its name.
    screening = screened(corpus_of(), M, replace(M, name="copy", options={"dtype": "float16"}))["copy"]
    assert (screening.overlap, screening.outcome) == (1, "same")


def test_questions_that_were_made_of_the_documents_show_nothing():
    assert screened(corpus_of(source=SOURCE), M, NEAR) == {}


def test_an_original_that_is_not_in_the_run_is_not_compared_with():
    assert screened(corpus_of(), NEAR) == {}
