"""The gate: how often a check calls equal models worse, how often it passes a loss of the margin, and a year of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from comparison.columns import column
from embassay.comparison.differences import ColumnPair, losses
from embassay.core.types import Draws
from embassay.stats.gate import loss_limit, resolution, whole_points
from simulations import Row, rate, simulation
from simulations.designs import Floats, Ints, unit_sizes

DRAWS = Draws(0, 20)
CHANGED = 0.1
"""The share of the answers that changes between two versions of a model."""
YEAR = 50
"""Checks in a year."""


def paired(gains: Floats, unit: Ints, *, sampled: bool) -> ColumnPair:
    """Return answers with these gains, at the margin that bless writes."""
    old = (gains < 0) * 1.0
    before, after = column(old, unit=unit), column(old + gains, unit=unit, fingerprint="new")
    margin = _margin(tuple(np.bincount(unit).tolist()) if sampled else len(gains))
    return ColumnPair(before, after, "", "", max(margin, 0.02), sampled)


@cache
def _margin(sizes: tuple[int, ...] | int) -> float:
    """Return what these units, or this number of single questions, can rule out."""
    unit = np.arange(sizes) if isinstance(sizes, int) else np.repeat(np.arange(len(sizes)), sizes)
    return whole_points(resolution(unit))


@dataclass(frozen=True)
class GivenPages:
    """Questions about pages that are all there are; some pages lose or gain more of them than others.

    Attributes
    ----------
    agreement
        The share of its questions that a page loses if it loses any; 0 where all pages lose as often.
    """

    questions: int
    agreement: float = 0.0

    def __str__(self) -> str:
        """Return the design in words."""
        pages = f"pages that lose {self.agreement:.0%} or nothing" if self.agreement else "all pages alike"
        return f"{self.questions} questions, {pages}"

    @property
    def unit(self) -> Ints:
        """(n,) each question is a unit of its own."""
        return np.arange(self.questions)

    def gains(self, rng: np.random.Generator, loss: float, changed: float = CHANGED) -> Floats:
        """Return (n,) gains with a mean of −loss, at least a share ``changed`` of them not 0."""
        changed = max(changed, loss)
        place = self.unit / self.questions
        chance_lost = _concentrated((changed + loss) / 2, place, self.agreement)
        chance_gained = _concentrated((changed - loss) / 2, place[::-1], self.agreement)
        draw = rng.random(self.questions)
        return np.where(draw < chance_lost, -1.0, np.where(draw > 1 - chance_gained, 1.0, 0.0))


def _concentrated(chance: float, place: Floats, agreement: float) -> Floats:
    """Return (n,) chances with about this mean: 0, or the agreement in the first questions."""
    if agreement <= chance:
        return np.full(len(place), chance)
    inside = place < chance / agreement
    if not inside.any():
        return np.full(len(place), chance)
    return inside * chance / inside.mean()


@dataclass(frozen=True)
class SampledPages:
    """Questions about pages that are drawn anew; the questions of a page are lost and gained together."""

    pages: int
    sizes: str
    agreement: float
    unit: Ints

    @classmethod
    def of(cls, pages: int, sizes: str, agreement: float) -> SampledPages:
        """Return the design with its sizes of pages, which stay the same."""
        drawn = unit_sizes(sizes, pages, np.random.default_rng(pages))
        return cls(pages, sizes, agreement, np.repeat(np.arange(pages), drawn))

    def __str__(self) -> str:
        """Return the design in words."""
        return f"{self.pages} sampled pages, {self.sizes}, {self.agreement:.0%} of the questions follow their page"

    def gains(self, rng: np.random.Generator, loss: float, changed: float = CHANGED) -> Floats:
        """Return (n,) gains with a mean of −loss, at least a share ``changed`` of them not 0."""
        changed = max(changed, loss)
        chances = [(changed + loss) / 2, 1 - changed, (changed - loss) / 2]
        of_page = rng.choice([-1.0, 0.0, 1.0], self.pages, p=chances)[self.unit]
        alone = rng.choice([-1.0, 0.0, 1.0], len(self.unit), p=chances)
        return np.where(rng.random(len(self.unit)) < self.agreement, of_page, alone)


Design = GivenPages | SampledPages
GIVEN = [GivenPages(questions, agreement) for questions in (40, 60, 100, 300) for agreement in (0.0, 0.9)]
SAMPLED = [
    SampledPages.of(pages, sizes, agreement)
    for pages in (20, 60)
    for sizes in ("4 items", "Pareto")
    for agreement in (0.3, 1.0)
]


def outcomes(design: Design, rng: np.random.Generator, loss: float, tests: int = 1, changed: float = CHANGED) -> str:
    """Return the worst outcome of a check whose tests all have the same true loss."""
    sampled = isinstance(design, SampledPages)
    gains = [design.gains(rng, loss, changed) for _ in range(tests)]
    pairs = [paired(one, design.unit, sampled=sampled) for one in gains]
    found = {change.outcome for change in losses(pairs, DRAWS)}
    return next(outcome for outcome in ("regression", "inconclusive", "pass") if outcome in found)


@simulation("gate-equal", "The gate: how often a check of equally good models reports a regression")
def equal_models(repeats: int = 1000) -> Iterator[Row]:
    """Cross designs with numbers of tests and shares of the answers that change."""
    for design in (*GIVEN, *SAMPLED):
        for tests, changed in ((1, 0.05), (1, 0.1), (1, 0.2), (9, 0.1)):
            rng = np.random.default_rng([11, tests, int(100 * changed), len(design.unit)])
            hits = sum(outcomes(design, rng, 0.0, tests, changed) == "regression" for _ in range(repeats))
            name = f"{design}, tests: {tests}, {changed:.0%} change"
            yield Row(name, "reports a regression", (0.0, 0.05), *rate(hits, repeats), accepted=(0.0, 0.05))


@simulation("gate-margin", "The gate: how often a loss of the margin that bless writes passes")
def loss_of_the_margin(repeats: int = 2000) -> Iterator[Row]:
    """One test, for which a pass is most likely."""
    for design in (*GIVEN, *SAMPLED):
        sizes = tuple(np.bincount(design.unit).tolist()) if isinstance(design, SampledPages) else len(design.unit)
        margin = _margin(sizes)
        for changed in (0.05, 0.2, 0.4):
            # At least the margin changes.
            if 0.05 < changed < margin:
                continue
            rng = np.random.default_rng([13, int(100 * changed), len(design.unit)])
            hits = sum(outcomes(design, rng, margin, 1, changed) == "pass" for _ in range(repeats))
            name = f"{design}, a loss of {100 * margin:.0f} points, {max(changed, margin):.0%} change"
            yield Row(name, "passes", (0.0, 0.05), *rate(hits, repeats), accepted=(0.0, 0.05))


@simulation("gate-means", "The gate: how often the limit of the loss of a mean is below the true loss")
def limits_of_means(repeats: int = 1000) -> Iterator[Row]:
    """RR, whose range is narrow, and differences without a range: the limit is one deviation of the old values."""
    laws = {
        "differences of RR": (lambda rng, n: np.where(rng.random(n) < 0.1, rng.choice([-1, -0.5, 0.5], n), 0.0), 1.0),
        "normal differences": (lambda rng, n: rng.normal(-0.02, 0.1, n), 0.2),
        "skewed to losses": (lambda rng, n: 0.1 - rng.exponential(0.12, n), 0.2),
    }
    for questions in (60, 300):
        for name, (law, most) in laws.items():
            rng = np.random.default_rng([14, questions])
            true = -float(law(rng, 2_000_000).mean())
            limits = [loss_limit(law(rng, questions), np.arange(questions), most) for _ in range(repeats)]
            hits = sum(limit < true for limit in limits)
            yield Row(
                f"{questions} questions, {name}", "below", (0.0, 0.05), *rate(hits, repeats), accepted=(0.0, 0.05)
            )


@simulation("gate-year", "The gate: what a year of 50 checks does, at 60 and at 100 questions")
def year_of_checks(repeats: int = 10_000) -> Iterator[Row]:
    """Give the share of the checks that pass, warn or fail; at least a tenth of the answers changes."""
    wanted = {
        (60, 0.0): {"regression": 0.016, "pass": 0.83},
        (100, 0.0): {"regression": 0.024, "pass": 0.87},
        (60, 0.05): {"regression": 0.17},
        (100, 0.05): {"regression": 0.35},
        (60, 0.1): {"regression": 0.73},
        (100, 0.1): {"regression": 0.98},
        (60, 0.2): {"regression": 0.996},
        (100, 0.2): {"regression": 1.0},
    }
    for (questions, loss), expected in wanted.items():
        rng = np.random.default_rng([15, questions, int(100 * loss)])
        design = GivenPages(questions)
        counts = Counter(outcomes(design, rng, loss) for _ in range(repeats))
        for outcome in ("regression", "inconclusive", "pass"):
            low, high = 0.0, 1.0
            if outcome in expected:
                low, high = max(expected[outcome] - 0.01, 0.0), min(expected[outcome] + 0.01, 1.0)
            name = f"{questions} questions, a true loss of {100 * loss:.0f} points"
            yield Row(name, outcome, (low, high), *rate(counts[outcome], repeats), accepted=(low, high))
