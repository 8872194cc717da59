"""The vector cache: two processes write 50,000 vectors of 384 numbers each, one then reads 50,000 in one call.

    python benchmarks/cache.py [VECTORS]       50000 for each writer unless given

The blocks are those of a run (128 texts). Each figure is the shortest of three, in seconds, with the files in memory.
"""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIM, BLOCK, ROUNDS = 384, 128, 3


def texts(name, count):
    return [("text", f"{name}: sentence number {n}, of a usual length for a sentence") for n in range(count)]


def fill(folder, name, count):
    from embassay.store.cache import VectorCache

    rows = np.random.default_rng(0).standard_normal((BLOCK, DIM), dtype=np.float32)
    keys = texts(name, count)
    with VectorCache(folder) as cache:
        for start in range(0, count, BLOCK):
            block = keys[start : start + BLOCK]
            cache.put("model", block, rows[: len(block)])
        assert not cache.trouble, cache.trouble


def write(folder, count):
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=fill, args=(folder, name, count)) for name in ("one", "two")]
    start = time.perf_counter()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    return time.perf_counter() - start


def read(folder, count):
    from embassay.store.cache import VectorCache

    start = time.perf_counter()
    with VectorCache(folder) as cache:
        opened = time.perf_counter()
        rows = cache.get("model", texts("one", count))
        done = time.perf_counter()
    assert all(row is not None for row in rows)
    return opened - start, done - opened


def main():
    from _machine import describe

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    print(describe(), end="\n\n")
    wrote, opened, got = [], [], []
    for _ in range(ROUNDS):
        folder = Path(tempfile.mkdtemp(prefix="embassay-cache-"))
        try:
            wrote.append(write(folder, count))
            times = read(folder, count)
            opened.append(times[0])
            got.append(times[1])
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        finally:
            shutil.rmtree(folder)
    print(f"2 × {count:,} vectors of {DIM} written by two processes, their start included  {min(wrote):6.2f} s")
    print(f"{count:,} read in one call                                                {min(got):6.2f} s")
    print(f"opening                                                               {min(opened):6.3f} s")
    print(f"files: {size / 2 / count / DIM / 4:.2f} times the size of the vectors")


if __name__ == "__main__":
    main()
