"""A metric more in retrieval: one declaration, and every command knows it (``docs/architecture.md``)."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.diagnostics.retrieval import retrieval
from tables import Table

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS, QUESTIONS, WIDTH = 30, 45, 8


def r_precision(places, k):
    """Return (n,) the expected share of right documents among the first R, R their number: ``Rprec``."""
    right = np.bincount(places.question, minlength=places.questions)
    first = right[places.question]
    share_inside = np.clip(first - places.greater, 0, places.tied) / np.maximum(places.tied, 1)
    total = np.bincount(places.question, share_inside, places.questions)
    return total / np.where(right > 0, right, np.nan)


DECLARATION = retrieval.ranking_metric(
    "Rprec",
    r_precision,
    kind="share",
    compared="on request",
    beside_headline=True,
    meaning="share of right documents among the first R, R the number of right ones",
)


@pytest.fixture
def declared(monkeypatch):
    """The only change: the declaration stands at the end of the METRICS of retrieval."""
    monkeypatch.setattr(retrieval, "METRICS", (*retrieval.METRICS, DECLARATION))


# Each question has one to three right documents, and the last one none.
RIGHT = [[(3 * n + i) % DOCUMENTS for i in range(1 + n % 3)] for n in range(QUESTIONS - 1)] + [[]]
CORPUS = Corpus(
    "mine",
    "retrieval",
    tuple(
        Question(f"q{n}", f"question {n}", tuple(f"d{d}" for d in right), units=(f"u{n}",))
        for n, right in enumerate(RIGHT)
    ),
    documents=tuple(Document(f"d{d}", (f"passage {d}",)) for d in range(DOCUMENTS)),
)


def encoder(name, noise):
    """Questions lie near their right documents, as far off as the noise."""
    rng = np.random.default_rng(5)
    vectors = {f"passage {d}": rng.normal(size=WIDTH) for d in range(DOCUMENTS)}
    for n, right in enumerate(RIGHT):
        centre = np.sum([vectors[f"passage {d}"] for d in right], axis=0)
        vectors[f"question {n}"] = centre + noise * rng.normal(size=WIDTH)
    return Table(name, vectors)


def by_hand(vectors):
    """Rank the documents of each question and count the right ones among the first R."""
    passages = np.array([vectors[f"passage {d}"] for d in range(DOCUMENTS)])
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    values = []
    for n, right in enumerate(RIGHT):
        nearest = np.argsort(-passages @ vectors[f"question {n}"])[: len(right)]
        if right:
            values.append(len(set(right) & set(nearest.tolist())) / len(right))
    return np.mean(values)


def test_its_rows_and_comparisons_are_made(declared):
    encoders = [encoder("a", 1.0), encoder("b", 1.5)]
    result = ea.assay(encoders, [CORPUS], ["retrieval,compare=all"], resamples=50, baselines=False, cache=None)
    rows = {row.encoder: row for row in result.rows if row.metric == "Rprec"}
    for one in encoders:
        row = rows[one.name]
        assert row.value == pytest.approx(by_hand(one.vectors))
        assert row.low < row.value < row.high
        assert (row.subset, row.items, row.undefined) == ("all", QUESTIONS - 1, 0)
    (comparison,) = [c for c in result.comparisons if c.metric == "Rprec"]
    assert comparison.difference == pytest.approx(rows[comparison.a].value - rows[comparison.b].value)


def test_with_ties_it_is_the_expected_value():
    from embassay.stats.ranking import RightPlaces

    def ints(*numbers):
        return np.array(numbers, dtype=np.int64)

    # Question 0: two right documents, one first, one among four that share ranks 2 to 5: 1 + 1/4 of two.
    # Question 1: no right document. Question 2: one right document that was not retrieved.
    places = RightPlaces(3, ints(0, 0, 2), ints(0, 1, 0), ints(1, 4, 0), ints(1, 1, 1))
    np.testing.assert_allclose(r_precision(places, 5), [(1 + 1 / 4) / 2, np.nan, 0])


def test_the_documentation_shows_this_change():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert inspect.getsource(r_precision) in text
