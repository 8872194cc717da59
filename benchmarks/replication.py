"""Do the verdicts come true? Half of the documents speak, the other half and a known truth judge.

    python benchmarks/replication.py $EMBASSAY_DATA [--splits 200]
    python benchmarks/replication.py scores.csv      # question,document,system,score: the scores of any tool
    python benchmarks/replication.py RUN             # a finished run, such as the run in a folder of embassay adapt

Several systems answer questions about documents. The documents are split into halves many times. On one half a rule
says for each pair of systems which is better, if it can, and which systems may be the best; then the other half is
looked at. A rule is one function in ``RULES``.

On real scores nobody knows which statement is false: a difference that the other half does not have may still be real.
So there are twins of each corpus, whose truth is known. A sample has half as many documents, drawn with replacement,
and the documents of the corpus are the population. Of every two neighbours in the ranking, a coin decides for each
document who gets whose answers, so these two are equally good and hang together as real systems do; systems of
different pairs differ by what the pairs' means differ in the population. Needs the extra ``minilm``.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from embassay.core.columns import read_columns
from embassay.core.metric_key import MetricKey
from embassay.core.result import worse_systems
from embassay.core.types import Draws
from embassay.run.command import carry_out
from embassay.run.request import RunRequest
from embassay.stats.families import Roles, compare_means
from embassay.stats.labels import Labels
from embassay.stats.permutation import holm

MODELS = ["all-MiniLM-L6-v2,dim=[384,320,256,192,128,96,64]", "bow", "tfidf"]
CORPORA = {
    "XQuAD, sentences": ("xquad_en/xquad.en.json,documents=sentences", "retrieval", ["bm25"]),
    "XQuAD, paragraphs": ("xquad_en/xquad.en.json,documents=paragraphs", "retrieval", ["bm25"]),
    "TeleQuAD": ("telequad/TeleQuAD-v4-full.json", "retrieval", ["bm25"]),
    "SemAntoNeg, by adjective": ("semantoneg/SemAntoNeg_v1.0.json", "negated_antonyms", []),
}
DRAWN = 1000
"""Permutations and resamples of the rules over questions."""


# --- rules: (K, n) scores and the (n,) documents -> (K, K) whether i is called better than j, and who may be the best


def first_in_the_table(scores, unit):
    means = scores.mean(axis=1)
    return means[:, None] > means, means == means.max()


def from_p(scores, p):
    """Return what (K, K) p-values say: the best set has all that are not called worse than another."""
    means = scores.mean(axis=1)
    better = (p <= 0.05) & (means[:, None] > means)
    return better, ~better.any(axis=0)


def t_over_questions(scores, unit):
    return from_p(scores, p_of_t(scores[:, None] - scores))


def t_over_questions_with_holm(scores, unit):
    return from_p(scores, with_holm(p_of_t(scores[:, None] - scores)))


def t_over_documents_with_holm(scores, unit):
    sums = np.stack([np.bincount(unit, row)[np.unique(unit)] for row in scores])
    return from_p(scores, with_holm(p_of_t(sums[:, None] - sums)))


def p_of_t(gaps):
    """Return the (K, K) p-values of t-tests of (K, K, n) differences."""
    errors = gaps.std(axis=2, ddof=1) / np.sqrt(gaps.shape[2])
    t = np.divide(gaps.mean(axis=2), errors, out=np.zeros_like(errors), where=errors > 0)
    return 2 * stats.t.sf(np.abs(t), gaps.shape[2] - 1)


def with_holm(p):
    """Return (K, K) p-values after Holm's correction over all pairs."""
    corrected = np.ones_like(p)
    upper = np.triu_indices(len(p), 1)
    corrected[upper] = holm(p[upper])
    return np.minimum(corrected, corrected.T)


def permutation_of_questions(scores, unit):
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], size=(DRAWN, scores.shape[1]))
    p = np.ones((len(scores), len(scores)))
    for row, own in enumerate(scores):
        gaps = scores - own
        extreme = np.abs(signs @ gaps.T) >= np.abs(gaps.sum(axis=1)) - 1e-9
        p[row] = (1 + extreme.sum(axis=0)) / (1 + DRAWN)
    return from_p(scores, p)


def bootstrap_of_questions(scores, unit):
    rng = np.random.default_rng(0)
    n = scores.shape[1]
    means = rng.multinomial(n, np.full(n, 1 / n), size=DRAWN) @ scores.T / n
    gaps = means[:, :, None] - means[:, None, :]
    better = np.quantile(gaps, 0.025, axis=0) > 0
    return better, ~better.any(axis=0)


def over_documents(scores, unit, *, corrected=False):
    names = [str(place) for place in range(len(scores))]
    values = dict(zip(names, scores, strict=True))
    p = np.ones((len(scores), len(scores)))
    of_shares = bool(np.isin(scores, (0, 1)).all())
    labels, options = Labels.of(unit), {"of_shares": of_shares, "is_bounded": of_shares}
    found = compare_means(MetricKey("accuracy"), values, labels, Roles(tuple(names)), Draws(0, 100), **options)
    for one in found:
        a, b = int(one.a), int(one.b)
        p[a, b] = p[b, a] = one.p_holm if corrected else one.p
    better, best = from_p(scores, p)
    if corrected:
        best = ~np.isin(names, list(worse_systems(found)))
    return better, best


RULES = {
    "first in the table": first_in_the_table,
    "paired t-test over questions": t_over_questions,
    "permutation of questions": permutation_of_questions,
    "bootstrap of questions": bootstrap_of_questions,
    "t-test over questions, Holm": t_over_questions_with_holm,
    "t-test over documents, Holm": t_over_documents_with_holm,
    "Embassay, each pair alone": over_documents,
    "Embassay, corrected": lambda scores, unit: over_documents(scores, unit, corrected=True),
}


# --- scores ----------------------------------------------------------------------------------------------


def scores_of(data, corpus):
    """Return the (K, n) scores of the systems on a corpus, and the (n,) documents."""
    path, diagnostic, more = CORPORA[corpus]
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        request = RunRequest(
            out=run,
            encoders=[*MODELS, *more],
            corpora=[f"corpus={data / path}"],
            diagnostics=[diagnostic],
            quiet=True,
            resamples=100,
        )
        with redirect_stdout(io.StringIO()):
            carry_out(request)
        (scores,) = scores_by_task(run).values()
    return scores


def scores_by_task(run):
    """Return by diagnostic and corpus the (K, n) scores of the systems of a run, and the (n,) documents."""
    by_task = {}
    for column in read_columns(run):
        if column.is_headline and not column.encoder.startswith("random"):
            by_task.setdefault(column.task, []).append(column)
    scores = {}
    for task, columns in by_task.items():
        values = np.stack([column.value for column in columns])
        is_defined = ~np.isnan(values).any(axis=0)
        labels = Labels.of(columns[0].unit, columns[0].unit_labels)
        scores[task] = (values[:, is_defined], components(labels)[is_defined])
    return scores


def components(labels):
    """Return the (n,) connected component of each item by its labels: two halves share no document."""
    nodes = labels.sets + labels.labels
    label_set, label = labels.pairs.T
    edges = coo_array((np.ones(len(label)), (label_set, labels.sets + label)), shape=(nodes, nodes))
    component = connected_components(edges, directed=False)[1][labels.label_set]
    return np.unique(component, return_inverse=True)[1]


def scores_from(path):
    """Return the (K, n) scores of the systems of a CSV or JSON Lines file, and the (n,) documents."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file)) if path.suffix == ".csv" else [json.loads(line) for line in file]
    systems = list(dict.fromkeys(line["system"] for line in lines))
    document_of = {line["question"]: line["document"] for line in lines}
    score_of = {(line["system"], line["question"]): float(line["score"]) for line in lines}
    scores = np.array([[score_of[system, question] for question in document_of] for system in systems])
    return scores, np.unique(list(document_of.values()), return_inverse=True)[1]


# --- splits and twins ------------------------------------------------------------------------------------


def halves(unit, rng):
    """Return two (n,) masks, of the questions about either half of the documents."""
    documents = int(unit.max()) + 1
    is_first = np.isin(np.arange(documents), rng.permutation(documents)[: documents // 2])
    return is_first[unit], ~is_first[unit]


def twin(scores, unit, rng):
    """Return the scores and documents of a sample; the systems must be sorted by their means."""
    documents = int(unit.max()) + 1
    parts, units = [], []
    for number, document in enumerate(rng.integers(0, documents, size=documents // 2)):
        part = scores[:, unit == document].copy()
        for first in range(0, len(scores) - 1, 2):
            if rng.random() < 0.5:
                part[[first, first + 1]] = part[[first + 1, first]]
        parts.append(part)
        units.append(np.full(part.shape[1], number))
    return np.concatenate(parts, axis=1), np.concatenate(units)


def truth_of_twins(scores):
    """Return the (K,) true means of the twins: that of each pair of neighbours."""
    means = scores.mean(axis=1)
    for first in range(0, len(means) - 1, 2):
        means[first : first + 2] = means[first : first + 2].mean()
    return means


def judged(rule, samples):
    """Return how often a rule speaks, is wrong, is wrong in a sample, finds what is true, and misses the best.

    Parameters
    ----------
    samples
        Of (scores, documents, the (K,) means that judge).
    """
    spoken = wrong = pairs = split_errors = found = true = missed = 0
    for scores, unit, means in samples:
        better, may_be_best = rule(scores, unit)
        is_true = means[:, None] > means + 1e-12
        spoken += better.sum()
        wrong += (better & ~is_true).sum()
        split_errors += (better & ~is_true).any()
        pairs += len(means) * (len(means) - 1) / 2
        found += (better & is_true).sum()
        true += is_true.sum()
        missed += not may_be_best[means >= means.max() - 1e-12].any()
    number = len(samples)
    return spoken / pairs, wrong / max(spoken, 1), split_errors / number, found / max(true, 1), missed / number


def report(name, scores, unit, splits):
    """Print the table of a corpus and of its twins."""
    scores = scores[np.argsort(-scores.mean(axis=1), kind="stable")]
    rng = np.random.default_rng(0)
    real, twins, truth = [], [], truth_of_twins(scores)
    for _ in range(splits):
        first, second = halves(unit, rng)
        real.append((scores[:, first], unit[first], scores[:, second].mean(axis=1)))
        twins.append((*twin(scores, unit, rng), truth))
    size = f"{scores.shape[1]:,} questions about {len(np.unique(unit))} documents"
    print(f"\n{name}: {len(scores)} systems, {size}, {splits} splits")
    print(f"{'':<32}   real: the other half      twins: the truth")
    print(f"{'':<32} speaks reversed best missed   false  any false  true found  best missed")
    for label, rule in RULES.items():
        speaks, is_reversed, _, _, real_missed = judged(rule, real)
        _, false, any_false, found, twin_missed = judged(rule, twins)
        print(
            f"{label:<32} {speaks:6.1%} {is_reversed:8.1%} {real_missed:11.1%} {false:7.1%} {any_false:10.1%} "
            f"{found:11.1%} {twin_missed:12.1%}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of the public data, or a file of scores")
    parser.add_argument("--splits", type=int, default=200)
    arguments = parser.parse_args()
    if arguments.data.is_file():
        report(arguments.data.name, *scores_from(arguments.data), arguments.splits)
        return
    if (arguments.data / "result.json").is_file():
        for task, scores in scores_by_task(arguments.data).items():
            report(" on ".join(task), *scores, arguments.splits)
        return
    for corpus in CORPORA:
        report(corpus, *scores_of(arguments.data, corpus), arguments.splits)


if __name__ == "__main__":
    main()
