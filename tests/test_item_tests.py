"""The rules of ``benchmarks/item_tests.py``, on scores that are made up."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "item_tests.py"


@pytest.fixture(scope="module")
def script():
    found = importlib.util.spec_from_file_location("item_tests", SCRIPT)
    module = importlib.util.module_from_spec(found)
    sys.modules["item_tests"] = module
    found.loader.exec_module(module)
    return module


def test_the_share_of_resamples_by_hand(script):
    # Of 10 questions 1 is won and 9 are tied: no resample is lost, and (9/10)^10 of them are tied.
    a, b = np.ones(10), np.ones(10)
    b[0] = 0
    share = script.not_best_in_resamples(a, b, np.arange(10))
    assert share == pytest.approx(0.9**10 / 2, abs=0.02)
    assert script.not_best_in_resamples(b, a, np.arange(10)) == pytest.approx(share, abs=1e-12)
    assert script.not_best_in_resamples(a, a, np.arange(10)) == 0.5


def test_in_samples_neither_system_is_better_and_documents_stay_together(script):
    unit = np.repeat(np.arange(40), 5)
    a, b = np.ones(200), np.zeros(200)
    differences = []
    for first, second, drawn in script.equal_pairs(a, b, unit, 10, 300):
        by_document = (first - second).reshape(10, 5)
        assert (by_document == by_document[:, :1]).all()
        assert (drawn == np.repeat(np.arange(10), 5)).all()
        differences.append((first - second).mean())
    assert np.mean(differences) == pytest.approx(0, abs=0.06)


def test_a_sample_draws_documents_with_all_their_questions(script):
    sizes = np.array([1, 3, 6])
    a, b = np.repeat([10.0, 20.0, 30.0], sizes), np.repeat([11.0, 21.0, 31.0], sizes)
    for first, _, unit in script.equal_pairs(a, b, np.repeat(np.arange(3), sizes), 12, 20):
        drawn = [int(first[unit == document][0]) // 10 - 1 for document in range(12)]
        assert np.bincount(unit).tolist() == sizes[drawn].tolist()
