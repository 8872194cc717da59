"""Which questions the encoder to use misses, and which of these no encoder finds."""

import pytest

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.corpora.queries.made import SOURCE
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest


def mislabelled(wrong, source=""):
    """40 documents, and a question about each; the labels of the first questions name a document without its words."""
    documents = []
    for n in range(40):
        # The first 20 documents share a word with all questions.
        shared = "alpha" if n < 20 else "beta"
        documents.append(Document(f"d{n}", (f"{shared} word{n}",)))
    samples = []
    for n in range(40):
        right = f"d{n + 20}" if n < wrong else f"d{n}"
        samples.append(Question(f"q{n}", f"alpha word{n} word{n}", (right,)))
    return Corpus("docs", "retrieval", tuple(samples), source=source, documents=tuple(documents))


def missed(wrong, encoders=("bow",), source="", **options):
    """What is said of missed questions, after their number."""
    request = RunRequest(
        list(encoders), [mislabelled(wrong, source)], ["retrieval"], resamples=50, quiet=True, **options
    )
    result = execute(prepare(request)).result
    (said,) = [answer.sentence for answer in result.answers if answer.question == "Misses"] or [""]
    return said


def test_questions_that_no_encoder_finds_have_suspect_labels():
    assert missed(5).endswith(" finds 0 of them. No encoder finds 5: check their labels.")
    assert missed(1).endswith(" finds 0 of them. No encoder finds 1: check its label.")
    assert missed(0) == ""


@pytest.mark.parametrize(
    ("wrong", "options", "says"),
    [
        # A program that made the queries has no wrong labels.
        (5, {"source": SOURCE}, "5 questions; bm25 finds 0 of them. No encoder finds 5."),
        # The candidate is right on 60 % only: the questions may be hard.
        (16, {}, "16 questions; bm25 finds 0 of them. No encoder finds 16."),
        # A single encoder may be at fault itself, whatever its settings.
        (5, {"baselines": False}, "5 questions."),
        (5, {"baselines": False, "encoders": ("a=bow", "b=bow")}, "5 questions."),
    ],
)
def test_without_a_decent_candidate_and_a_second_witness_no_label_is_suspected(wrong, options, says):
    assert missed(wrong, **options) == says
