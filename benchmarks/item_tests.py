"""The same scores judged question by question, as most tools do, and document by document, as Embassay does.

    python benchmarks/item_tests.py $EMBASSAY_DATA/xquad_en/xquad.en.json [--twins 2000]

all-MiniLM-L6-v2 and bm25 search the sentences of XQuAD; a question scores 1 if a right sentence is among the first 5.
Printed is the p of each rule for their difference, and how often the rule calls two equally good systems different at
5 %. These twins keep the questions of a document together: for each document a coin decides which of the two systems
gets which answers, so neither is better. Needs the extra ``minilm``.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
from scipy import stats

from embassay.comparison.runs import read_run
from embassay.run.command import carry_out
from embassay.run.request import RunRequest
from embassay.stats.families import Roles, compare_means
from embassay.types import Draws

SYSTEMS = ("all-MiniLM-L6-v2", "bm25")


def scores(path):
    """Return the (n,) scores of both systems and the (n,) documents of the questions."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        corpora = [f"xquad={path},documents=sentences"]
        with redirect_stdout(io.StringIO()):
            carry_out(
                RunRequest(out=run, encoders=list(SYSTEMS), corpora=corpora, diagnostics=["retrieval"], quiet=True)
            )
        of_system = read_run(run).tasks["retrieval", "xquad"].scores
    first, second = (of_system[name].values["Success@5"] for name in SYSTEMS)
    return first, second, of_system[SYSTEMS[0]].unit


def t_over_items(a, b, unit):
    return stats.ttest_rel(a, b).pvalue


def permutation_over_items(a, b, unit):
    rng = np.random.default_rng(0)
    gaps = (a - b)[a != b]
    drawn = rng.choice([-1.0, 1.0], size=(2000, len(gaps))) @ gaps
    return (1 + np.sum(np.abs(drawn) >= abs(gaps.sum()) - 1e-9)) / 2001


def over_units(a, b, unit):
    (found,) = compare_means({"b": b, "a": a}, unit, Roles(("b", "a")), Draws(0, 200), of_shares=True)
    return found.p


RULES = {
    "paired t-test over questions": t_over_items,
    "permutation of questions": permutation_over_items,
    "exchange of whole documents (Embassay)": over_units,
}


def twins(a, b, unit, repeats):
    """Yield pairs of systems of which neither is better: a coin for each document decides who is who."""
    rng = np.random.default_rng(1)
    for _ in range(repeats):
        is_swapped = rng.random(int(unit.max()) + 1)[unit] < 0.5
        yield np.where(is_swapped, b, a), np.where(is_swapped, a, b)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("xquad", type=Path)
    parser.add_argument("--twins", type=int, default=2000)
    arguments = parser.parse_args()
    a, b, unit = scores(arguments.xquad)
    (found,) = compare_means({"b": b, "a": a}, unit, Roles(("b", "a")), Draws(0, 2000), of_shares=True)
    print(f"{len(a):,} questions about {len(np.unique(unit))} documents; {SYSTEMS[0]} − {SYSTEMS[1]}:")
    print(f"{100 * found.difference:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}] over documents")
    false_alarms = dict.fromkeys(RULES, 0)
    for first, second in twins(a, b, unit, arguments.twins):
        for name, rule in RULES.items():
            false_alarms[name] += rule(first, second, unit) <= 0.05
    print(f"\n{'rule':<42} {'p':>6}  false alarms, of {arguments.twins:,} equally good pairs")
    for name, rule in RULES.items():
        print(f"{name:<42} {rule(a, b, unit):6.3f}  {false_alarms[name] / arguments.twins:6.1%}")


if __name__ == "__main__":
    main()
