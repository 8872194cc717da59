"""The accuracies that Vahtola et al. (2022) print for 114 models, beside the measured ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from embassay.core.result import Series
from embassay.core.types import Origin
from embassay.diagnostics.published import published, published_name, table

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


def published_model(origin: Origin) -> Mapping[str, Any]:
    """Return name, accuracy (percent) and group of a published model; empty if the paper does not have it."""
    models: Mapping[str, Mapping[str, Any]] = {model["name"]: model for model in published("semantoneg")["models"]}
    return models.get(published_name(origin), {})


def measured_groups(accuracies: Mapping[str, float | None], origins: Mapping[str, Origin]) -> Iterator[Series]:
    """Yield the spread of the accuracies in each group of several encoders, as the paper's figure 1 has it.

    Parameters
    ----------
    accuracies, origins
        Accuracy (a fraction) and origin of each encoder. A group that the user names counts more than the paper's.
    """
    accuracies_of = {group: list[float]() for group in GROUPS}
    for encoder, origin in origins.items():
        group, accuracy = group_of(origin), accuracies[encoder]
        if group and accuracy is not None:
            accuracies_of.setdefault(group, []).append(accuracy)
    lines = [_spread(group, values) for group, values in accuracies_of.items() if len(values) > 1]
    if lines:
        first = next(iter(origins.values()))
        yield table(first.diagnostic, first.corpus, "measured_groups", SPREAD, lines)


def group_of(origin: Origin) -> str:
    """Return the group that the user put an encoder into, else the paper's group of the model; empty for none."""
    return origin.group or str(published_model(origin).get("group", ""))


def _spread(group: str, accuracies: Sequence[float]) -> list[object]:
    """Return a line of the columns :data:`SPREAD`."""
    values = np.array(accuracies)
    mean, deviation = float(values.mean()), float(values.std(ddof=1))
    return [group, len(values), mean, deviation, float(values.min()), float(values.max())]


def beside_published(diagnostic: str, corpus: str, measured: Mapping[str, tuple[Origin, float]]) -> Iterator[Series]:
    """Yield the published points by group, their spread, and the models with those that are measured.

    Parameters
    ----------
    measured
        Origin and accuracy (a fraction) of each encoder by label. A spec with options is another model.
    """
    paper = published("semantoneg")
    source = paper["source"]
    models = [{**model, "accuracy": model["accuracy"] / 100} for model in paper["models"]]
    own = [{"name": label, "accuracy": value, "group": group_of(origin)} for label, (origin, value) in measured.items()]
    points = {"groups": GROUPS, "points": models, "own": own, "value": "accuracy", "source": source}
    yield Series(diagnostic, corpus, "published", "points", points)

    spread = [_spread(group, [model["accuracy"] for model in models if model["group"] == group]) for group in GROUPS]
    yield table(diagnostic, corpus, "published_groups", SPREAD, spread, source)

    listed = [[model["group"], model["name"], model["accuracy"], "published"] for model in models]
    listed += [[group_of(origin), label, value, "measured here"] for label, (origin, value) in measured.items()]
    listed.sort(key=lambda line: (-line[2], line[1]))
    yield table(diagnostic, corpus, "published_models", LISTED, listed, source)


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
