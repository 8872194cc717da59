"""The comparisons of encoders, simulated with known truth; the simulations themselves are in ``tools/simulations``."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

TOOL = Path(__file__).parents[2] / "tools" / "simulations" / "comparisons.py"


def load():
    spec = spec_from_file_location("simulations_of_comparisons", TOOL)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulations = load()


@pytest.mark.slow
@pytest.mark.parametrize("name", simulations.SIMULATIONS)
def test_every_figure_is_what_it_should_be(name):
    rows = simulations.SIMULATIONS[name]()
    assert [row for row in rows if not row.holds] == []


@pytest.mark.parametrize("name", simulations.SIMULATIONS)
def test_every_simulation_runs(name):
    rows = simulations.SIMULATIONS[name](repeats=20 if name == "coverage_of_differences" else 2)
    assert rows
    assert all(np.isfinite([row.seen, row.error]).all() and row.wanted[0] < row.wanted[1] for row in rows)


def test_the_generator_gives_the_shares_and_correlations_that_it_is_asked_for():
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(20_000), 4)
    items = simulations.answers(rng, unit, [0.3, 0.4, 0.3], 0.3, 0.6)
    assert items.mean(axis=0) == pytest.approx([0.3, 0.4, 0.3], abs=0.01)
    latent = simulations.clustered(rng, unit, 0.3, 1)[:, 0].reshape(-1, 4)
    assert np.corrcoef(latent[:, 0], latent[:, 1])[0, 1] == pytest.approx(0.3, abs=0.03)
    human, cosines = simulations.correlated(rng, unit, 0.8, 0.3, 0.5, 3)
    assert [stats.pearsonr(human, y)[0] for y in cosines.T] == pytest.approx([0.8] * 3, abs=0.01)
