"""The rules, splits and twins of ``benchmarks/replication.py``, on scores that are made up."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "replication.py"


@pytest.fixture(scope="module")
def script():
    found = importlib.util.spec_from_file_location("replication", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made():
    """Four systems, the first clearly the best and the last clearly the worst, on 30 documents of 5 questions."""
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(30), 5)
    hard = 0.5 * rng.random(30)[unit] + 0.5 * rng.random(150)
    return np.array([hard < share for share in (0.8, 0.55, 0.52, 0.2)]).astype(float), unit


def test_every_rule_finds_what_is_clear_and_none_says_that_a_system_is_better_than_itself(script, made):
    for rule in script.RULES.values():
        better, may_be_best = rule(*made)
        assert better[0, 3]
        assert not better.T[0, 3]
        assert not np.diag(better).any()
        assert may_be_best[0]
        assert not may_be_best[3]


def test_the_t_tests_are_those_of_scipy(script, made):
    scores, _ = made
    p = script.p_of_t(scores[:, None] - scores)
    assert p[1, 2] == pytest.approx(stats.ttest_rel(scores[1], scores[2]).pvalue)
    corrected = script.with_holm(p)
    assert (corrected == corrected.T).all()
    assert (corrected >= p - 1e-12).all()


def test_halves_share_no_document(script, made):
    _, unit = made
    first, second = script.halves(unit, np.random.default_rng(0))
    assert (first ^ second).all()
    assert not set(unit[first]) & set(unit[second])


def test_twins_of_a_pair_are_equal_and_keep_what_the_pair_has(script, made):
    scores, unit = made
    rng = np.random.default_rng(0)
    means = np.array([script.twin(scores, unit, rng)[0].mean(axis=1) for _ in range(800)])
    truth = script.truth_of_twins(scores)
    assert truth[0] == truth[1] == pytest.approx((scores[0].mean() + scores[1].mean()) / 2)
    assert means.mean(axis=0) == pytest.approx(truth, abs=0.012)
