"""The light route beside the route with torch and sentence-transformers: speed, first vector, installed size.

    python benchmarks/light.py XQUAD_FILE [MODEL …] [--rounds N] [--count N]

Short texts are the questions of XQuAD, long ones its paragraphs. In each round every way encodes the same texts, in an
order that changes from round to round; ratios are medians of the ratios of a round, with their ranges, so that other
work on the machine, which changes slowly, affects both sides. CPU seconds are of all threads; all ways use as many
threads as there are cores, if the variable OMP_NUM_THREADS is not set. The models are all-MiniLM-L6-v2 by default; a
folder works too.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
from _machine import describe

from embassay.core.types import Runtime
from embassay.run.resolve import load_corpus, load_encoder

PACKAGES = {"onnxruntime", "onnx", "tokenizers", "safetensors", "huggingface_hub"}
"""The packages of the extra."""
FIRST = {
    "light": "from embassay.run.resolve import load_encoder; from embassay.core.types import Runtime; "
    "load_encoder({model!r}, Runtime(backend='light')).encode(['A short text.'])",
    "torch": "from embassay.run.resolve import load_encoder; from embassay.core.types import Runtime; "
    "load_encoder({model!r}, Runtime(backend='torch')).encode(['A short text.'])",
    "sentence-transformers": "from sentence_transformers import SentenceTransformer; "
    "SentenceTransformer({folder!r}, device='cpu').encode(['A short text.'])",
}
"""What a fresh process runs to its first vector."""


def ways_of(model: str) -> dict[str, Callable[[list[str]], np.ndarray]]:
    """Return the ways to encode texts, loaded."""
    from sentence_transformers import SentenceTransformer

    light = load_encoder(model, Runtime(backend="light"))
    torch_route = load_encoder(model, Runtime(backend="torch"))
    library = SentenceTransformer(str(light.found.folder), device="cpu")
    ways = {
        "light": light.encode,
        "torch": torch_route.encode,
        "sentence-transformers": lambda texts: library.encode(texts, show_progress_bar=False),
    }
    for way in ways.values():
        way(["A short text."] * 8)
    return ways


def race(ways: dict[str, Callable[[list[str]], np.ndarray]], texts: list[str], rounds: int) -> None:
    """Print texts per second and CPU seconds of each way, and the ratios to the light route."""
    seconds = {name: [] for name in ways}
    cpu = {name: [] for name in ways}
    vectors = {}
    names = list(ways)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start, start_cpu = time.perf_counter(), time.process_time()
            vectors[name] = ways[name](texts)
            seconds[name].append(time.perf_counter() - start)
            cpu[name].append(time.process_time() - start_cpu)
    for name in names:
        ratios = [other / light for other, light in zip(seconds[name], seconds["light"], strict=True)]
        cpu_ratios = [other / light for other, light in zip(cpu[name], cpu["light"], strict=True)]
        difference = np.abs(vectors[name] - vectors["sentence-transformers"]).max()
        print(
            f"  {name:<22}{len(texts) / statistics.median(seconds[name]):>8.1f} texts/s"
            f"{1000 * statistics.median(cpu[name]) / len(texts):>9.2f} CPU s per 1,000"
            f"   light is {statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}] times as fast"
            f" ({statistics.median(cpu_ratios):.2f} [{min(cpu_ratios):.2f}, {max(cpu_ratios):.2f}] in CPU seconds)"
            f"   max |difference| {difference:.1e}",
            flush=True,
        )


def first_vector(model: str, folder: str, repeats: int = 3) -> None:
    """Print the seconds of fresh processes to the first vector."""
    for name, code in FIRST.items():
        taken = []
        for _ in range(repeats):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code.format(model=model, folder=folder)], check=True, capture_output=True
            )
            taken.append(time.perf_counter() - start)
        print(f"  {name:<22} {min(taken):.2f} to {max(taken):.2f} s")


def required(names: set[str]) -> set[str]:
    """Return installed packages and all that they require without an extra."""
    known: set[str] = set()
    waiting = set(names)
    while waiting:
        name = waiting.pop().replace("_", "-").lower()
        try:
            requirements = distribution(name).requires or []
        except PackageNotFoundError:
            # Required on other systems only.
            continue
        known.add(name)
        without_extras = (line for line in requirements if "extra ==" not in line)
        waiting |= {re.match(r"[\w.-]+", line)[0].replace("_", "-").lower() for line in without_extras} - known
    return known


def sizes() -> None:
    """Print the installed MB of the packages that the light route adds to the core."""
    total = 0.0
    for name in sorted(required(PACKAGES) - required({"embassay"})):
        paths = [file.locate() for file in distribution(name).files or []]
        size = sum(path.stat().st_size for path in paths if path.is_file()) / 1e6
        total += size
        print(f"  {name:<16}{size:>7.1f} MB")
    print(f"  {'together':<16}{total:>7.1f} MB")


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("xquad")
    parser.add_argument("models", nargs="*", default=["all-MiniLM-L6-v2"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=320)
    options = parser.parse_args()
    print(describe())
    corpus = load_corpus(f"{options.xquad},documents=paragraphs")
    by_role = {"short": [], "long": []}
    for role, text in corpus.texts():
        by_role["short" if role == "query" else "long"].append(text)
    generator = np.random.default_rng(0)
    for model in options.models:
        ways = ways_of(model)
        for length, texts in by_role.items():
            count = min(options.count if length == "short" else options.count // 4, len(texts))
            chosen = [texts[place] for place in generator.permutation(len(texts))[:count]]
            print(f"{model}, {count} {length} texts, {np.mean([len(text.split()) for text in chosen]):.0f} words each")
            race(ways, chosen, options.rounds)
        print(f"{model}, first vector of a fresh process")
        first_vector(model, str(load_encoder(model).found.folder))
    print("installed by the light extra")
    sizes()


if __name__ == "__main__":
    main()
