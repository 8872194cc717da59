"""bow, tfidf, their PCA and hashing against scikit-learn and by hand; random against theory."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer

from embassay.core.errors import EncoderError
from embassay.models.lexical.pca import principal_axes
from embassay.run.resolve import load_encoder

TEXTS = ["The cat, the dog.", "No dog!", ""]


def test_bow_counts_words_and_punctuation_by_hand():
    encoder = load_encoder("bow").fit(TEXTS)
    assert list(encoder.columns) == ["!", ",", ".", "cat", "dog", "no", "the"]
    assert encoder.encode(TEXTS).toarray().tolist() == [[0, 1, 1, 1, 1, 0, 2], [1, 0, 0, 0, 1, 1, 0], [0] * 7]


def test_tfidf_equals_scikit_learn():
    texts = [t for t in TEXTS if t] + ["."]
    own = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]").fit_transform(texts).toarray()
    ours = load_encoder("tfidf").fit(texts).encode(texts).toarray()
    assert np.allclose(own, ours, atol=1e-6)


@pytest.mark.parametrize("name", ["bow", "tfidf"])
def test_they_have_to_be_fitted(name):
    with pytest.raises(EncoderError, match=r"call fit\(texts\) first"):
        load_encoder(name).encode(["a"])


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


def test_options_stand_in_the_spec_and_in_the_fingerprint_and_defaults_do_not():
    specs = ["bow", "bow,tokens=treebank", "bow,pca=2", "bow,tokens=treebank,pca=2", "bow,pca=3", "tfidf,pca=2"]
    encoders = [load_encoder(spec) for spec in specs]
    assert [e.card.spec for e in encoders] == specs
    assert load_encoder("bow,tokens=words,pca=0").card.spec == "bow"
    fitted = [e.fit(VARIED) for e in encoders]
    assert len({e.fingerprint for e in (*encoders, *fitted)}) == 12


def test_without_options_the_fingerprints_stay_what_they_were():
    # Golden: of this package before the two had options; signatures and kept scores go by them.
    fitted = [load_encoder(name).fit(["a b", "a."]).fingerprint for name in ("bow", "tfidf")]
    assert fitted == ["d6af0a380944037e", "89d01de4cc90fb3f"]


def test_treebank_tokens_by_hand():
    pytest.importorskip("nltk", reason="the words extra is not installed")
    # Lower-cased first; the Penn Treebank's rules split clitics and keep abbreviations and numbers whole.
    encoder = load_encoder("bow,tokens=treebank").fit(["They DON'T pay $3.88, can't they?", "The U.S. pays."])
    tokens = ["they", "do", "n't", "pay", "$", "3.88", ",", "ca", "?", "the", "u.s.", "pays", "."]
    assert sorted(encoder.columns) == sorted(tokens)
    counts = dict(zip(encoder.columns, encoder.encode(["Don't they, THEY?"]).toarray()[0].tolist(), strict=True))
    assert {word: n for word, n in counts.items() if n} == {"do": 1, "n't": 1, "they": 2, ",": 1, "?": 1}


VARIED = [
    "the cat sat on the mat",
    "the dog sat on the log",
    "a bird, a bird!",
    "no cat and no dog",
    "the mat is on the log",
    "birds fly",
]


@pytest.mark.parametrize("name", ["bow", "tfidf"])
def test_pca_is_that_of_scikit_learn_up_to_signs(name):
    counts = load_encoder(name).fit(VARIED).encode(VARIED).toarray().astype(np.float64)
    theirs = PCA(3, svd_solver="full").fit_transform(counts)
    ours = load_encoder(f"{name},pca=3").fit(VARIED).encode(VARIED)
    assert ours.dtype == np.float32
    assert np.abs(ours) == pytest.approx(np.abs(theirs), abs=1e-6)


@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
@pytest.mark.parametrize("dimensions", [8, 30])
def test_axes_of_few_and_of_most_directions_are_those_of_a_dense_decomposition(shape, dimensions):
    matrix = csr_array(np.random.default_rng(0).poisson(0.4, size=shape).astype(np.float32))
    axes, mean = principal_axes(matrix, dimensions)
    dense = matrix.toarray().astype(np.float64)
    assert np.allclose(mean, dense.mean(axis=0))
    theirs = np.linalg.svd(dense - mean, full_matrices=False)[2][:dimensions]
    # Up to signs.
    assert np.allclose(np.abs(axes @ theirs.T), np.eye(dimensions), atol=1e-9)


def test_there_are_no_more_dimensions_than_the_texts_have():
    # Six different texts lie in a space of five dimensions around their mean.
    assert load_encoder("bow,pca=300").fit(VARIED).encode(VARIED).shape == (6, 5)
    assert load_encoder("bow,pca=300").fit([*VARIED[:2], VARIED[0]]).encode(VARIED).shape == (6, 1)


@pytest.mark.parametrize("texts", [["only this"], ["twice this", "this twice"]])
def test_texts_that_do_not_differ_leave_no_direction(texts):
    with pytest.raises(EncoderError, match="all texts have the same words"):
        load_encoder("bow,pca=2").fit(texts)


def test_relearning_uses_these_texts_only_and_keeps_the_words():
    fitted = load_encoder("bow,pca=2").fit(VARIED)
    learnt = fitted.relearn(VARIED[:4])
    assert learnt.columns == fitted.columns
    assert learnt.fingerprint != fitted.fingerprint
    counts = load_encoder("bow").fit(VARIED).encode(VARIED).toarray().astype(np.float64)
    theirs = PCA(2, svd_solver="full").fit(counts[:4]).transform(counts)
    assert np.abs(learnt.encode(VARIED)) == pytest.approx(np.abs(theirs), abs=1e-6)
    # The same texts in another order give the same bytes.
    again = fitted.relearn(VARIED[:4][::-1])
    assert again.fingerprint == learnt.fingerprint
    assert again.encode(VARIED).tobytes() == learnt.encode(VARIED).tobytes()
