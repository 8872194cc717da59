"""Overlaps with an exact search: how often a set-up is called the same as its original."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from embassay.core.types import Draws
from embassay.stats.overlap import judged
from simulations import Row, rate, simulation
from simulations.designs import Floats, stream

NUMBERS = (30, 60, 200)
Draw = Callable[[np.random.Generator, int, float], Floats]


def every_place_alike(rng: np.random.Generator, questions: int, overlap: float) -> Floats:
    """Return (n,) overlaps of questions that lose each of their ten documents with the same probability."""
    return rng.binomial(10, overlap, questions) / 10


def some_questions_lose_half(rng: np.random.Generator, questions: int, overlap: float) -> Floats:
    """Return (n,) overlaps of which some are about a half, and the others 1."""
    halved = rng.random(questions) < 2 * (1 - overlap)
    return np.where(halved, rng.binomial(10, 0.5, questions) / 10, 1.0)


def few_questions_lose_most(rng: np.random.Generator, questions: int, overlap: float) -> Floats:
    """Return (n,) overlaps of which a few are about a fifth, and the others 1."""
    lost = rng.random(questions) < (1 - overlap) / 0.8
    return np.where(lost, rng.binomial(10, 0.2, questions) / 10, 1.0)


DESIGNS: dict[str, Draw] = {
    "every place alike": every_place_alike,
    "some questions lose half": some_questions_lose_half,
    "few questions lose most": few_questions_lose_most,
}


def _called(draw: Draw, questions: int, overlap: float, repeats: int, *outcomes: str) -> int:
    """Count how often the outcome is one of these."""
    rng = stream("screening", draw.__name__, questions, overlap)
    count = 0
    for number in range(repeats):
        values = draw(rng, questions, overlap)
        count += judged(values, Draws(number))["outcome"] in outcomes
    return count


@simulation(
    "screening-at-the-floor", "Overlap with an exact search: how often exactly 95 % is called the same, or other"
)
def at_the_floor(repeats: int = 500) -> Iterator[Row]:
    """Let the true overlap be the floor."""
    for name, draw in DESIGNS.items():
        for questions in NUMBERS:
            design = f"{questions} questions, {name}"
            # The few questions that lose their list may be missing among 60.
            most = 0.17 if draw is few_questions_lose_most else 0.05
            same = _called(draw, questions, 0.95, repeats, "same")
            yield Row(design, "called the same", (0.0, 0.05), *rate(same, repeats), accepted=(0.0, most))
            other = _called(draw, questions, 0.95, repeats, "differs")
            yield Row(design, "called other", (0.0, 0.05), *rate(other, repeats), accepted=(0.0, 0.06))


@simulation("screening-above-the-floor", "Overlap with an exact search: how often 99 % is called the same")
def above_the_floor(repeats: int = 500) -> Iterator[Row]:
    """Let the true overlap be 99 %."""
    for name, draw in DESIGNS.items():
        for questions in NUMBERS:
            same = _called(draw, questions, 0.99, repeats, "same")
            least = 0.55 if questions >= 60 else 0.25
            design = f"{questions} questions, {name}"
            yield Row(design, "called the same", (0.8, 1.0), *rate(same, repeats), accepted=(least, 1.0))
