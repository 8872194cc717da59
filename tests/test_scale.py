"""The measurement of ``benchmarks/scale.py``."""

import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def test_the_slope_of_a_power_law(benchmarks):
    from _measure import slope

    sizes = [10.0, 100.0, 1_000.0]
    exponent, error = slope(sizes, [3 * n**1.5 for n in sizes])
    assert exponent == pytest.approx(1.5)
    assert error == pytest.approx(0, abs=1e-9)
    assert math.isnan(slope(sizes[:2], [1.0, 10.0])[1])
    # By hand: x = 0, 1, 2 and y = 0, 2, 1 (in log 10) have the slope 1/2 and residuals −1/2, 1, −1/2.
    exponent, error = slope(sizes, [1.0, 100.0, 10.0])
    assert exponent == pytest.approx(0.5)
    assert error == pytest.approx(math.sqrt(1.5 / 2))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="memory is read from Linux's /proc")
def test_the_memory_of_all_processes_is_summed(benchmarks):
    from _measure import measure

    child = "import time; x = b'1' * 100_000_000; time.sleep(1)"
    parent = f"""
import subprocess, sys
processes = [subprocess.Popen([sys.executable, "-c", {child!r}]) for _ in range(2)]
for process in processes:
    process.wait()
"""
    assert measure([sys.executable, "-c", parent]).peak > 190
    with pytest.raises(RuntimeError, match="boom"):
        measure([sys.executable, "-c", "raise SystemExit('boom')"])
