"""The recommended threshold: the highest similarity below which results may be dropped with a bounded loss.

A question loses its right answer if the answer's similarity is below the threshold τ. So the loss (of success, as a
share of all questions) never falls as τ rises. τ goes up through the observed similarities and stops before the first
one whose bound on the loss exceeds the allowed loss. Because the loss only grows on the way, no questions need to be
held out and the level needs no correction (Bates et al. 2021, "Distribution-free, risk-controlling prediction sets",
theorem 1).

Two guarantees, by the effective number n* of questions:

* *confidence*: the one-sided 95 % upper limit of the loss (Clopper & Pearson 1934, on n*) is at most the allowed loss.
  It needs ln .05 / ln(1 − loss) questions: 149 at 2 points.
* *average*: (losses + 1)/(n* + 1) is at most the allowed loss. Then the loss is that small on average over many samples
  of questions (conformal risk control, Angelopoulos et al. 2024). It needs 1/loss − 1 questions: 49 at 2 points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from embassay.core.formatting import size_in_points
from embassay.stats.labels import Labels
from embassay.stats.units import LEVEL, Floats

REFERENCE_LOSS = 0.1
"""The correlation of lost answers within units is estimated at the threshold that loses this share of them."""
ROUNDING = 1e-12
Guarantee = Literal["confidence", "average"]


@dataclass(frozen=True)
class Threshold:
    """A recommended threshold, or the reason why there is none.

    Attributes
    ----------
    value
        The threshold; None if none can be recommended.
    guarantee
        The guarantee on the loss: ``confidence`` (95 %) or ``average``; None if there is no threshold.
    loss_limit
        The bound on the loss at the threshold: the upper confidence limit, or (losses + 1)/(n* + 1).
    reason
        Why there is no threshold; None if there is one.
    """

    value: float | None = None
    guarantee: Guarantee | None = None
    loss_limit: float | None = None
    reason: str | None = None


def recommend(right: Floats, success: Floats, observed: Floats, labels: Labels, loss: float) -> Threshold:
    """Return the highest threshold that loses at most ``loss`` of success.

    Parameters
    ----------
    right
        (n,) the similarity of each question's right answer; −inf if it has none.
    success
        (n,) whether the right answer is retrieved, 0 to 1 (a share if documents are tied).
    observed
        The similarities of all retrieved documents, which are the possible thresholds.
    labels
        Those of the n questions.
    loss
        The allowed loss, as a share of all questions, 0 to 1.
    """
    effective = effective_questions(right, success, labels)
    if success.sum() == 0:
        return Threshold(reason="no question finds a right document, so nothing can be lost")
    guarantee = guarantee_for(effective, loss)
    if guarantee is None:
        return Threshold(reason=_too_few(len(right), effective, loss))

    candidates = np.unique(observed[np.isfinite(observed)])
    losses = losses_at(candidates, right, success) / len(right)
    limits = loss_limits(losses, effective, guarantee)
    # The limits rise with the loss, and the loss with the threshold, so the limits are sorted.
    passed = int(np.searchsorted(limits, loss + ROUNDING, side="right"))
    if passed == 0:
        return Threshold(reason=f"even the lowest similarity loses more than {size_in_points(loss)}")
    return Threshold(float(candidates[passed - 1]), guarantee, float(limits[passed - 1]))


def losses_at(thresholds: Floats, right: Floats, success: Floats) -> Floats:
    """Return (m,) the lost success, as a number of questions, at each of (m,) ascending thresholds."""
    order = np.argsort(right, kind="stable")
    lost = np.concatenate([[0.0], np.cumsum(success[order])])
    return lost[np.searchsorted(right[order], thresholds, side="left")]


def loss_limits(losses: Floats, effective: float, guarantee: Guarantee) -> Floats:
    """Return upper bounds on the loss, from (m,) observed losses and the effective number of questions n*.

    With x = loss·n*, ``average``: (x + 1)/(n* + 1). ``confidence``: the 95 % quantile of the beta distribution with
    x + 1 and n* − x (Clopper & Pearson 1934); 1 where everything is lost.
    """
    from scipy.special import betaincinv

    if guarantee == "average":
        return np.asarray((losses * effective + 1) / (effective + 1))
    lost = losses * effective
    kept = effective - lost
    return np.where(kept > 0, betaincinv(lost + 1, np.maximum(kept, ROUNDING), LEVEL), 1.0)


def guarantee_for(effective: float, loss: float) -> Guarantee | None:
    """Return the stronger guarantee of a loss that n* questions allow if no answer is lost; None if they allow neither.

    ``confidence`` (the loss is that small with 95 % confidence) is the stronger one, ``average`` (it is that small on
    average) the weaker.
    """
    if effective >= questions_needed(loss, "confidence"):
        return "confidence"
    if effective >= questions_needed(loss, "average"):
        return "average"
    return None


def questions_needed(loss: float, guarantee: Guarantee) -> float:
    """Return the least effective number of questions for a guarantee: 148.3 or 49 at a loss of 2 points.

    If no answer is lost, the limits of :func:`loss_limits` are at most the allowed loss from ln .05/ln(1 − loss)
    questions on (``confidence``), or from 1/loss − 1 on (``average``).
    """
    if loss <= 0:
        return math.inf
    if guarantee == "average":
        # Less an allowance for rounding, so that a number that is exactly enough is accepted.
        return 1 / loss - 1 - 1e-9
    if loss >= 1:
        return 0.0
    return math.log(1 - LEVEL) / math.log1p(-loss)


def effective_questions(right: Floats, success: Floats, labels: Labels) -> float:
    """Return n*, the effective number of questions for a loss.

        n* = n/min((1 + gρ)·(t/z)², 1 + g)

    with g and U_e of :class:`~embassay.stats.labels.Labels`, t and z the 95 % quantiles of Student's t on U_e − 1
    degrees of freedom and of the normal distribution. ρ, the correlation of questions that share labels, is estimated
    once, at the lowest threshold that loses 10 % of the right answers, and used for all thresholds: 0 to 3 lost answers
    would be too few to estimate it.
    """
    from scipy.special import stdtrit

    if not labels.items:
        return 0.0
    partners, units = labels.partners, labels.effective_units
    if units < 2:
        return units
    correlation = labels.correlation(_lost_at_reference(right, success)) if partners else 0.0
    t = float(stdtrit(units - 1, LEVEL))
    # With infinite degrees of freedom Student's t is the normal distribution.
    z = float(stdtrit(np.inf, LEVEL))
    widened = (1 + partners * correlation) * (t / z) ** 2
    return labels.items / min(widened, 1 + partners)


def _lost_at_reference(right: Floats, success: Floats) -> Floats:
    """Return (n,) the success that each question loses at the lowest threshold that loses 10 % of the right answers."""
    order = np.argsort(right, kind="stable")
    lost = np.cumsum(success[order])
    wanted = REFERENCE_LOSS * lost[-1] - ROUNDING
    last = int(np.searchsorted(lost, wanted))
    threshold = right[order[last]]
    return np.where(right <= threshold, success, 0.0)


def _too_few(number: int, effective: float, loss: float) -> str:
    """Return the reason why these questions are too few for a threshold."""
    if loss <= 0:
        return "no number of questions can show that nothing is ever lost; allow a loss above 0"
    needed = questions_needed(loss, "average")
    like_these = math.ceil(needed)
    if effective:
        like_these = math.ceil(needed * number / effective)
    return (
        f"a threshold that loses at most {size_in_points(loss)} on average needs about {like_these:,} questions like "
        "these"
    )
