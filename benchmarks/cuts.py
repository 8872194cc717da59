"""Do verdicts on how to divide documents come true? Twins of three corpora, at every number of words that is read.

    python benchmarks/cuts.py $EMBASSAY_DATA [--samples 1000]

all-MiniLM-L6-v2 reads the passages of XQuAD (English, German) and TeleQuAD, divided in two ways; a question scores 1 if
its answer is read within so many words. *False*: how often a rule calls one way better, in samples of documents in
which a coin decides for each document which way gets which answers, so neither is better. *Found*: how often it does in
samples whose documents keep their answers: the difference of the whole corpus is then the truth. Needs the extra
``minilm``.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
from item_tests import equal_pairs, not_best_in_resamples, over_units
from scipy import stats

from embassay.core.columns import read_columns
from embassay.run.command import carry_out
from embassay.run.request import RunRequest

CORPORA = {
    "XQuAD": ("xquad_en/xquad.en.json", "sentence", "paragraph"),
    "XQuAD, German": ("xquad_multi/xquad.de.json,language=de", "sentence", "paragraph"),
    "TeleQuAD": ("telequad/TeleQuAD-v4-full.json", "sentence", "50"),
}
"""The file, and the two ways to divide its articles."""
BUDGETS = (100, 200, 400, 800)
DOCUMENTS = 40


def t_over_documents(a, b, unit):
    """Return the p of a t-test of the sums of documents."""
    sums = np.bincount(unit, a - b)[np.unique(unit)]
    return stats.ttest_1samp(sums, 0).pvalue if sums.std() else 1.0


RULES = {
    "Embassay": (over_units, 0.05),
    "t-test over documents": (t_over_documents, 0.05),
    "best in 90 % of resamples of questions": (not_best_in_resamples, 0.1),
}
"""A rule speaks where its p is at most this level."""


def scores(data, corpus):
    """Return by number of words the (n,) scores of both ways, and the (n,) documents."""
    path, first, second = CORPORA[corpus]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        request = RunRequest(
            out=run,
            encoders=["all-MiniLM-L6-v2"],
            corpora=[f"corpus={data / path},documents=articles,passages=[{first},{second}]"],
            diagnostics=["answers,compare=all"],
            baselines=False,
            quiet=True,
        )
        with redirect_stdout(io.StringIO()):
            carry_out(request)
        columns = {
            (column.encoder.rpartition("=")[2], column.key.metric): column
            for column in read_columns(run)
            if not column.key.condition
        }
    for budget in BUDGETS:
        a, b = (columns[way, f"Answer@{budget}w"] for way in (first, second))
        is_located = ~np.isnan(a.value)
        yield budget, a.value[is_located], b.value[is_located], np.unique(a.unit[is_located], return_inverse=True)[1]


def real_pairs(a, b, unit, documents, repeats):
    """Yield samples of so many documents that keep their answers."""
    rng = np.random.default_rng([2, documents])
    questions_of = [np.flatnonzero(unit == document) for document in range(int(unit.max()) + 1)]
    for _ in range(repeats):
        drawn = [questions_of[document] for document in rng.integers(0, len(questions_of), documents)]
        place = np.concatenate(drawn)
        yield a[place], b[place], np.repeat(np.arange(documents), [len(questions) for questions in drawn])


def spoken(rule, level, samples):
    """Return the share of samples in which a rule calls one of the two better."""
    return float(np.mean([rule(*sample) <= level for sample in samples]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--samples", type=int, default=1000)
    arguments = parser.parse_args()
    print(f"Of {arguments.samples:,} samples of {DOCUMENTS} documents, in percent: false / found\n")
    print("| corpus | words | difference | " + " | ".join(RULES) + " |")
    print("|---|---|---|" + "---|" * len(RULES))
    for corpus in CORPORA:
        for budget, a, b, unit in scores(arguments.data, corpus):
            cells = []
            for rule, level in RULES.values():
                false = spoken(rule, level, equal_pairs(a, b, unit, DOCUMENTS, arguments.samples))
                found = spoken(rule, level, real_pairs(a, b, unit, DOCUMENTS, arguments.samples))
                cells.append(f"{100 * false:.1f} / {100 * found:.1f}")
            gain = 100 * float(np.mean(a - b))
            print(f"| {corpus} | {budget} | {gain:+.1f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
