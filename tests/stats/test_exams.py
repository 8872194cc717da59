"""Exams, COE, ROE and thresholds: as the paper's literal procedure, and by hand."""

import numpy as np
import pytest

from embassay.core.types import Draws
from embassay.stats.exams import (
    Retrieved,
    above,
    exams,
    minima,
    percentile_of_top,
    spread,
)

DRAWS = Draws(0, 100)
K = 5


@pytest.fixture(scope="module")
def world():
    """Questions and documents as unit vectors, one right document each, and a random one."""
    rng = np.random.default_rng(1)
    documents = rng.normal(size=(60, 16))
    right = rng.integers(0, 60, size=80)
    questions = documents[right] + rng.normal(size=(80, 16)) * 1.3
    documents, questions = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (documents, questions))
    return questions, documents, right, rng.integers(0, 60, size=80)


@pytest.fixture(scope="module")
def answers(world):
    questions, documents, right, _ = world
    matrix = questions @ documents.T
    top = -np.sort(-matrix, axis=1)[:, :K]
    own = matrix[np.arange(80), right]
    return Retrieved(top, own, (own >= top[:, -1]).astype(float))


def literal(world, drawn, psi):
    """Sections 2.1-2.3 as written: a similarity matrix for each sample, everything from it."""
    questions, documents, right, random = world
    everything = questions @ documents.T
    s_corr, s_rand = everything[np.arange(80), right], everything[np.arange(80), random]
    accuracy, coe, roe, gamma, at = [], [], [], [], []
    for sample in drawn:
        matrix = questions[sample] @ documents.T
        nearest = np.argsort(-matrix, axis=1, kind="stable")[:, :K]
        accuracy.append(np.mean([right[q] in found for q, found in zip(sample, nearest, strict=True)]))
        top = np.take_along_axis(matrix, nearest, axis=1)
        theta = np.percentile(top.ravel(), psi)
        coe.append(np.mean(s_corr > theta))
        roe.append(np.mean(s_rand > theta))
        gamma.append(top.min())
        at.append(matrix)
    tau = np.percentile(gamma, psi)
    dropped = [
        np.mean(
            [
                right[q] in found and row[right[q]] >= tau
                for q, row, found in zip(s, m, np.argsort(-m, axis=1, kind="stable")[:, :K], strict=True)
            ]
        )
        for s, m in zip(drawn, at, strict=True)
    ]
    return np.array(accuracy), np.array(coe), np.array(roe), np.array(gamma), np.array(dropped)


@pytest.mark.parametrize("psi", [5, 35])
def test_as_the_papers_literal_procedure(world, answers, psi):
    drawn = exams(80, DRAWS, "test")
    accuracy, coe, roe, gamma, dropped = literal(world, drawn, psi)
    assert np.array_equal(answers.success[drawn].mean(axis=1), accuracy)
    theta = percentile_of_top(answers.top, drawn, (psi,))[:, 0]
    questions, documents, _, random = world
    assert np.allclose(above(answers.own, theta), coe, atol=1e-12)
    assert np.allclose(above((questions @ documents.T)[np.arange(80), random], theta), roe, atol=1e-12)
    assert np.allclose(minima(answers.top, drawn), gamma, atol=1e-12)
    tau = np.percentile(minima(answers.top, drawn), psi)
    assert np.allclose(answers.right_at(tau)[drawn].mean(axis=1), dropped, atol=1e-12)


def test_an_exam_is_500_times_100_questions_and_the_same_for_every_model():
    assert exams(7, DRAWS, "a").shape == (500, 100)
    assert exams(7, DRAWS, "a").max() == 6
    assert np.array_equal(exams(7, DRAWS, "a"), exams(7, Draws(0, 5), "a"))
    assert not np.array_equal(exams(7, DRAWS, "a"), exams(7, DRAWS, "b"))
    assert not np.array_equal(exams(7, DRAWS, "a"), exams(7, Draws(1, 100), "a"))


def test_spread_is_mean_and_percentiles():
    value, low, high = spread(np.arange(101.0)[:, None])
    assert (value[0], low[0], high[0]) == (50, 2.5, 97.5)


def test_above_is_strict():
    assert above(np.array([0.1, 0.2, 0.2, 0.3]), np.array([0.0, 0.1, 0.2, 0.3])).tolist() == [1, 0.75, 0.25, 0]
    assert above(np.array([-np.inf, 0.5]), np.array([-1.0])).tolist() == [0.5]


def test_thresholds_by_hand():
    found = Retrieved(
        np.array([[0.9, 0.5], [0.8, 0.3], [0.4, 0.2]]), np.array([0.9, 0.3, 0.1]), np.array([1.0, 1.0, 0.0])
    )
    assert found.right_at(0.3).tolist() == [1, 1, 0]
    assert found.right_at(0.31).tolist() == [1, 0, 0]
    assert found.kept_at(0.4).tolist() == [1, 0.5, 0.5]
