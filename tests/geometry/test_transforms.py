"""Standardize, whiten, remove_pcs: what they promise of the vectors that they were fitted on."""

from __future__ import annotations

import numpy as np
import pytest

from embassay.stats.geometry.closeness import unit_rows
from embassay.stats.geometry.transforms import NAMES, fit


def vectors(n=300, d=12, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) * np.linspace(0.3, 2, d) + 0.5).astype(dtype)


def before_rescaling(transform, v):
    """Return what ``apply`` scales to unit length at the end, straight from its definition."""
    centred = unit_rows(v.astype(np.float64)) - transform.mean
    if transform.removes:
        return centred - centred @ transform.matrix @ transform.matrix.T
    return centred * transform.matrix if transform.matrix.ndim == 1 else centred @ transform.matrix


def test_standardize_by_hand():
    # Rows (1, 0), (0, 1), (1, 0), (0, 1): mean ½, variance ¼ each: scale 2; (½, −½) · 2 = (1, −1), over √2.
    v = np.array([[1.0, 0], [0, 2], [3, 0], [0, 4]])
    transform = fit("standardize", v)
    assert transform.mean.tolist() == [0.5, 0.5]
    assert transform.matrix.tolist() == [2, 2]
    assert transform.rank == 2
    half = np.sqrt(0.5)
    assert transform.apply(v) == pytest.approx(np.array([[half, -half], [-half, half]] * 2), abs=1e-15)


def test_standardize_agrees_with_scikit_learn():
    scalers = pytest.importorskip("sklearn.preprocessing")
    v = unit_rows(vectors())
    assert before_rescaling(fit("standardize", v), v) == pytest.approx(scalers.StandardScaler().fit_transform(v))


@pytest.mark.parametrize("rows", [2, 5, 12])
def test_whiten_keeps_as_many_directions_as_there_are(rows):
    # n centred vectors span n − 1 dimensions at most.
    v = vectors(rows, 40)
    transform = fit("whiten", v)
    found = before_rescaling(transform, v)
    assert transform.rank == rows - 1
    assert transform.matrix.shape == (40, rows - 1)
    assert np.cov(found.T, bias=True) == pytest.approx(np.eye(rows - 1).squeeze(), abs=1e-8)
    assert transform.apply(v).shape == (rows, rows - 1)


@pytest.mark.parametrize("width", [12, 250])
def test_remove_pcs_agrees_with_scikit_learn(width):
    decomposition = pytest.importorskip("sklearn.decomposition")
    v = unit_rows(vectors(400, width))
    pca = decomposition.PCA(n_components=max(1, width // 100), svd_solver="full").fit(v)
    expected = v - pca.inverse_transform(pca.transform(v))
    assert before_rescaling(fit("remove_pcs", v), v) == pytest.approx(expected, abs=1e-9)


def test_whiten_agrees_with_scikit_learn():
    decomposition = pytest.importorskip("sklearn.decomposition")
    v = unit_rows(vectors())
    expected = decomposition.PCA(whiten=True, svd_solver="full").fit_transform(v)
    found = before_rescaling(fit("whiten", v), v)
    # scikit-learn divides by n − 1, and either may turn a direction round.
    turned = np.sign((found * expected).sum(axis=0))
    assert found * turned == pytest.approx(expected * np.sqrt(300 / 299), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_zero_vectors_are_left_out_of_the_fit_and_undefined_after_it(name):
    v = vectors()
    holed = np.insert(v, [0, 7], 0, axis=0)
    transform, expected = fit(name, holed), fit(name, v)
    assert transform.mean == pytest.approx(expected.mean, abs=1e-15)
    assert before_rescaling(transform, v) == pytest.approx(before_rescaling(expected, v), abs=1e-9)
    assert np.flatnonzero(np.isnan(transform.apply(holed)).all(axis=1)).tolist() == [0, 8]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_applied_row_by_row_to_other_vectors(name):
    transform, others = fit(name, vectors()), vectors(40, seed=1)
    found = transform.apply(others)
    assert found == pytest.approx(np.vstack([transform.apply(others[i : i + 1]) for i in range(40)]), abs=1e-12)
    assert transform.apply(others[:0]).shape == (0, 12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "v",
    [
        np.eye(4)[:1],
        np.zeros((5, 4)),
        np.vstack([np.eye(4)[:1], np.zeros((5, 4))]),
        np.ones((5, 4)),
        np.arange(1, 6)[:, None] * np.array([[0.1, 0.2, 0.7]]),
    ],
)
def test_too_few_or_equal_vectors_cannot_be_fitted(name, v):
    assert fit(name, v) is None
