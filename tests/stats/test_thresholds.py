"""Recommended thresholds: by hand, against the definition, and how often their promise is broken."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm, t

from embassay.stats.labels import Labels
from embassay.stats.thresholds import (
    effective_questions,
    guarantee_for,
    loss_limits,
    losses_at,
    questions_needed,
    recommend,
)
from stats.test_labels import labels_of, loop_kernel


def alone(number):
    return Labels.of(np.arange(number))


def test_questions_that_a_guarantee_takes():
    # (1 − .02)^149 < .05 < (1 − .02)^148; (0 + 1)/(49 + 1) = .02.
    assert math.ceil(questions_needed(0.02, "confidence")) == 149
    assert math.ceil(questions_needed(0.02, "average")) == 49
    found = [guarantee_for(n, 0.02) for n in (48, 49, 148, 149)]
    assert found == [None, "average", "average", "confidence"]
    assert guarantee_for(1e9, 0.0) is None
    assert guarantee_for(1, 1.0) == "confidence"


@pytest.mark.parametrize(("lost", "number"), [(0, 149), (1, 300), (7, 1000), (50, 200)])
def test_the_limit_is_clopper_and_pearsons(lost, number):
    (limit,) = loss_limits(np.array([lost / number]), number, "confidence")
    # At the limit so few losses or fewer have a chance of 5 %.
    assert binom.cdf(lost, number, limit) == pytest.approx(0.05)


def test_the_limit_on_average_counts_one_more_loss():
    assert loss_limits(np.array([0.0, 0.02]), 99, "average") == pytest.approx([0.01, 0.0298])
    assert loss_limits(np.array([1.0]), 99, "average") == pytest.approx([1.0])


def test_a_threshold_by_hand():
    # 300 questions found at 0.001, 0.002 … 0.3. Of 300 one may be lost (limit .0157), not two (.0208): the second
    # lowest is the threshold, below which one is lost.
    right = np.arange(1, 301) / 1000
    found = recommend(right, np.ones(300), right, alone(300), 0.02)
    assert found.value == pytest.approx(0.002)
    assert (found.guarantee, found.reason) == ("confidence", None)
    assert binom.cdf(1, 300, found.loss_limit) == pytest.approx(0.05)


def test_similarities_of_wrong_documents_may_be_thresholds_too():
    # Right answers at 0.5 and more; 0.49 is the highest wrong one, nothing is lost below 0.5.
    right = np.concatenate([np.full(200, 0.5), np.full(100, -np.inf)])
    success = (right > 0).astype(float)
    found = recommend(right, success, np.array([0.1, 0.49, 0.6]), alone(300), 0.02)
    assert found.value == 0.49


def test_questions_that_were_never_answered_lose_nothing():
    right = np.concatenate([np.full(10, 0.1), np.full(290, 0.9)])
    success = np.concatenate([np.zeros(10), np.ones(290)])
    assert recommend(right, success, right, alone(300), 0.02).value == 0.9


def test_losses_are_counted_strictly_below():
    right, success = np.array([0.3, 0.1, 0.2, -np.inf]), np.array([1.0, 0.5, 1.0, 0.0])
    assert losses_at(np.array([0.1, 0.15, 0.2, 0.3, 0.4]), right, success).tolist() == [0, 0.5, 0.5, 1.5, 2.5]


def test_where_nothing_is_found_nothing_is_recommended():
    found = recommend(np.full(200, 0.5), np.zeros(200), np.full(200, 0.5), alone(200), 0.02)
    assert (found.value, found.guarantee) == (None, None)
    assert found.reason == "no question finds a right document, so nothing can be lost"


def test_a_loss_of_nothing_can_not_be_shown():
    right = np.arange(200) / 200
    found = recommend(right, np.ones(200), right, alone(200), 0.0)
    assert found.reason == "no number of questions can show that nothing is ever lost; allow a loss above 0"


def test_questions_of_few_units_are_worth_less_and_it_takes_more_of_them():
    # Ten units of 15 that stand or fall together: worth ten.
    unit = np.repeat(np.arange(10), 15)
    right = np.repeat(np.arange(10) / 10, 15)
    found = recommend(right, np.ones(150), right, Labels.of(unit), 0.02)
    assert effective_questions(right, np.ones(150), Labels.of(unit)) == pytest.approx(10)
    assert found.value is None
    assert "needs about 735 questions like these" in found.reason


def test_the_effective_number_by_its_formula():
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(60), 5)
    right = np.repeat(rng.normal(size=60), 5) + rng.normal(size=300)
    success = (rng.random(300) < 0.9).astype(float)
    # By the definition: ρ of what is lost at the lowest threshold that loses 10 % of the right answers.
    of_right = np.sort(right[success == 1])
    threshold = of_right[math.ceil(0.1 * len(of_right)) - 1]
    lost = success * (right <= threshold)
    p, g, units = lost.mean(), 4.0, 60.0
    sums = np.bincount(unit, weights=lost)
    between = units / (units - 1) * ((sums - 5 * p) ** 2).sum() - 300 * p * (1 - p)
    rho = between / (300 * p * (1 - p) * g)
    assert 0.05 < rho < 0.9
    widening = (t.ppf(0.95, 59) / norm.ppf(0.95)) ** 2
    assert effective_questions(right, success, Labels.of(unit)) == pytest.approx(
        300 / min((1 + g * rho) * widening, 1 + g)
    )


def test_questions_that_share_some_of_their_right_documents_by_the_definition():
    # Question i is about the pages i // 3 and i // 4: against the matrix of all pairs of questions.
    rng = np.random.default_rng(2)
    sets = [{number // 3, 100 + number // 4} for number in range(120)]
    right = np.repeat(rng.normal(size=40), 3) + 0.3 * rng.normal(size=120)
    kernel = loop_kernel(sets)
    lost = (right <= np.sort(right)[11]).astype(float)
    e, g = lost - lost.mean(), kernel.sum() / 120 - 1
    units = 120 / (1 + g)
    rho = (units / (units - 1) * (e @ kernel @ e) - e @ e) / (g * (e @ e))
    assert 0.05 < rho < 0.95
    widening = (t.ppf(0.95, units - 1) / norm.ppf(0.95)) ** 2
    expected = 120 / min((1 + g * rho) * widening, 1 + g)
    assert effective_questions(right, np.ones(120), labels_of(sets)) == pytest.approx(expected)


def test_independent_questions_are_worth_their_number():
    right = np.random.default_rng(1).normal(size=200)
    assert effective_questions(right, np.ones(200), alone(200)) == 200
    assert effective_questions(right, np.ones(200), Labels.of(np.zeros(200, dtype=np.int64))) == pytest.approx(1)
    assert effective_questions(np.zeros(0), np.zeros(0), alone(0)) == 0


def test_where_all_right_answers_are_alike_units_count_as_one_question_each():
    # Nothing varies, so nothing says how alike the questions of a unit are.
    assert effective_questions(np.ones(100), np.ones(100), Labels.of(np.repeat(np.arange(20), 5))) == pytest.approx(20)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), loss=st.sampled_from([0.02, 0.05, 0.3]), size=st.integers(1, 4))
def test_it_is_the_highest_that_passes_and_all_below_pass(seed, loss, size):
    rng = np.random.default_rng(seed)
    number = int(rng.integers(60, 400))
    right = np.round(rng.normal(size=number), int(rng.integers(1, 4)))
    success = rng.choice([0.0, 0.5, 1.0], size=number, p=[0.2, 0.1, 0.7])
    labels = Labels.of(np.arange(number) // size)
    found = recommend(right, success, right, labels, loss)
    if found.value is None:
        assert found.reason
        return

    def limit(threshold):
        lost = (success * (right < threshold)).mean()
        return loss_limits(np.array([lost]), effective_questions(right, success, labels), found.guarantee)[0]

    for candidate in np.unique(right):
        assert (limit(candidate) <= loss + 1e-12) == (candidate <= found.value)
    assert found.loss_limit == pytest.approx(limit(found.value))
