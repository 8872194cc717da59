"""What a run costs with 8 and with 32 encoders: comparisons must not grow with their pairs.

    python benchmarks/encoders.py xquad.en.json

Hashed words of different lengths on XQuAD's sentences (1,162 documents, 1,190 questions), one process, no cache of
vectors. Four times the encoders may take 4.2 times as long: each is compared with the reference and with the best
lexical baseline, and all of them once together, for the best set.
"""

from __future__ import annotations

import statistics
import sys
import time

from _machine import describe

from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest

FEW, MANY, ROUNDS = 8, 32, 3


def seconds(encoders: int, corpus: str) -> float:
    """Assay so many encoders and return the seconds of processor time."""
    specs = [f"h{place}=hashing,dim={192 + 4 * place}" for place in range(encoders)]
    plan = prepare(RunRequest(specs, [f"xquad={corpus}"], ["retrieval"]))
    start = time.process_time()
    execute(plan, workers=1)
    return time.process_time() - start


def main() -> None:
    """Time both in turn and print their ratio."""
    print(describe())
    few, many = [], []
    for _ in range(ROUNDS):
        few.append(seconds(FEW, sys.argv[1]))
        many.append(seconds(MANY, sys.argv[1]))
    ratios = [m / f for f, m in zip(few, many, strict=True)]
    print(f"{FEW} encoders {statistics.median(few):.1f} s, {MANY} encoders {statistics.median(many):.1f} s")
    print(f"ratio {statistics.median(ratios):.2f} [{min(ratios):.2f}..{max(ratios):.2f}]; goal: at most 4.2")


if __name__ == "__main__":
    main()
