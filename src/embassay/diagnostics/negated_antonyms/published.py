"""The accuracies that Vahtola et al. (2022) print for 114 models, beside the measured ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from embassay.diagnostics.published import published, published_name, table
from embassay.result import Series

GROUPS = ("general", "paraphrase", "nli", "stsb", "other")
"""The paper's fine-tuning objectives, in the order of its tables 3-6."""

SPREAD = {
    "fine-tuned on": "text",
    "models": "count",
    "mean": "percent",
    "standard deviation": "percent",
    "lowest": "percent",
    "highest": "percent",
}
LISTED = {"fine-tuned on": "text", "model": "text", "accuracy": "percent", "figure": "text"}
HARDEST = {"words": "text", "wrong by the paper's 12 best": "count", "wrong by the best set here": "count"}
BOTH = {
    "encoder": "text",
    "published as": "text",
    "published": "percent",
    "measured": "percent",
    "measured − published": "points",
}


def published_accuracy(spec: str) -> float | None:
    """Return the published accuracy of an encoder, a fraction; None if the paper does not have it."""
    for model in published("semantoneg")["models"]:
        if model["name"] == published_name(spec):
            return float(model["accuracy"]) / 100
    return None


def beside_published(diagnostic: str, corpus: str, measured: Mapping[str, tuple[str, float]]) -> Iterator[Series]:
    """Yield the published points by group, their spread, and the models that are also measured.

    Parameters
    ----------
    measured
        Spec and accuracy (a fraction) of each encoder by label. A spec with options is another model.
    """
    paper = published("semantoneg")
    source = paper["source"]
    models = [{**model, "accuracy": model["accuracy"] / 100} for model in paper["models"]]
    yield Series(
        diagnostic,
        corpus,
        "published",
        "points",
        {
            "groups": GROUPS,
            "points": models,
            "own": [{"name": label, "accuracy": value} for label, (_, value) in measured.items()],
            "value": "accuracy",
            "source": source,
        },
    )

    spread = list[list[object]]()
    for group in GROUPS:
        accuracies = np.array([model["accuracy"] for model in models if model["group"] == group])
        mean, deviation = float(accuracies.mean()), float(accuracies.std(ddof=1))
        spread.append([group, len(accuracies), mean, deviation, float(accuracies.min()), float(accuracies.max())])
    yield table(diagnostic, corpus, "published_groups", SPREAD, spread, source)

    listed = [[model["group"], model["name"], model["accuracy"], "published"] for model in models]
    listed += [["", label, value, "measured here"] for label, (_, value) in measured.items()]
    listed.sort(key=lambda line: (-line[2], line[1]))
    yield table(diagnostic, corpus, "published_models", LISTED, listed, source)

    published_accuracy = {model["name"]: model["accuracy"] for model in models}
    both = list[list[object]]()
    for label, (spec, value) in measured.items():
        name = published_name(spec)
        if name in published_accuracy:
            both.append([label, name, published_accuracy[name], value, value - published_accuracy[name]])
    if both:
        yield table(diagnostic, corpus, "published_and_measured", BOTH, both, source)


def hardest_published(diagnostic: str, corpus: str, wrong: Counter[str]) -> Series:
    """Return how many entries of each word pair the paper's 12 best models all get wrong, and the best set here.

    Parameters
    ----------
    wrong
        The entries that all encoders of the best set get wrong, by part of speech and pair (``adjective:bad–good``).
    """
    paper = published("semantoneg")["best"]
    by_pair: Mapping[str, int] = paper["pairs"]
    rows = list[list[object]]()
    for pair, count in by_pair.items():
        words = pair.partition(":")[2]
        rows.append([words, count, wrong[pair]])
    total_published = paper["wrong_by_all"]
    total_here = wrong.total()
    others_published = total_published - sum(by_pair.values())
    others_here = total_here - sum(wrong[pair] for pair in by_pair)
    rows.append(["all other words", others_published, others_here])
    rows.append(["all", total_published, total_here])
    return table(diagnostic, corpus, "published_hardest", HARDEST, rows, paper["source"])
