"""bow, tfidf and hashing against scikit-learn and by hand; random against theory."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from embassay.errors import EncoderError, SpecError
from embassay.resolve import load_encoder

TEXTS = ["The cat, the dog.", "No dog!", ""]


def test_bow_counts_words_and_punctuation_by_hand():
    encoder = load_encoder("bow").fit(TEXTS)
    assert encoder.vocabulary == ("!", ",", ".", "cat", "dog", "no", "the")
    assert encoder.encode(TEXTS).toarray().tolist() == [[0, 1, 1, 1, 1, 0, 2], [1, 0, 0, 0, 1, 1, 0], [0] * 7]


def test_unknown_words_are_left_out():
    assert load_encoder("bow").fit(["a b ."]).encode(["a c"]).toarray().tolist() == [[0, 1, 0]]


def test_tfidf_equals_scikit_learn():
    texts = [t for t in TEXTS if t] + ["."]
    own = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]").fit_transform(texts).toarray()
    ours = load_encoder("tfidf").fit(texts).encode(texts).toarray()
    assert np.allclose(own, ours, atol=1e-6)


@pytest.mark.parametrize("name", ["bow", "tfidf"])
def test_they_have_to_be_fitted(name):
    with pytest.raises(EncoderError, match=r"call fit\(texts\) first"):
        load_encoder(name).encode(["a"])


def test_other_texts_give_another_fingerprint():
    bow = load_encoder("bow")
    assert bow.fit(["a b"]).fingerprint != bow.fit(["a c"]).fingerprint
    assert bow.fit(["a b"]).fingerprint == bow.fit(["b a", "a"]).fingerprint


def test_tfidf_is_known_by_its_weights_too():
    tfidf = load_encoder("tfidf")
    assert tfidf.fit(["a b", "a"]).fingerprint != tfidf.fit(["a b", "b"]).fingerprint


def test_hashing_has_the_dimension_asked_for_and_unit_length():
    vectors = load_encoder("hashing,dim=32").encode(["some words here"])
    assert vectors.shape == (1, 32)
    assert np.linalg.norm(vectors) == pytest.approx(1, abs=1e-6)


def test_random_cosines_have_the_spread_of_theory():
    # The cosine of two normal vectors in d dimensions has mean 0 and variance 1/d.
    vectors = load_encoder("random,dim=64").encode([f"text {n}" for n in range(400)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[np.triu_indices(400, 1)]
    assert abs(cosines.mean()) < 0.003
    assert cosines.var() == pytest.approx(1 / 64, rel=0.03)


def test_random_is_another_with_another_seed():
    a, b = load_encoder("random,seed=1"), load_encoder("random,seed=2")
    assert a.fingerprint != b.fingerprint
    assert not np.allclose(a.encode(["x"]), b.encode(["x"]))


@pytest.mark.parametrize("spec", ["random,dim=0", "random,seed=-1", "hashing,dim=0"])
def test_options_out_of_range(spec):
    with pytest.raises(SpecError):
        load_encoder(spec)
