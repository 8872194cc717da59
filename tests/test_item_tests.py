"""The rules of ``benchmarks/item_tests.py``, on scores that are made up."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "item_tests.py"


@pytest.fixture(scope="module")
def script():
    found = importlib.util.spec_from_file_location("item_tests", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_answers_that_hang_together_fool_the_tests_over_questions_only(script):
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(20), 30)
    # Whole documents are won or lost: 12 won, 8 lost.
    a = (rng.permutation(np.arange(20) < 12)[unit]).astype(float)
    b = 1 - a
    p = {name: rule(a, b, unit) for name, rule in script.RULES.items()}
    t, permutation, units = p.values()
    assert t == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert max(t, permutation) < 1e-3
    # 12 heads of 20 or more extreme on either side.
    assert units == pytest.approx(stats.binomtest(12, 20).pvalue, abs=1e-3)


def test_of_twins_neither_is_better_and_documents_stay_together(script):
    unit = np.repeat(np.arange(40), 5)
    a, b = np.ones(200), np.zeros(200)
    gaps = []
    for first, second in script.twins(a, b, unit, 300):
        by_document = (first - second).reshape(40, 5)
        assert (by_document == by_document[:, :1]).all()
        gaps.append((first - second).mean())
    assert np.mean(gaps) == pytest.approx(0, abs=0.03)
