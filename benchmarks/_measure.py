"""Time and peak memory of a command and all its processes, and the growth of time with size."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

INTERVAL = 0.2
"""Seconds between two looks at the memory of several processes."""


@dataclass(frozen=True)
class Cost:
    """What a command took.

    Attributes
    ----------
    cpu
        Seconds of processor time, of the command and its processes. Other work on the machine changes it less than it
        changes the time that passes.
    peak
        MB of resident memory: the largest sum over the processes, in which a page that several share counts once, or
        the peak of the largest process if that is more.
    """

    seconds: float
    cpu: float
    peak: float
    output: str


def measure(command: list[str]) -> Cost:
    """Run a command to its end.

    The caller must have little memory itself: the kernel counts the memory of the process that starts a command as
    that command's own.

    Raises
    ------
    RuntimeError
        If the command fails, with the last line of its messages.
    """
    largest_sum = 0.0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as messages:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=messages, stderr=messages)
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            largest_sum = max(largest_sum, _memory_of_tree(process.pid))
            time.sleep(INTERVAL)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        output = messages.read()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(output.strip() or 'no message').splitlines()[-1]}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, max(largest_sum, usage.ru_maxrss / 1e3), output)


def best_of(repeats: int, command: list[str], prepare=lambda: None) -> Cost:
    """Run a command several times; return the least time, and the largest peak.

    On a machine that others use, the least time is the nearest to that of the command alone.
    """
    costs = []
    for _ in range(repeats):
        prepare()
        costs.append(measure(command))
    fastest = min(costs, key=lambda cost: cost.seconds)
    return Cost(fastest.seconds, min(cost.cpu for cost in costs), max(cost.peak for cost in costs), fastest.output)


def _memory_of_tree(root: int) -> float:
    """Return MB of proportional memory of a process and its descendants."""
    children = _children_of_all()
    total = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            # The process has ended since.
            continue
        for line in lines:
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total * 1024 / 1e6


def _children_of_all() -> dict[int, list[int]]:
    """Return the children of each process of the machine."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            status = (folder / "stat").read_text()
        except OSError:
            continue
        # The name of the program, in brackets, may have spaces; the state and the parent follow it.
        parent = int(status.rpartition(")")[2].split()[1])
        children.setdefault(parent, []).append(int(folder.name))
    return children


def slope(sizes: list[float], seconds: list[float]) -> tuple[float, float]:
    """Return the least-squares slope of log time on log size, and its standard error (NaN for two points)."""
    x = [math.log(size) for size in sizes]
    y = [math.log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((value - mean_x) ** 2 for value in x)
    exponent = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread
    if len(x) < 3:
        return exponent, math.nan
    residuals = [(b - mean_y) - exponent * (a - mean_x) for a, b in zip(x, y, strict=True)]
    variance = sum(residual**2 for residual in residuals) / (len(x) - 2)
    return exponent, math.sqrt(variance / spread)


def machine() -> str:
    """Return ``_machine.describe()`` from a process of its own: this one must stay small."""
    command = [sys.executable, "-c", "from _machine import describe; print(describe())"]
    folder = Path(__file__).parent
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
