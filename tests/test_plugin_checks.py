"""What a plug-in is checked by: a good one passes, and each broken promise is named."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import embassay as ea
from embassay import plugin
from embassay.testing import check_encoder, check_loader, check_retriever


class Lengths:
    """A good encoder: the number of letters and of spaces."""

    name = "lengths"
    version = "1"

    def encode(self, texts):
        return np.array([[len(text), text.count(" "), 1] for text in texts], dtype=np.float32)


class Wide(Lengths):
    def encode(self, texts):
        return np.zeros((len(texts) + 1, 3), dtype=np.float32)


class InAnyCompany(Lengths):
    def encode(self, texts):
        return super().encode(texts) * len(texts)


class Unsorted(Lengths):
    def encode(self, texts):
        return np.sort(super().encode(texts), axis=0)


@pytest.mark.parametrize("broken", [Wide, InAnyCompany, Unsorted])
def test_a_broken_encoder_does_not(broken):
    with pytest.raises((AssertionError, ea.EncoderError)):
        check_encoder(broken())


def corpus():
    documents = tuple(plugin.Document(str(n), (f"Document {n}.",)) for n in range(6))
    samples = tuple(plugin.Question(f"q{n}", f"Which is {n}?", (str(n % 6),)) for n in range(12))
    return ea.Corpus("mine", "retrieval", samples, documents=documents)


class Steady:
    """A retriever as LangChain's are: the same list for each question."""

    name = "steady"
    version = "1"

    def invoke(self, question):
        return [Found(str(place)) for place in range(4)]


class Moody(Steady):
    """Another list each time."""

    def __init__(self):
        self.calls = itertools.count()

    def invoke(self, question):
        return [Found(str(next(self.calls) % 6))]


class Found:
    def __init__(self, name):
        self.id, self.page_content, self.metadata = name, "", {"id": name}


def test_a_retriever_is_asked_again():
    check_retriever(Steady(), corpus())
    with pytest.raises(AssertionError):
        check_retriever(Moody(), corpus())


def test_a_loader_recognises_its_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("first,second,score\nIt rains.,It pours.,4\nWe ran.,We swam.,1\n")
    assert check_loader(str(path), "pairs").shape == "pairs"
    with pytest.raises(AssertionError, match="is read by"):
        check_loader(str(path), "groups")
