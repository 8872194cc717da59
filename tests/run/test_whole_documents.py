"""bm25 on whole documents joins a run where documents are cut into passages, and is a lexical baseline like bm25."""

from __future__ import annotations

import numpy as np
import pytest

import embassay as ea
from embassay.core.result import between
from embassay.corpora.io.passages import Cutter
from embassay.corpora.retrieval.corpus import cut_all

WHOLE = "bm25 on whole documents"
WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    """Documents of 12 words; each question has words from both ends of one of them, which no short passage has."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("whole") / "docs"
    folder.mkdir()
    rows = ["id,question,document"]
    for number in range(30):
        words = rng.choice(WORDS, 12, replace=False).tolist()
        (folder / f"d{number}.txt").write_text(" ".join(words))
        rows.append(f"q{number},{words[0]} {words[-1]} {' '.join(rng.choice(WORDS, 2))},d{number}")
    questions = folder.parent / "q.csv"
    questions.write_text("\n".join(rows) + "\n")
    return f"docs={folder},questions={questions}"


def assay(docs, passages, encoders="m=hashing", **options):
    return ea.assay(
        encoders, f"{docs},passages={passages}", "retrieval,k=1", **{"resamples": 100, "cache": None, **options}
    )


def names(result):
    return [record.name for record in result.encoders]


def success(result, encoder):
    (row,) = [row for row in result.rows if (row.encoder, row.metric) == (encoder, "Success@1")]
    return row.value


def test_it_joins_where_documents_are_cut_and_stands_beside_the_lexical_baseline(docs):
    result = assay(docs, "3")
    assert names(result) == ["m", "tfidf", "bm25", WHOLE, "random"]
    # It is the bm25 of a run that does not cut.
    assert success(result, WHOLE) == success(assay(docs, "document"), "bm25")
    assert success(result, WHOLE) > max(success(result, "bm25"), success(result, "tfidf"))
    # Which bm25 the main question is about does not depend on the values.
    verdict = result.verdict("retrieval")
    assert verdict.baseline == "bm25"
    gap = between(result.differences(verdict), "m", "bm25")
    assert gap.difference == pytest.approx(success(result, "m") - success(result, "bm25"))
    # One vector for each document.
    assert next(record for record in result.encoders if record.name == WHOLE).vectors == {"docs": 30}


def test_it_does_not_join_where_documents_are_whole_or_nothing_joins(docs):
    assert WHOLE not in names(assay(docs, "document"))
    assert WHOLE not in names(assay(docs, "100"))
    assert names(assay(docs, "3", baselines=False)) == ["m"]
    assert WHOLE not in names(ea.assay("m=hashing", "handbook", "retrieval", resamples=100, cache=None))


def test_it_joins_a_run_over_passages_once_unless_one_of_them_is_the_whole_document(docs):
    assert [name for name in names(assay(docs, "[6,3]")) if "whole" in name or "random" in name] == [WHOLE, "random"]
    assert WHOLE not in names(assay(docs, "[document,3]"))


def test_what_it_found_is_shown_as_the_whole_document(docs):
    result = assay(docs, "3")
    # The others have a tie at the first place.
    outcomes = [one for one in result.examples if one.encoder == WHOLE and one.correct is not None]
    assert {one.correct for one in outcomes} == {True, False}
    for one in outcomes:
        assert one.labels["found1"].endswith("#0 (passages=document)")
        assert (one.labels["found1"] == one.labels["right"]) == one.correct


@pytest.mark.parametrize("passages", ["document", "paragraph", "1", "2", "5", "30"])
def test_passages_make_the_whole_document_again(passages):
    text = "One two. Three\n\nfour five. Six\n\nseven eight. Nine ten. " + "One two. " * 30
    (document,) = cut_all({"d": text}, Cutter(passages))
    assert document.whole.split() == text.split()
