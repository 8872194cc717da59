"""The accuracies that Vahtola et al. (2022) print for 114 models, beside the measured ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from embassay.types import Series

GROUPS = ("general", "paraphrase", "nli", "stsb", "other")
"""The paper's fine-tuning objectives, in the order of its tables 3-6."""


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
    source = {"source": paper["source"]}
    points = {"groups": GROUPS, "points": models, "own": own, "value": "accuracy", **source}
    yield Series(diagnostic, corpus, "published", "points", points)
    columns = ("fine-tuned on", "models", "mean", "standard deviation", "lowest", "highest")
    rows = [_spread(g, [m["accuracy"] for m in models if m["group"] == g]) for g in GROUPS]
    yield Series(diagnostic, corpus, "published_groups", "table", {"columns": columns, "rows": rows, **source})
    known = {m["name"]: m["accuracy"] for m in models}
    names = {label: (_published_name(spec), value) for label, (spec, value) in measured.items()}
    both = [[label, n, known[n], value, value - known[n]] for label, (n, value) in names.items() if n in known]
    if both:
        columns = ("encoder", "published as", "published", "measured", "measured − published")
        yield Series(diagnostic, corpus, "published_and_measured", "table", {"columns": columns, "rows": both, **source})


def _published_name(spec: str) -> str:
    return spec.removeprefix("st:").removeprefix("sentence-transformers/")


def _spread(group: str, accuracy: list[float]) -> list[Any]:
    values = np.array(accuracy)
    return [group, len(values), *map(float, (values.mean(), values.std(ddof=1), values.min(), values.max()))]
