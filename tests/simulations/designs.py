"""What is drawn: sizes of units, answers and numbers that hang together within units."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNITS = (28, 70, 155, 450)
CORRELATIONS = (0.0, 0.3, 0.7)
SIZES = ("equal", "Pareto")
ITEMS = {"equal": 4, "1 item": 1, "2 items": 2, "4 items": 4, "7 items": 7, "25 items": 25}
"""Numbers of items of a unit, where all units have as many."""


def stream(*name: object) -> np.random.Generator:
    """Return the random numbers of a named purpose, the same in every run."""
    return np.random.default_rng(zlib.crc32("|".join(map(str, name)).encode()))


def unit_sizes(kind: str, units: int, rng: np.random.Generator) -> Ints:
    """Return (units,) numbers of items: all the same, or of Pareto's law with index 1.2 from 4 up, cut at 28."""
    if kind in ITEMS:
        return np.full(units, ITEMS[kind])
    return np.minimum(28, np.floor(4 / rng.random(units) ** (1 / 1.2))).astype(np.int64)


def units_of_items(kind: str, units: int, rng: np.random.Generator) -> Ints:
    """Return the (items,) unit of each item."""
    return np.repeat(np.arange(units), unit_sizes(kind, units, rng))


def yes_no(rng: np.random.Generator, unit: Ints, p: float, correlation: float, repeats: int) -> Floats:
    """Draw (items, repeats) answers 0 or 1, beta-binomial within units."""
    if correlation == 0:
        return (rng.random((len(unit), repeats)) < p).astype(np.float64)
    both = 1 / correlation - 1
    chance = rng.beta(p * both, (1 - p) * both, (int(unit.max()) + 1, repeats))
    return (rng.random((len(unit), repeats)) < chance[unit]).astype(np.float64)


def tied_answers(
    rng: np.random.Generator, unit: Ints, p: float, correlation: float, ties: float, repeats: int
) -> tuple[Floats, float]:
    """Draw (items, repeats) expected answers, a share ``ties`` of them 1/2 or 1/3, and return their true mean too.

    An item is tied between two or three candidates: its expected value is 1/2 or 1/3 if the right one is among
    them, else 0. Whether it is, and whether an item is tied at all, hang together within units.
    """
    right = yes_no(rng, unit, p, correlation, repeats)
    tied = yes_no(rng, unit, ties, correlation, repeats)
    of_how_many = rng.integers(2, 4, right.shape)
    mean = p * (1 - ties) + p * ties * (1 / 2 + 1 / 3) / 2
    return right * np.where(tied == 1, 1 / of_how_many, 1.0), mean


def answers_tied_among_all(
    rng: np.random.Generator, unit: Ints, p: float, correlation: float, ties: float, repeats: int
) -> tuple[Floats, float]:
    """Draw (items, repeats) expected answers as a nearly constant encoder gives them, and return their true mean too.

    A share ``ties`` of the items is tied between all three candidates, with the expected value 1/3; the others are
    right with probability p. Both hang together within units.
    """
    right = yes_no(rng, unit, p, correlation, repeats)
    tied = yes_no(rng, unit, ties, correlation, repeats)
    return np.where(tied == 1, 1 / 3, right), ties / 3 + (1 - ties) * p


def normals(rng: np.random.Generator, unit: Ints, correlation: float, repeats: int) -> Floats:
    """Draw (items, repeats) standard normal numbers of this correlation within units."""
    of_unit = rng.standard_normal((int(unit.max()) + 1, repeats))[unit]
    return np.sqrt(correlation) * of_unit + np.sqrt(1 - correlation) * rng.standard_normal((len(unit), repeats))


# --- items with several labels ---------------------------------------------------------------------------

CHANCES = (0.75, 0.2, 0.05)
"""How often a question has 1, 2 or 3 right pages: of the 60 answered questions about pip, 45, 12 and 3."""


def one_label_each(kind: str, units: int, rng: np.random.Generator) -> Floats:
    """Return (n, units) which items belong to which unit, 0 or 1."""
    return np.eye(units)[units_of_items(kind, units, rng)]


def with_a_hub(items: int, share: float, rng: np.random.Generator) -> Floats:
    """Return (n, n + 1) labels of questions with a page each, of which a share has one page more, the same for all."""
    has_hub = rng.random(items) < share
    return np.concatenate([np.eye(items), has_hub[:, None]], axis=1)


def random_pages(items: int, pages: int, rng: np.random.Generator, chances: tuple[float, ...] = CHANCES) -> Floats:
    """Return (n, pages) labels of questions with 1, 2, … right pages by these chances, drawn from all."""
    belongs = np.zeros((items, pages))
    for row, number in zip(belongs, rng.choice(len(chances), items, p=chances), strict=True):
        row[rng.choice(pages, number + 1, replace=False)] = 1.0
    return belongs


def like_pip(rng: np.random.Generator) -> Floats:
    """Return (60, 37) labels as many as in the questions about pip: one page is right for 15 of the 60, for 9 alone."""
    belongs = np.zeros((60, 37))
    belongs[:15, 0] = 1.0
    belongs[9:15, 1:] = random_pages(6, 36, rng, (1.0,))
    # So 12 and 3 of all questions have two and three pages.
    belongs[15:, 1:] = random_pages(45, 36, rng, (0.8, 0.13, 0.07))
    return belongs


LABELS = {
    "labels like pip's": like_pip,
    "60 questions, a hub for 30 %": lambda rng: with_a_hub(60, 0.3, rng),
    "60 questions, a hub for 60 %": lambda rng: with_a_hub(60, 0.6, rng),
    "120 questions on 50 pages": lambda rng: random_pages(120, 50, rng),
    "120 questions with two of 50 pages each": lambda rng: random_pages(120, 50, rng, (0.0, 1.0)),
}
"""Label designs by name, as functions of random numbers."""


def label_normals(rng: np.random.Generator, belongs: Floats, correlation: float, repeats: int) -> Floats:
    """Return (items, repeats) standard normal numbers; items with the same labels have this correlation.

    Others have it in proportion to the labels that they share: |L ∩ L′|/√(|L|·|L′|).
    """
    loads = belongs / np.sqrt(belongs.sum(axis=1, keepdims=True))
    of_labels = loads @ rng.standard_normal((belongs.shape[1], repeats))
    return np.sqrt(correlation) * of_labels + np.sqrt(1 - correlation) * rng.standard_normal((len(belongs), repeats))
