"""The promises of thresholds and of "not worse", simulated with known truth (slow)."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "tools" / "simulations" / "promises.py"


@pytest.fixture(scope="module")
def promises():
    spec = importlib.util.spec_from_file_location("promises", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "repeats"),
    [
        ("confident_thresholds", 200),
        ("average_thresholds", 200),
        ("size_for_shares", 400),
        ("power_for_shares", 400),
        ("size_for_means", 100),
    ],
)
def test_simulated_figures_are_in_their_ranges(promises, name, repeats):
    rows = getattr(promises, name)(repeats=repeats)
    assert len(rows) > 10
    assert [row for row in rows if not row.holds] == []
