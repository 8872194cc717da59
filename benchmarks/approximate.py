"""Exact and approximate search of float16 shards of 384 dimensions: time, peak memory, recall@10.

    python benchmarks/approximate.py [PASSAGES [QUESTIONS …]]       1000000 passages; 1000 and 10000 questions

Each search runs in a process of its own, start and building of the index included. The approximate search includes the
measurement of its recall by an exact search of 256 questions. Files lie in a temporary folder (TMPDIR) and are removed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from _measure import machine, measure

CHILD = [sys.executable, str(Path(__file__).with_name("_scale_children.py"))]
WIDTH = "384"
ROUTES = {"exact": "numpy", "approximate": "faiss"}


def main() -> None:
    passages, *questions = sys.argv[1:] or ["1000000"]
    print(time.strftime("%Y-%m-%d"), machine(), sep="\n")
    with tempfile.TemporaryDirectory(prefix="embassay-approximate-") as name:
        shards = str(Path(name, "shards"))
        measure([*CHILD, "make", shards, passages, WIDTH])
        print(f"\n{int(passages):,} passages")
        print(f"{'questions':>9}  {'search':<12}{'seconds':>9}{'CPU s':>9}{'peak MB':>9}")
        for count in questions or ["1000", "10000"]:
            for title, route in ROUTES.items():
                cost = measure([*CHILD, "search", shards, count, route])
                how = cost.output.strip().splitlines()[-1]
                print(f"{int(count):>9,}  {title:<12}{cost.seconds:9.1f}{cost.cpu:9.1f}{cost.peak:9.0f}  {how}")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
