"""The pool: each text once, in the order given, from the cache where it is there."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

from embassay.core.errors import EncoderError
from embassay.core.types import Card
from embassay.run.cache.cache import VectorCache
from embassay.run.engine import encode as pool
from embassay.run.engine.encode import encode
from embassay.run.resolve import load_encoder


class Counting:
    """Remembers what it was asked for; a text's vector tells its length."""

    name, fingerprint = "counting", "counting-1"

    def __init__(self, cached=True, wrong=None):
        self.card, self.seen, self.wrong = Card("counting", cached=cached), [], wrong

    def fit(self, texts):
        return self

    def encode(self, texts, role):
        self.seen += [(role, t) for t in texts]
        rows = np.array([[len(t), len(role), 1.0] for t in texts], dtype=np.float32)
        return self.wrong(rows) if self.wrong else rows


TEXTS = tuple(("text", "x" * n) for n in (5, 1, 9, 3, 7))


def ignore(done):
    del done


def test_rows_follow_the_texts_although_they_are_worked_off_by_length():
    encoder = Counting()
    vectors, encoded = encode(encoder, TEXTS, None, ignore)
    assert [t for _, t in encoder.seen] == sorted((t for _, t in TEXTS), key=len)
    assert vectors.take([t for _, t in TEXTS])[:, 0].tolist() == [5, 1, 9, 3, 7]
    assert encoded == 5


def test_blocks_make_no_difference(monkeypatch):
    whole, _ = encode(Counting(), TEXTS, None, ignore)
    monkeypatch.setattr(pool, "BLOCK", 2)
    blocks, _ = encode(Counting(), TEXTS, None, ignore)
    assert np.array_equal(whole.matrix, blocks.matrix)


def test_what_is_cached_is_not_encoded_again(tmp_path):
    cache = VectorCache(tmp_path)
    first, _ = encode(Counting(), TEXTS[:3], cache, ignore)
    encoder = Counting()
    second, encoded = encode(encoder, TEXTS, cache, ignore)
    again, nothing = encode(Counting(wrong=lambda rows: None), TEXTS, cache, ignore)
    assert {t for _, t in encoder.seen} == {t for _, t in TEXTS[3:]}
    assert encoded == 2
    assert np.array_equal(second.matrix[:3], first.matrix)
    assert np.array_equal(second.matrix, again.matrix)
    assert nothing == 0


def test_encoders_that_need_no_cache_leave_none(tmp_path):
    cache = VectorCache(tmp_path)
    encode(Counting(cached=False), TEXTS, cache, ignore)
    assert sum(row is None for row in cache.get("counting-1", TEXTS)) == len(TEXTS)


def test_sparse_stays_sparse_and_in_order(monkeypatch):
    monkeypatch.setattr(pool, "BLOCK", 2)
    texts = tuple(("text", t) for t in ("a b c", "a", "b b", "c a"))
    encoder = load_encoder("bow").fit([t for _, t in texts])
    vectors, _ = encode(encoder, texts, None, ignore)
    assert issparse(vectors.matrix)
    assert np.array_equal(vectors.matrix.toarray(), encoder.encode([t for _, t in texts]).toarray())


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda rows: rows[:-1], r"shape \(4, 3\), not real numbers of shape \(5, d\) for 5 texts$"),
        (lambda rows: rows[[0, 0]], r"shape \(2, 3\), not"),
        (lambda rows: rows[:, 0], r"shape \(5,\), not"),
        (lambda rows: rows[:, :0], r"shape \(5, 0\), not"),
        (lambda rows: rows + 1j, "dtype complex64"),
        (lambda rows: rows * np.nan, "NaN or infinity"),
        (lambda rows: rows / np.float32(0), "NaN or infinity"),
        (lambda rows: rows * np.float64(1e200), r"too large for float32, for text 1 of the 5 in its batch, '"),
        (lambda rows: csr_array(rows * np.float64([[0], [0], [np.nan], [0], [1]])), "for text 3 of the 5"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_not_one_finite_vector_for_each_text_fails(wrong, says):
    with pytest.raises(EncoderError, match=says):
        encode(Counting(wrong=wrong), TEXTS, None, ignore)


def test_an_exception_inside_names_the_encoder():
    def burst(rows):
        raise RuntimeError("out of memory")

    with pytest.raises(EncoderError, match="RuntimeError: out of memory"):
        encode(Counting(wrong=burst), TEXTS, None, ignore)


def test_sparse_vectors_are_not_kept(tmp_path):
    cache = VectorCache(tmp_path)
    vectors, _ = encode(Counting(wrong=csr_array), TEXTS, cache, ignore)
    assert sum(row is None for row in cache.get("counting-1", TEXTS)) == len(TEXTS)
    assert vectors.take([t for _, t in TEXTS]).toarray()[:, 0].tolist() == [5, 1, 9, 3, 7]
