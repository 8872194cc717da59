"""Exact search beside what people use, on clustered vectors with a common direction, float32, 384 numbers, k = 10.

    python benchmarks/topk.py [PASSAGES …]       100000 1000000 unless given; the latter wants 8 GB of memory

Every way runs in a process of its own, in turn, round by round; the time is from raw vectors to ids, scaling to unit
length and, for faiss, filling the index included. Memory is the peak of resident memory during the search, less what
was there before: the vectors and the imported library. The ids are compared with a float64 reference, of all 1000
queries at 100,000 passages and of 50 beyond that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

QUERIES, WIDTH, K = 1000, 384, 10
PEER = "semantic_search"


def make(passages, folder):
    """Write clustered vectors: 2000 topics around a common direction, coordinates of unequal spread."""
    rng = np.random.default_rng(0)
    spread = (np.linspace(2, 0.2, WIDTH) ** 2).astype(np.float32)
    topics = spread * rng.normal(size=(2000, WIDTH)).astype(np.float32) + 1
    for name, count in (("passages", passages), ("queries", QUERIES)):
        rows = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, (count, WIDTH))
        for start in range(0, count, 50_000):
            size = min(50_000, count - start)
            noise = rng.standard_normal((size, WIDTH), dtype=np.float32)
            rows[start : start + size] = topics[rng.integers(0, 2000, size)] + 0.7 * spread * noise


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ours(pairs=None, passages_per_document=1):
    from embassay.search.exact.top import search

    def run(q, p):
        starts = np.arange(0, len(p), passages_per_document)
        found = search(q, p, k=K, similarity_function="cosine", pairs=pairs, starts=starts)
        return found.documents, ""

    return run


def counting():
    """The exact search, and the rank of one random document of each query: most documents have to be counted."""
    return ours(np.stack([np.arange(QUERIES), np.arange(QUERIES)], axis=1))


def five_passages():
    """The exact search of documents of five passages: its ids are those of documents, and compared with nothing."""
    return ours(passages_per_document=5)


def semantic_search():
    from sentence_transformers.util import semantic_search as peer

    def run(q, p):
        return np.array([[hit["corpus_id"] for hit in row] for row in peer(q, p, top_k=K)]), ""

    return run


def torch_topk():
    import torch

    def run(q, p):
        q, p = (torch.nn.functional.normalize(torch.from_numpy(m)) for m in (q, p))
        return torch.cat([torch.topk(part @ p.T, K).indices for part in q.split(100)]).numpy(), ""

    return run


def argpartition():
    def run(q, p):
        q, p = unit(q), unit(p)
        out = []
        for start in range(0, len(q), 100):
            scores = q[start : start + 100] @ p.T
            top = np.argpartition(scores, -K, axis=1)[:, -K:]
            out.append(np.take_along_axis(top, np.argsort(-np.take_along_axis(scores, top, 1), axis=1), 1))
        return np.concatenate(out), ""

    return run


def faiss_flat():
    import faiss

    def run(q, p):
        index = faiss.IndexFlatIP(WIDTH)
        index.add(unit(p))
        return index.search(unit(q), K)[1], f"faiss {faiss.__version__} {faiss.get_compile_options().strip()}"

    return run


def torch_first(way):
    import torch  # noqa: F401

    return way()


WAYS = {
    "embassay numpy": ours,
    "embassay numpy, one pair a query": counting,
    "embassay numpy, 5 passages a document": five_passages,
    "embassay torch": lambda: torch_first(ours),
    "embassay torch, one pair a query": lambda: torch_first(counting),
    PEER: semantic_search,
    "torch.topk of products": torch_topk,
    "numpy argpartition": argpartition,
    "faiss IndexFlatIP": faiss_flat,
}


def resident(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1000


def child(way, folder, repeats):
    """Run one way and print seconds, memory and ids."""
    q, p = (np.load(Path(folder) / f"{name}.npy") for name in ("queries", "passages"))
    run = WAYS[way]()
    if "pair" not in way:
        run(q[:64], p[:20_000])
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        ids, route = run(q, p)
        seconds.append(time.perf_counter() - start)
    print(json.dumps([seconds, resident("VmHWM") - before, ids.tolist(), route]))


def reference(folder, count):
    """Return the ids of the first queries by float64."""
    q, p = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("queries", "passages"))
    q = unit(np.asarray(q[:count], np.float64))
    scores = np.concatenate(
        [q @ unit(np.asarray(p[s : s + 50_000], np.float64)).T for s in range(0, len(p), 50_000)], 1
    )
    top = np.argpartition(scores, -K, axis=1)[:, -K:]
    return np.take_along_axis(top, np.argsort(-np.take_along_axis(scores, top, 1), axis=1), 1)


def race(passages, rounds, ways):
    """Run all ways in turn and print a table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(passages, folder)
        right = reference(folder, QUERIES if passages <= 100_000 else 50)
        taken = {way: [] for way in ways}
        notes = {}
        for _ in range(rounds):
            for way in ways:
                repeats = 3 if passages <= 100_000 else 1
                command = [sys.executable, __file__, "--child", way, name, str(repeats)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    notes[way] = done.stderr.strip().splitlines()[-1]
                    continue
                seconds, memory, ids, route = json.loads(done.stdout.splitlines()[-1])
                taken[way] += seconds
                equal = np.mean([np.array_equal(a, b) for a, b in zip(np.array(ids), right, strict=False)])
                notes[way] = f"{memory:6.0f} MB   {100 * equal:5.1f}% of {len(right)} queries   {route}"
        print(f"\n{passages:,} passages, {QUERIES} queries; load {os.getloadavg()[0]:.1f} at the end")
        show(taken, notes)


def show(taken, notes):
    peer = np.median(taken[PEER]) if taken.get(PEER) else np.nan
    print(f"{'':<38} {'median s':>9} {'[least..most]':>16} {'faster':>7}  more memory   ids as in float64")
    for way, seconds in taken.items():
        if not seconds:
            print(f"{way:<38} failed: {notes[way]}")
            continue
        middle, span = np.median(seconds), f"[{min(seconds):.2f}..{max(seconds):.2f}]"
        print(f"{way:<38} {middle:9.2f} {span:>16} {peer / middle:6.2f}x  {notes[way]}")


def main():
    from _machine import describe

    print(describe())
    print(f"faster: than sentence_transformers.util.semantic_search {version('sentence-transformers')}")
    for passages in [int(a) for a in sys.argv[1:]] or [100_000, 1_000_000]:
        race(passages, 3, list(WAYS))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
