"""How often 95 % intervals hold the truth: shares, other means in [0, 1], accuracies over folds, other means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
from scipy import stats

from embassay.core.types import Draws
from embassay.stats.folds import shares_over_folds
from embassay.stats.labels import Labels
from embassay.stats.resample import means
from embassay.stats.shares import bounded_means
from simulations import Row, rate, simulation
from simulations.comparisons import answers_by_label, labels_of
from simulations.designs import (
    CORRELATIONS,
    LABELS,
    SIZES,
    UNITS,
    Floats,
    Ints,
    answers_tied_among_all,
    label_normals,
    normals,
    one_label_each,
    stream,
    tied_answers,
    unit_sizes,
    yes_no,
)

WANTED = (0.93, 0.97)
BATCHES = 8
"""The parts that bootstrap means are drawn in, each with unit sizes and counts of its own."""
SHARES = (0.02, 0.1, 0.5, 0.85, 0.98)
OTHERS = (0.3, 0.5, 0.7)
"""Shares of the other systems, which answer the same items and agree as much within units."""
BETWEEN = 0.5
DESIGNS = {
    f"{units} units, {kind} sizes": partial(one_label_each, kind, units) for units in UNITS[:3] for kind in SIZES
}
FEW_PAGES = ("60 questions, a hub for 30 %", "60 questions, a hub for 60 %", "120 questions with two of 50 pages each")
"""Where items of several labels agree strongly (0.7), n* is too large: a hub for 60 % leaves five effective units."""
TIED = {"tied among two or three": tied_answers, "tied among all three": answers_tied_among_all}
LARGEST = 1e6
"""Ranks are cut here, so that reciprocal ranks have a mean that a table gives."""


def coverage(design: str, hits: int, repeats: int, least: float = 0.92) -> Row:
    """Return the row of a design whose interval held the truth so many times."""
    seen, error = rate(hits, repeats)
    return Row(design, "coverage", WANTED, seen, error, (least, 1.0))


def held(low: Floats, high: Floats, true: float) -> int:
    """Count the intervals that hold the truth; an end may lie on it up to rounding."""
    return int(((low <= true + 1e-12) & (true <= high + 1e-12)).sum())


def bounded_hits(systems: Sequence[Floats], labels: Labels, true: float, *, of_shares: bool = True) -> int:
    """Return 1 if the interval of the first system's mean holds the truth, else 0."""
    values = {f"s{place}": values for place, values in enumerate(systems)}
    estimate = bounded_means(values, labels, tuple(values), of_shares=of_shares)["s0"]
    # Without an interval nothing is said that could be wrong.
    return int(estimate.low is None or estimate.low - 1e-12 <= true <= estimate.high + 1e-12)


def drawn_labels(name: str, rng: np.random.Generator, repeats: int) -> Iterator[tuple[Floats, Labels]]:
    """Yield the labels of a design, as a table and as the package has them; ten repeats have the same."""
    for repeat in range(repeats):
        if repeat % 10 == 0:
            belongs = (DESIGNS | LABELS)[name](rng)
            labels = labels_of(belongs)
        yield belongs, labels


def share_hits(
    share: float, name: str, correlation: float, *, others: Sequence[float] = OTHERS, repeats: int = 400
) -> int:
    """Count how many intervals of a share hold it, with other systems of these shares in the run."""
    rng = stream("share", share, name, correlation, others)
    hits = 0
    for belongs, labels in drawn_labels(name, rng, repeats):
        systems = answers_by_label(rng, belongs, (share, *others), correlation, BETWEEN).T
        hits += bounded_hits(systems, labels, share)
    return hits


@simulation("shares", "Shares, with three other systems in the run, and alone")
def shares(repeats: int = 400) -> Iterator[Row]:
    """Cross labels, correlations and shares; one number n* holds for all systems."""
    for name, correlation, share in product(DESIGNS | LABELS, CORRELATIONS, SHARES):
        design = f"{name}, correlation {correlation:g}, p {share:g}"
        least = 0.88 if name in FEW_PAGES and correlation > 0.5 else 0.91
        yield coverage(design, share_hits(share, name, correlation, repeats=repeats), repeats, least)
        if share in (0.5, 0.98):
            alone = share_hits(share, name, correlation, others=(), repeats=repeats)
            yield coverage(f"{design}, alone", alone, repeats, least)


def tied_hits(law: str, p: float, units: int, kind: str, correlation: float, ties: float, repeats: int) -> int:
    """Count how many intervals of a share with ties hold its expected value; two other systems are tied as often."""
    rng = stream("ties", law, p, units, kind, correlation, ties)
    hits = 0
    for _ in range(repeats):
        unit = np.repeat(np.arange(units), unit_sizes(kind, units, rng))
        values, true = TIED[law](rng, unit, p, correlation, ties, 1)
        others = [TIED[law](rng, unit, q, correlation, ties, 1)[0][:, 0] for q in (0.3, 0.7)]
        hits += bounded_hits([values[:, 0], *others], Labels.of(unit), true)
    return hits


@simulation("ties", "Shares with ties: expected answers, one of two or three candidates")
def shares_with_ties(repeats: int = 300) -> Iterator[Row]:
    """Cross laws, units, sizes, correlations, shares and how many items are tied."""
    for law, units, kind, correlation, p, ties in product(
        TIED, (28, 155), SIZES, CORRELATIONS, (0.02, 0.3, 0.9), (0.1, 0.9)
    ):
        design = f"{units} units, {kind} sizes, correlation {correlation:g}, p {p:g}, {ties:.0%} {law}"
        yield coverage(design, tied_hits(law, p, units, kind, correlation, ties, repeats), repeats)


@simulation("reciprocal-ranks", "Reciprocal ranks, with two other systems in the run")
def reciprocal_ranks(repeats: int = 400) -> Iterator[Row]:
    """Cross labels, correlations and how hard the questions are."""
    table = np.linspace(-8, 8, 20_001)
    for name, correlation, hardness in product((*list(DESIGNS)[:4], *LABELS), CORRELATIONS, (-1.5, 0.0, 2.0)):
        rng = stream("reciprocal ranks", name, correlation, hardness)
        true = float(np.average(_reciprocal_rank(table + hardness), weights=stats.norm.pdf(table)))
        hits = 0
        for belongs, labels in drawn_labels(name, rng, repeats):
            hard = np.array([hardness, 0.0, 0.5])
            systems = _reciprocal_rank(label_normals(rng, belongs, correlation, 3) + hard).T
            hits += bounded_hits(systems, labels, true, of_shares=False)
        design = f"{name}, correlation {correlation:g}, mean {true:.2f}"
        least = 0.82 if name in FEW_PAGES and correlation > 0.5 else 0.9
        yield coverage(design, hits, repeats, least)


def _reciprocal_rank(latent: Floats) -> Floats:
    return 1 / np.minimum(1 + np.floor(np.exp(1.5 * latent)), LARGEST)


GROUPS = {
    "28 groups of 3": lambda: np.full(28, 3),
    "89 groups of 3 to 16": lambda: np.minimum(16, np.floor(3 / ((np.arange(89) + 0.5) / 89) ** 0.6)).astype(np.int64),
    "274 groups of 3 to 5": lambda: np.repeat([3, 4, 5], [240, 31, 3]),
}
"""Designs of localization: the smallest that is asked for, one like Opinosis, and that of MSRP."""


def spread_over_folds(sizes: Ints, folds: int = 3) -> tuple[Ints, Ints]:
    """Return (n,) folds and groups: the items of a group are dealt to the folds in turn."""
    fold = np.concatenate([np.arange(size) % folds for size in sizes])
    return fold, np.repeat(np.arange(len(sizes)), sizes)


def fold_hits(p: float, groups: str, correlation: float, repeats: int) -> int:
    """Count how many intervals of an accuracy over three folds hold p."""
    fold, unit = spread_over_folds(GROUPS[groups]())
    columns = yes_no(stream("folds", p, groups, correlation), unit, p, correlation, repeats)
    labels = Labels.of(unit)
    hits = 0
    for column in columns.T:
        estimate = shares_over_folds({"x": column}, fold, labels)["x"]
        hits += held(np.array([estimate.low]), np.array([estimate.high]), p)
    return hits


@simulation("localization", "Accuracy of localization: the mean over three folds, every group in each")
def localization(repeats: int = 1000) -> Iterator[Row]:
    """Cross groups, correlations and accuracies."""
    for groups, correlation, p in product(GROUPS, CORRELATIONS, (0.05, 0.3, 0.5, 0.7, 0.9, 0.98, 0.995)):
        design = f"{groups}, correlation {correlation:g}, p {p:g}"
        # 99.5 % lie beyond what is aimed at: most of the 28 groups agree, and an error is three.
        least = 0.90 if p > 0.98 else 0.93
        yield coverage(design, fold_hits(p, groups, correlation, repeats), repeats, least)


_TABLE = np.linspace(-8, 8, 4001)
_COSINES = 1 - stats.beta.ppf(stats.norm.cdf(_TABLE), 2, 8)
LAWS: dict[str, tuple[Callable[[Floats], Floats], float]] = {
    "normal": (lambda z: z, 0.0),
    # 1 − Beta(2, 8), of mean 1 − 2/10.
    "cosine-like": (lambda z: np.interp(z, _TABLE, _COSINES), 0.8),
    "exponential": (lambda z: -np.log(stats.norm.sf(z)), 1.0),
}
"""Laws of items as maps of a standard normal number, and their means."""


def mean_hits(law: str, units: int, kind: str, correlation: float, repeats: int) -> int:
    """Count how many bootstrap intervals of a mean hold it."""
    of, true = LAWS[law]
    hits, size = 0, repeats // BATCHES
    for batch in range(BATCHES):
        rng = stream("mean", law, units, kind, correlation, batch)
        unit = np.repeat(np.arange(units), unit_sizes(kind, units, rng))
        (found,) = means([of(normals(rng, unit, correlation, size))], unit, Draws(batch), "simulation")
        ends = np.array([(estimate.low, estimate.high) for estimate in found])
        hits += held(ends[:, 0], ends[:, 1], true)
    return hits


@simulation("means", "Other means: the expanded percentile bootstrap over units")
def other_means(repeats: int = 2000) -> Iterator[Row]:
    """Cross laws, units, sizes and correlations."""
    for law, units, kind, correlation in product(LAWS, UNITS, SIZES, CORRELATIONS):
        design = f"{units} units, {kind} sizes, correlation {correlation:g}, {law} items"
        yield coverage(design, mean_hits(law, units, kind, correlation, repeats), repeats)
