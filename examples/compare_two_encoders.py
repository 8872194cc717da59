"""Assay two encoders on one corpus and print all results: python compare_two_encoders.py [CORPUS]."""

from __future__ import annotations

import sys
from pathlib import Path

import embassay as ea


def main(source: str, folder: Path) -> None:
    """Print the results of an assay, and write its report."""
    corpus = ea.load(source)
    print(f"{corpus.name}: {len(corpus.samples)} samples, {corpus.audit().units} independent units")

    result = ea.assay(["bow", "small=hashing,dim=64"], [corpus], seed=0, resamples=200, cache=None)
    print(result.table().select("encoder", "diagnostic", "metric", "subset", "value", "low", "high"))

    for row in result.rows:
        if row.value is None:
            print(f"{row.encoder}: no {row.metric} of {row.subset}: {row.reason}")
        elif row.low is not None and row.high is not None:
            print(f"{row.encoder}: {row.metric} of {row.subset} is {row.value:.3f} [{row.low:.3f}, {row.high:.3f}]")
    for comparison in result.comparisons:
        if comparison.p_holm is not None and comparison.p_holm <= 0.05:
            print(f"{comparison.metric}: {comparison.a} − {comparison.b} = {comparison.difference}")
    for verdict in result.verdicts:
        if verdict.best_set:
            print(f"{verdict.diagnostic}: possibly the best: {', '.join(verdict.best_set)}")
        elif verdict.reason:
            print(f"{verdict.diagnostic}: no best encoder: {verdict.reason}")
    for finding in result.findings:
        print(finding.sentence)

    encoder = ea.encoder("hashing,dim=64")
    vectors = encoder.encode(["It is open.", "It is not open."], role="text")
    print(f"{encoder.name} gives vectors of shape {vectors.shape}")
    print(f"report: {ea.report(result, folder / 'report.html')}")


if __name__ == "__main__":
    try:
        main(sys.argv[1] if len(sys.argv) > 1 else "opposites", Path.cwd())
    except ea.EmbassayError as error:
        sys.exit(f"compare_two_encoders: {error}")
