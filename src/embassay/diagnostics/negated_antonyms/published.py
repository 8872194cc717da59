"""The accuracies that Vahtola et al. (2022) print for 114 models, beside the measured ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

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


def beside_published(diagnostic: str, corpus: str, measured: Mapping[str, tuple[str, float]]) -> Iterator[Series]:
    """Yield the published points by group, their spread, and the models that are also measured.

    Parameters
    ----------
    measured
        Spec and accuracy (a fraction) of each encoder by label. A spec with options is another model.
    """
    paper = published("semantoneg")
    models = [{**m, "accuracy": m["accuracy"] / 100} for m in paper["models"]]
    own = [{"name": label, "accuracy": value} for label, (_, value) in measured.items()]
    as_table = partial(table, diagnostic, corpus, source=paper["source"])
    points = {"groups": GROUPS, "points": models, "own": own, "value": "accuracy", "source": paper["source"]}
    yield Series(diagnostic, corpus, "published", "points", points)
    spread = [_spread(g, [m["accuracy"] for m in models if m["group"] == g]) for g in GROUPS]
    yield as_table("published_groups", SPREAD, spread)
    listed = [[m["group"], m["name"], m["accuracy"], "published"] for m in models]
    listed += [["", o["name"], o["accuracy"], "measured here"] for o in own]
    yield as_table("published_models", LISTED, sorted(listed, key=lambda row: (-row[2], row[1])))
    known = {m["name"]: m["accuracy"] for m in models}
    names = {label: (published_name(spec), value) for label, (spec, value) in measured.items()}
    both = [[label, n, known[n], value, value - known[n]] for label, (n, value) in names.items() if n in known]
    if both:
        yield as_table("published_and_measured", BOTH, both)


def hardest_published(diagnostic: str, corpus: str, wrong: Counter[str]) -> Series:
    """Return how many entries of a pair of words the paper's 12 best models all get wrong, and the best set here.

    Parameters
    ----------
    wrong
        The entries that all encoders of the best set get wrong, by part of speech and pair (``adjective:bad–good``).
    """
    paper = published("semantoneg")["best"]
    pairs = paper["pairs"]
    rows = [[pair.partition(":")[2], count, wrong[pair]] for pair, count in pairs.items()]
    others = sum(wrong.values()) - sum(wrong[pair] for pair in pairs)
    rows.append(["all other words", paper["wrong_by_all"] - sum(pairs.values()), others])
    rows.append(["all", paper["wrong_by_all"], sum(wrong.values())])
    return table(diagnostic, corpus, "published_hardest", HARDEST, rows, paper["source"])


def _spread(group: str, accuracy: list[float]) -> list[Any]:
    values = np.array(accuracy)
    return [group, len(values), *map(float, (values.mean(), values.std(ddof=1), values.min(), values.max()))]
