"""A run says first that questions and documents differ in script, language or words."""

import pytest

from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.reports.findings.shared_words import mismatch

ENGLISH = "The kettle is on the table and it was descaled with the vinegar that they had."
GERMAN = "Der Kessel ist auf dem Tisch und er wird mit dem Essig entkalkt, den sie haben."
HINDI = "केतली मेज पर है और उसे सिरके से साफ किया गया था।"
CHINESE = "水壶在桌子上，已经用醋除过水垢。"
CODE = "def descale(kettle, vinegar): return kettle.clean(vinegar, minutes=kettle.minutes + vinegar.minutes)"


def corpus(questions, documents):
    passages = tuple(Document(f"d{n}", (text,)) for n, text in enumerate(documents))
    samples = tuple(Question(f"q{n}", text, ("d0",)) for n, text in enumerate(questions))
    return Corpus("m", "retrieval", samples, documents=passages)


@pytest.mark.parametrize(
    ("question", "document", "beginning"),
    [
        (
            ENGLISH,
            HINDI,
            "The questions are in Latin letters, the documents in Devanagari ones; 0 of 14 distinct words",
        ),
        (CHINESE, ENGLISH, "The questions are in Chinese or Japanese letters, the documents in Latin ones; 0 of "),
        (
            GERMAN,
            ENGLISH,
            "The questions look German, the documents English; 0 of 15 distinct words of the questions (0%)",
        ),
        (
            "the kettle is out of order",
            "alpha beta the",
            "1 of 6 distinct words of the questions (17%) occur in a document",
        ),
        ("kettle 1", "zorbu kelta", "0 of 2 distinct words of the questions (0%) occur in a document"),
    ],
)
def test_what_differs_is_named_with_counts(question, document, beginning):
    assert mismatch(corpus([question], [document])).startswith(beginning)


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        (ENGLISH, [ENGLISH]),
        (HINDI, [HINDI]),
        ("水壶", [CHINESE, *[CODE] * 3]),
        # Documents in several languages, one of which is that of the questions.
        (GERMAN, [ENGLISH, ENGLISH, GERMAN]),
        ("?", [ENGLISH]),
    ],
)
def test_what_belongs_together_is_not_named(question, documents):
    assert mismatch(corpus([question], documents)) == ""
