"""How often 95 % intervals hold the truth: shares, shares with ties, accuracies over folds, other means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np
from scipy import stats

from embassay.stats.folds import fold_limits
from embassay.stats.resample import means
from embassay.stats.shares import IntraUnitSums, ShareSummary, intra_unit_sums
from embassay.types import Draws
from simulations import Row, rate, simulation
from simulations.designs import (
    CORRELATIONS,
    SHARES,
    SIZES,
    UNITS,
    Floats,
    Ints,
    answers_tied_among_all,
    copied_counts_of_yes,
    counts_of_yes,
    normals,
    stream,
    tied_answers,
    unit_sizes,
    yes_no,
)

WANTED = (0.93, 0.97)
REPEATS, BATCHES = 4000, 8
"""Repetitions of a design, and the parts they are drawn in, each with unit sizes and bootstrap counts of its own."""
OTHERS = (0.3, 0.5, 0.7)
"""Shares of the other encoders, which answer the same items and agree as much within units."""
Draw = Callable[[np.random.Generator, Ints, float, float, int], Floats]
TIED = {"tied among two or three": tied_answers, "tied among all three": answers_tied_among_all}


def coverage(design: str, hits: int, repeats: int, least: float = 0.92) -> Row:
    """Return the row of a design whose interval held the truth so many times."""
    seen, error = rate(hits, repeats)
    return Row(design, "coverage", WANTED, seen, error, (least, 1.0))


def held(low: Floats, high: Floats, true: float) -> int:
    """Count the intervals that hold the truth; an end may lie on it up to rounding."""
    return int(((low <= true + 1e-12) & (true <= high + 1e-12)).sum())


def named(units: int, sizes: str, correlation: float, p: float) -> str:
    """Return the words for a design of shares."""
    return f"{units} units, {sizes} sizes, correlation {correlation:g}, p {p:g}"


def pool_of(
    others: tuple[float, ...], rng: np.random.Generator, sizes: Ints, correlation: float, repeats: int
) -> IntraUnitSums:
    """Draw the other encoders and return their sums, one pool for each repetition."""
    if not others:
        return IntraUnitSums.nothing(repeats)
    drawn = [counts_of_yes(rng, sizes, p, correlation, repeats) for p in others]
    return IntraUnitSums.total([of_counts(yes, wide(sizes, repeats)).within for yes in drawn])


def of_counts(yes: Floats, sizes: Floats) -> ShareSummary:
    """Summarise answers that are all yes or no, from the (units, k) numbers of yes answers and of items."""
    items, yes_in_all = sizes.sum(axis=0), yes.sum(axis=0)
    # Σ(x − p)² = n·p(1 − p) for yes/no answers.
    squares = yes_in_all * (1 - yes_in_all / items)
    fewer = np.minimum(yes_in_all, items - yes_in_all)
    return ShareSummary.of_unit_sums(yes, sizes, squares, fewer, np.zeros(len(items)))


def wide(sizes: Ints, repeats: int) -> Floats:
    """Return (units, repeats) sizes, the same in every repetition."""
    return np.repeat(sizes[:, None], repeats, axis=1).astype(np.float64)


def share_hits(
    shares: Sequence[float],
    units: int,
    kind: str,
    correlation: float,
    *,
    others: tuple[float, ...] = OTHERS,
    pool_correlation: float | None = None,
    draw: Draw = counts_of_yes,
    repeats: int = REPEATS,
) -> dict[float, int]:
    """Count for each share p how many intervals hold it; all shares have the same unit sizes and the same pools.

    Parameters
    ----------
    others
        Shares of the other encoders.
    pool_correlation
        How much the others agree within units; as much as the encoder at hand by default.
    """
    pooled = correlation if pool_correlation is None else pool_correlation
    hits, size = dict.fromkeys(shares, 0), repeats // BATCHES
    for batch in range(BATCHES):
        rng = stream("share", units, kind, correlation, pooled, others, draw.__name__, batch)
        sizes = unit_sizes(kind, units, rng)
        pool = pool_of(others, rng, sizes, pooled, size)
        for p in shares:
            answers = of_counts(draw(rng, sizes, p, correlation, size), wide(sizes, size))
            hits[p] += held(*answers.limits(pool)[:2], p)
    return hits


@simulation("shares", "Shares, with three other encoders in the run")
def shares(repeats: int = REPEATS) -> Iterator[Row]:
    """Cross units, sizes, correlations and shares."""
    for units, kind, correlation in product(UNITS, SIZES, CORRELATIONS):
        for p, hits in share_hits(SHARES, units, kind, correlation, repeats=repeats).items():
            yield coverage(named(units, kind, correlation, p), hits, repeats)


@simulation("shares-pool", "Shares, with other encoders that are less like the one at hand")
def shares_with_another_pool(repeats: int = REPEATS) -> Iterator[Row]:
    """No other encoder; others that agree less within units; another law of the answers; others that are as rare."""
    few = (0.02, 0.1, 0.98)
    hits_of = partial(share_hits, few, repeats=repeats)
    for units, kind, correlation in product(UNITS[:3], SIZES, (0.3, 0.7)):
        pools = {
            "no other encoder": hits_of(units, kind, correlation, others=()),
            "others without correlation": hits_of(units, kind, correlation, pool_correlation=0.0),
            "copied answers": hits_of(units, kind, correlation, draw=copied_counts_of_yes),
            "two others with 2 %": hits_of(units, kind, correlation, others=(0.02, 0.02)),
        }
        for words, hits in pools.items():
            for p, number in hits.items():
                # The pool then says too little: a correlation of 0.7 is taken for 0.2.
                least = 0.88 if words == "others without correlation" else 0.91
                yield coverage(f"{named(units, kind, correlation, p)}, {words}", number, repeats, least)


def tied_hits(law: str, p: float, units: int, kind: str, correlation: float, ties: float, repeats: int) -> int:
    """Count how many intervals of a share with ties hold its expected value; two other encoders are tied as often."""
    hits, size = 0, repeats // BATCHES
    for batch in range(BATCHES):
        rng = stream("ties", law, p, units, kind, correlation, ties, batch)
        unit = np.repeat(np.arange(units), unit_sizes(kind, units, rng))
        values, true = TIED[law](rng, unit, p, correlation, ties, size)
        others = [TIED[law](rng, unit, q, correlation, ties, size)[0] for q in (0.3, 0.7)]
        pool = IntraUnitSums.total([intra_unit_sums(other, unit) for other in others])
        hits += held(*ShareSummary.of(values, unit).limits(pool)[:2], true)
    return hits


@simulation("ties", "Shares with ties: expected answers, one of two or three candidates")
def shares_with_ties(repeats: int = REPEATS // 4) -> Iterator[Row]:
    """Cross laws, units, sizes, correlations, shares and how many items are tied."""
    for law, units, kind, correlation, p, ties in product(
        TIED, (28, 155), SIZES, CORRELATIONS, (0.02, 0.3, 0.9), (0.1, 0.9, 0.98)
    ):
        hits = tied_hits(law, p, units, kind, correlation, ties, repeats)
        # Where nearly all items are tied, 10 others are as few as 10 yes answers of large units.
        least = 0.88 if ties > 0.5 else 0.91
        yield coverage(f"{named(units, kind, correlation, p)}, {ties:.0%} {law}", hits, repeats, least)


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
    """Count how many intervals of an accuracy over three folds hold p, with two other encoders in the run."""
    fold, unit = spread_over_folds(GROUPS[groups]())
    hits, size = 0, repeats // BATCHES
    for batch in range(BATCHES):
        rng = stream("folds", p, groups, correlation, batch)
        pool = [intra_unit_sums(yes_no(rng, unit, q, correlation, size), unit) for q in (0.5, 0.9)]
        columns = yes_no(rng, unit, p, correlation, size)
        hits += held(*fold_limits(columns, fold, unit, IntraUnitSums.total(pool))[:2], p)
    return hits


@simulation("localization", "Accuracy of localization: the mean over three folds, every group in each")
def localization(repeats: int = REPEATS // 2) -> Iterator[Row]:
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
def other_means(repeats: int = REPEATS // 2) -> Iterator[Row]:
    """Cross laws, units, sizes and correlations."""
    for law, units, kind, correlation in product(LAWS, UNITS, SIZES, CORRELATIONS):
        design = f"{units} units, {kind} sizes, correlation {correlation:g}, {law} items"
        yield coverage(design, mean_hits(law, units, kind, correlation, repeats), repeats)
