"""Localization with folds and encoders side by side in processes, beside one after another; vectors from the cache.

    python benchmarks/localization.py FOLDER_OF_MSRP

The same plan is carried out by one process and by one for each core, in turn, round by round, scores never kept. The
processes stay for the next round; the first one, in which they start and import scikit-learn, is shown apart. Both
must give the same bytes.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from _machine import describe

from embassay.engine.cores import cores
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.store.results import to_bytes

ENCODERS = (
    "all-MiniLM-L6-v2",
    "half=all-MiniLM-L6-v2,dim=192",
    "raw=all-MiniLM-L6-v2,normalize=true,dim=256",
    "bow,tokens=treebank",
    "tfidf",
)
ROUNDS = 3


def main() -> None:
    """Time both ways and compare their bytes."""
    print(describe())
    taken: dict[int, list[float]] = {1: [], cores(): []}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        corpus = f"msrp={sys.argv[1]}"
        request = RunRequest(ENCODERS, [corpus], ["localization"], baselines=False, cache=Path(folder), quiet=True)
        plan = prepare(request)
        execute(plan, workers=1)
        start = time.perf_counter()
        execute(plan)
        print(f"processes {cores()}: {time.perf_counter() - start:6.2f} s with their start")
        for _ in range(ROUNDS):
            for count, seconds in taken.items():
                start = time.perf_counter()
                outcome = execute(plan, workers=count)
                seconds.append(time.perf_counter() - start)
                found[count] = to_bytes(outcome.result)
    for count, seconds in taken.items():
        middle = statistics.median(seconds)
        ratio = statistics.median(taken[1]) / middle
        spread = f"[{min(seconds):.2f}..{max(seconds):.2f}]"
        print(f"processes {count}: {middle:6.2f} s {spread}  {ratio:.2f}×")
    print("same bytes" if len(set(found.values())) == 1 else "DIFFERENT BYTES")


if __name__ == "__main__":
    main()
