"""The accuracies that Vahtola et al. (2022) print for 114 models, beside the measured ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np

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
BOTH = {
    "encoder": "text",
    "published as": "text",
    "published": "percent",
    "measured": "percent",
    "measured − published": "points",
}


def published() -> Mapping[str, Any]:
    """Return the published accuracies (percent) of 114 models with their fine-tuning groups and the source."""
    text = files("embassay.data").joinpath("published_semantoneg.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def beside_published(diagnostic: str, corpus: str, measured: Mapping[str, tuple[str, float]]) -> Iterator[Series]:
    """Yield the published points by group, their spread, and the models that are also measured.

    Parameters
    ----------
    measured
        Spec and accuracy (a fraction) of each encoder by label. A spec with options is another model.
    """
    paper = published()
    models = [{**m, "accuracy": m["accuracy"] / 100} for m in paper["models"]]
    own = [{"name": label, "accuracy": value} for label, (_, value) in measured.items()]
    table = partial(_table, diagnostic, corpus, paper["source"])
    points = {"groups": GROUPS, "points": models, "own": own, "value": "accuracy", "source": paper["source"]}
    yield Series(diagnostic, corpus, "published", "points", points)
    spread = [_spread(g, [m["accuracy"] for m in models if m["group"] == g]) for g in GROUPS]
    yield table("published_groups", SPREAD, spread)
    listed = [[m["group"], m["name"], m["accuracy"], "published"] for m in models]
    listed += [["", o["name"], o["accuracy"], "measured here"] for o in own]
    yield table("published_models", LISTED, sorted(listed, key=lambda row: (-row[2], row[1])))
    known = {m["name"]: m["accuracy"] for m in models}
    names = {label: (_published_name(spec), value) for label, (spec, value) in measured.items()}
    both = [[label, n, known[n], value, value - known[n]] for label, (n, value) in names.items() if n in known]
    if both:
        yield table("published_and_measured", BOTH, both)


def _table(
    diagnostic: str, corpus: str, source: str, name: str, columns: Mapping[str, str], rows: list[list[Any]]
) -> Series:
    data = {"columns": tuple(columns), "formats": tuple(columns.values()), "rows": rows, "source": source}
    return Series(diagnostic, corpus, name, "table", data)


def _published_name(spec: str) -> str:
    return spec.removeprefix("st:").removeprefix("sentence-transformers/")


def _spread(group: str, accuracy: list[float]) -> list[Any]:
    values = np.array(accuracy)
    return [group, len(values), *map(float, (values.mean(), values.std(ddof=1), values.min(), values.max()))]
