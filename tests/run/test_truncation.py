"""What an encoder truncates is a share of the documents and of their tokens, not of questions and documents."""

import pytest

from embassay.api import assay
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Card, Corpus
from embassay.models.lexical.random import RandomEncoder


class Counting(RandomEncoder):
    """An encoder that reads three words."""

    card = Card("counting", max_tokens=3, cached=False)

    def count_tokens(self, texts, role):
        return [len(text.split()) for text in texts]


@pytest.mark.parametrize(
    ("documents", "questions", "sentence"),
    [
        # Of 10 and 2 tokens, 7 are not read.
        (
            ["a b c d e f g h i j", "k l"],
            ["a"] * 8,
            "it truncates 1 of the 2 documents of m (50.0%), and misses 58% of all tokens",
        ),
        (
            ["a b c d", "k l"],
            ["a b c d e"] * 8,
            "it truncates 1 of the 2 documents of m (50.0%), and misses 17% of all tokens",
        ),
        (["a", "k l"], ["a b c d e"] * 8, "it truncates 8 of the 10 texts of m (80.0%)."),
    ],
)
def test_documents_are_counted_and_their_tokens(documents, questions, sentence):
    samples = tuple(Question(f"q{n}", f"{text}{n}", ("d0",)) for n, text in enumerate(questions))
    searched = tuple(Document(f"d{n}", (text,)) for n, text in enumerate(documents))
    corpus = Corpus("m", "retrieval", samples, documents=searched)
    result = assay([Counting()], [corpus], ["retrieval,k=1"], baselines=False, cache=None, resamples=20)
    (finding,) = [finding for finding in result.findings if finding.title == "Texts were truncated"]
    assert sentence in finding.sentence


def test_texts_are_counted_where_there_are_no_documents():
    result = assay([Counting()], ["opposites"], baselines=False, cache=None, resamples=20)
    (encoder,) = result.encoders
    assert encoder.truncated_in == encoder.texts_in == {"opposites": result.corpora[0].distinct_texts}
    assert encoder.unread_in == {}
