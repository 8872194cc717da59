"""Array work beside what it replaces, given numbers at random: the ε grid, IsoScore, the bootstrap, composition.

    python benchmarks/arrays.py

The grid: the share of 50,000 samples in each cell of (condition 1, condition 2) over 100 × 100 tolerances, beside one
pass of numpy for each pair of tolerances, which must count the same. IsoScore: beside the package IsoScore, on the same
float32 vectors, which must agree within 1e-6. The bootstrap: 10,000 resamples of 10,000 items for 40 quantities.
Composition: 192,000 samples (64,000 overlaps, 96,000 differences, 32,000 unions in 16,000 documents) of 16 encoders,
summarised from their item scores.
"""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.metadata import version

import numpy as np
from _machine import describe

from embassay.diagnostics.composition.composition import create
from embassay.diagnostics.composition.criteria import NULL_PLANAR, NULL_RAW, PLANAR, RAW, null_name
from embassay.geometry.closeness import MEASURES
from embassay.geometry.isotropy import isoscore
from embassay.stats.grid import Grid, cells
from embassay.stats.resample import means
from embassay.types import Draws, ItemScores, Origin

REPEATS = 5


def timed(function, repeats=REPEATS):
    """Return the last result and the (median, least, most) seconds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, (float(np.median(seconds)), min(seconds), max(seconds))


def show(name, seconds):
    """Print one line."""
    median, least, most = (1000 * s for s in seconds)
    print(f"{name:<58} {median:10.2f} ms [{least:.2f}..{most:.2f}]")


def grid(rng):
    """Compare the grid with a pass for each pair of tolerances."""
    first, second = rng.normal(size=(2, 50_000))
    axes = tuple(Grid(np.linspace(m.min(), m.max(), 100)) for m in (first, second))

    def loop():
        total = np.zeros(4, dtype=np.int64)
        for one in axes[0].values:
            for two in axes[1].values:
                a, b = first >= one, second >= two
                both = np.count_nonzero(a & b)
                left, right = np.count_nonzero(a), np.count_nonzero(b)
                total += (both, left - both, right - both, len(a) - left - right + both)
        return tuple(total.tolist())

    def factorised():
        one, two = (axis.fraction(margins) for axis, margins in zip(axes, (first, second), strict=True))
        return cells(one, two).sum(axis=0) * axes[0].size * axes[1].size

    found, ours = timed(factorised, 20)
    expected, theirs = timed(loop, 1)
    assert np.rint(found).astype(np.int64).tolist() == list(expected)
    show("grid of 100 x 100 on 50,000 samples", ours)
    show("  a pass of numpy for each pair of tolerances", theirs)
    print(f"  ratio {theirs[0] / ours[0]:.0f}, counts identical")


def isotropy(rng):
    """Compare the closed form with the package."""
    try:
        from IsoScore.IsoScore import IsoScore
    except ImportError:
        print("IsoScore is not installed: not compared")
        return
    for rows, width in ((100_000, 384), (20_000, 1024)):
        vectors = (rng.normal(size=(rows, width)) * np.linspace(1, 3, width) + 0.3).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        found, ours = timed(lambda v=vectors: isoscore(v))
        expected, theirs = timed(lambda v=vectors: float(IsoScore(v)))
        assert abs(found - expected) < 1e-6
        show(f"IsoScore of {rows:,} x {width}", ours)
        show(f"  the package IsoScore {version('IsoScore')}", theirs)
        print(f"  ratio {theirs[0] / ours[0]:.1f}, {abs(found - expected):.0e} apart")


def bootstrap(rng):
    """Time the bootstrap of many means."""
    values, unit = rng.normal(size=(10_000, 40)), np.arange(10_000)
    _, seconds = timed(lambda: means([values], unit, Draws(0, 10_000), "benchmark"), 3)
    show("10,000 resamples of 10,000 items for 40 quantities", seconds)


def composition(rng, encoders=4, documents=16_000, draws=5):
    """Time the summary of composition scores."""
    operator = np.repeat(["overlap", "difference", "union"], np.array([4, 6, 2]) * documents)
    unit = np.concatenate([np.repeat(np.arange(documents), k) for k in (4, 6, 2)])
    scores = []
    for place in range(encoders):
        values = {m: rng.normal(size=(len(unit), len(RAW))) for m in MEASURES}
        values["plane"] = rng.uniform(0.5, 1.5, size=(len(unit), len(PLANAR)))
        drawn = [null_name(m, name) for m in MEASURES for name in NULL_RAW]
        drawn += [null_name("plane", name) for name in NULL_PLANAR]
        values |= {name: rng.uniform(0.5, 1.5, size=(len(unit), draws)) for name in drawn}
        values["ratings"] = np.full((len(unit), 1), np.nan)
        origin = Origin("composition", "", "random", "0", f"e{place}", f"{place}")
        labels = {"operator": operator, "side": np.full(len(unit), "")}
        scores.append(ItemScores(origin, "cosine", np.arange(len(unit)).astype(str), unit, labels, values))
    scores = [replace(s, scalars={"unit_norm": 0.0}) for s in scores]
    result, seconds = timed(lambda: create().summarise(scores, Draws()), 1)
    show(f"composition, {len(unit):,} samples, {encoders} encoders, {len(result.rows):,} rows", seconds)


def main():
    """Run all."""
    print(describe())
    rng = np.random.default_rng(0)
    for part in (grid, isotropy, bootstrap, composition):
        part(rng)


if __name__ == "__main__":
    main()
