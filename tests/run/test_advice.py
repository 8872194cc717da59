"""What limits the answer of a corpus is said before anything is encoded."""

import math
from dataclasses import replace

import pytest

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.reports.findings.advice import advice, smallest_visible, visible_differences

LONG = "This passage has rather more than eight words, so nobody calls it short."


def retrieval(passages, questions=20, units=None, **more):
    """A corpus of one document for each passage; question i is of the i-th unit."""
    documents = tuple(Document(f"d{n}", (passage,)) for n, passage in enumerate(passages))
    units = units or [f"u{n}" for n in range(questions)]
    samples = tuple(Question(f"q{n}", f"Number {n}: {LONG}", ("d0",), units=(unit,)) for n, unit in enumerate(units))
    return Corpus("mine", "retrieval", samples, loader="documents", documents=documents, **more)


def notes_on(corpus):
    return list(advice(corpus))


@pytest.mark.parametrize(
    ("loader", "remedy"),
    [("squad", "set documents=paragraphs to search whole paragraphs"), ("retrieval", "join them with the text around")],
)
def test_only_options_that_a_loader_has_are_advised(loader, remedy):
    (note,) = [note for note in notes_on(replace(retrieval(["Usage", LONG]), loader=loader)) if "passages" in note]
    assert f"list items; {remedy}" in note
    assert "passages=100" not in note


def test_questions_that_share_documents_are_said_to_depend():
    corpus = retrieval([LONG], units=["a"] * 10 + ["b"] * 10)
    (line,) = [line for line in notes_on(corpus) if "depend" in line]
    assert line == (
        "20 questions depend on each other, because they share right documents or a topic: they count as 2 to 20; if "
        "these are all the pages and each question was asked on its own, set about=these-documents"
    )
    assert not any("depend" in line for line in notes_on(retrieval([LONG])))


def test_the_size_is_turned_into_points():
    line, not_worse = visible_differences(retrieval([LONG], questions=80))
    # z = 1.96 + 0.8416; z·√(0.2/80) = 0.140
    assert line == (
        "estimate: this size can show differences of about 14 points (80% power, if two encoders disagree on 20% of "
        "the items)"
    )
    # (1.645 + 0.842)²·0.2/0.02² = 3,091
    assert 'is "not worse" by 2 points takes about 3,100 independent items' in not_worse
    dependent, _ = visible_differences(retrieval([LONG], units=[f"u{n // 8}" for n in range(80)]))
    assert "differences of about 14 to 40 points" in dependent


def test_a_size_follows_the_formula_and_is_at_most_everything():
    assert smallest_visible(100) == pytest.approx((1.959964 + 0.841621) * math.sqrt(0.2 / 100), rel=1e-5)
    assert smallest_visible(1) == 1.0
    assert smallest_visible(0) == 1.0
