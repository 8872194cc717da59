"""The built-in handbook: what it holds, and that questions and sentences belong together."""

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


def test_the_labels_of_a_question_are_its_pages(corpus):
    # An unanswerable question stands alone; questions about the same pages have the same unit.
    pages = [frozenset(page_of(name) for name in s.right) for s in corpus.samples]
    names = [own or question for own, question in zip(pages, range(len(pages)), strict=True)]
    assert len(set(zip(corpus.units.tolist(), names, strict=True))) == len(set(names)) == corpus.audit().units
    label_counts = dict(zip(*np.unique(corpus.unit_labels[:, 0], return_counts=True), strict=True))
    assert [label_counts[unit] for unit in corpus.units] == [max(len(own), 1) for own in pages]
    assert len(np.unique(corpus.unit_labels[:, 1])) == len(frozenset().union(*pages)) + sum(not own for own in pages)
