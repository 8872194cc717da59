"""How long the first answers take: help, the first vector, a run with and without cached vectors, many passages.

    python benchmarks/startup.py [XQUAD_FILE] [--rounds N]

Each line is a command in a process of its own. In each round every command runs once, so that other work on the machine
affects all of them; the median is printed, beside the target for two quiet cores. The library sentence-transformers is
the peer for the first vector. "Cold" is a run with an empty vector cache, "cached" the same run again. The parts of a
run are those that it prints. The passages are of random words with the frequencies of Zipf's law.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

EMBASSAY = (sys.executable, "-m", "embassay")
MODEL = "all-MiniLM-L6-v2"
OURS = "from embassay.run.resolve import load_encoder; from embassay.core.types import Runtime; "
PEER = (
    "from embassay.run.resolve import load_encoder; folder = str(load_encoder({model!r}).found.folder); "
    "from sentence_transformers import SentenceTransformer; "
    "SentenceTransformer(folder, device='cpu').encode(['A short text.'])"
)
VARIANTS = ("", ",dim=64", ",dim=128", ",vectors=int8", ",vectors=binary")
"""With ``bow`` and the three baselines, nine encoders; all five have their vectors from one model."""
QUESTIONS, PASSAGES, WORDS = 60, 8_000, 20_000
TIME = re.compile(
    r"time: loading ([\d.]+) s, encoding ([\d.]+) s, scoring and statistics ([\d.]+) s, report ([\d.]+) s"
)


def first_vectors() -> dict[str, list[str]]:
    """Return the commands that encode one text, by name; those whose packages are not installed are left out."""
    commands = {}
    for backend in ("light", "torch"):
        code = f"{OURS}load_encoder({MODEL!r}, Runtime(backend={backend!r})).encode(['A short text.'])"
        commands[f"first vector, {backend}"] = [sys.executable, "-c", code]
    if find_spec("sentence_transformers"):
        commands["first vector, sentence-transformers"] = [sys.executable, "-c", PEER.format(model=MODEL)]
    return {name: command for name, command in commands.items() if _works(command)}


def _works(command: Sequence[str]) -> bool:
    """Run a command once, which also fills the caches of files; return whether it succeeded."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def write_passages(folder: Path) -> str:
    """Write passages and questions of random words; return the corpus as ``-c`` takes it."""
    source = random.Random(0)  # noqa: S311
    vocabulary = [f"w{number}" for number in range(WORDS)]
    weights = [1 / (1 + number) for number in range(WORDS)]
    texts = [source.choices(vocabulary, weights, k=source.randint(20, 60)) for _ in range(PASSAGES)]
    with (folder / "passages.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text"])
        rows.writerows([f"d{number}", " ".join(words)] for number, words in enumerate(texts))
    with (folder / "few.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", "document"])
        for number in range(0, PASSAGES, PASSAGES // QUESTIONS + 1):
            rows.writerow([" ".join(source.sample(texts[number], 8)), f"d{number}"])
    return f"passages={folder / 'passages.csv'},questions={folder / 'few.csv'}"


def runs(folder: Path, xquad: str | None) -> dict[str, tuple[list[str], str]]:
    """Return for each run its arguments and its target."""
    writer = Path(__file__).parent.parent / "examples" / "write_handbook.py"
    subprocess.run([sys.executable, writer.resolve()], cwd=folder, capture_output=True, check=True)
    handbook = ["-e", MODEL, "-e", "bow", "-c", f"mine={folder / 'docs'},questions={folder / 'questions.csv'}"]
    commands = {
        "handbook, cold": (handbook, "5 s"),
        "handbook, cached": (handbook, "3 s; report 1 s"),
        f"{QUESTIONS} questions, {PASSAGES:,} passages": (
            ["-e", "hashing", "-e", "bow", "-c", write_passages(folder)],
            "statistics 3 s",
        ),
    }
    if xquad:
        nine = [part for options in VARIANTS for part in ("-e", f"m{options[1:].replace('=', '')}={MODEL}{options}")]
        commands["XQuAD, nine encoders, cached"] = ([*nine, "-e", "bow", "-c", f"xquad={xquad}"], "6 s")
    return commands


def timed(command: Sequence[str]) -> tuple[float, tuple[str, ...]]:
    """Run a command; return its seconds, and those of the parts that it prints (empty if it prints none)."""
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - start
    parts = TIME.search(done.stderr)
    return seconds, parts.groups() if parts else ()


def line(name: str, measured: Sequence[tuple[float, tuple[str, ...]]], target: str) -> str:
    """Return the median of a command's seconds, with the medians of its parts."""
    seconds = statistics.median(seconds for seconds, _ in measured)
    medians = [
        f"{statistics.median(map(float, part)):.1f}" for part in zip(*(parts for _, parts in measured), strict=True)
    ]
    return f"{name:38} {seconds:7.2f} s   {' + '.join(medians):24} {target}"


def main() -> None:
    """Measure all commands in turn, and print a line for each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("xquad", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    short = {"python": ([sys.executable, "-c", "pass"], ""), "embassay --help": ([*EMBASSAY, "--help"], "0.3 s")}
    short |= {name: (command, "") for name, command in first_vectors().items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["EMBASSAY_CACHE"] = str(folder / "cache")
        commands = runs(folder, options.xquad)
        measured: dict[str, list[tuple[float, tuple[str, ...]]]] = {}
        targets = {}
        for number in range(options.rounds + 1):
            for label, (command, target) in short.items():
                targets[label] = target
                measured.setdefault(label, []).append(timed(command))
            for label, (arguments, target) in commands.items():
                targets[label] = target
                out = ["-o", str(folder / "run"), "--overwrite"]
                cache = str(folder / (f"cold-{number}" if label.endswith("cold") else "cache"))
                measured.setdefault(label, []).append(timed([*EMBASSAY, "run", *arguments, *out, "--cache", cache]))
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, median of {options.rounds} rounds")
        print(f"{'':48}   {'loading + encoding + statistics + report':24} target")
        for label, times in measured.items():
            # The first round fills the caches.
            print(line(label, times[1:], targets[label]))


if __name__ == "__main__":
    main()
