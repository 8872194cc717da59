"""What Chiang et al. (2023) see by training data (their figures 1 and 2): the encoders of a run in the same groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from embassay.diagnostics.published import published, published_name, table
from embassay.result import Series


def by_training(
    diagnostic: str,
    corpus: str,
    specs: Mapping[str, str],
    similarity: Mapping[tuple[str, str], float | None],
    labels: Mapping[str, str],
) -> Iterator[Series]:
    """Yield the similarity of each edit for the encoders that the paper has, grouped by what they were fine-tuned on.

    Groups stand in the paper's order, each with its mean where it has several encoders. Nothing where no encoder is one
    of the paper's; a spec with options of its own is another model.

    Parameters
    ----------
    specs
        The spec of each encoder by label.
    similarity
        The normalised similarity by encoder and edit; None where it is undefined.
    labels
        What each edit is called; the table's columns.
    """
    paper = published("heros")
    rows: list[list[Any]] = []
    for group in paper["groups"]:
        members = [encoder for encoder, spec in specs.items() if published_name(spec) in group["models"]]
        figures = [[similarity.get((encoder, edit)) for edit in labels] for encoder in members]
        name = group["fine_tuned_on"]
        rows += [[name, encoder, *line] for encoder, line in zip(members, figures, strict=True)]
        if len(members) > 1:
            rows.append([name, f"mean of {len(members)}", *map(_mean, zip(*figures, strict=True))])
    if rows:
        columns = {"fine-tuned on": "text", "encoder": "text", **dict.fromkeys(labels.values(), "number")}
        yield table(diagnostic, corpus, "by_training", columns, rows, paper["source"])


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of a group; None where one of its encoders has no value, as the mean is then of another group."""
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if len(defined) == len(values) else None
