"""Similarities of a run's encoders in the training-data groups of Chiang et al. (2023, figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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

    Groups follow the paper's order. A group of several encoders ends with a row of means. Yields nothing if no encoder
    is in the paper; a spec with options counts as another model.

    Parameters
    ----------
    specs
        The spec of each encoder by label.
    similarity
        The normalised similarity by encoder and edit; None where it is undefined.
    labels
        Column heading of each edit.
    """
    paper = published("heros")
    lines = list[list[object]]()
    for group in paper["groups"]:
        name = group["fine_tuned_on"]
        members = [encoder for encoder, spec in specs.items() if published_name(spec) in group["models"]]
        for encoder in members:
            similarities = [similarity.get((encoder, edit)) for edit in labels]
            lines.append([name, encoder, *similarities])
        if len(members) > 1:
            means = list[float | None]()
            for edit in labels:
                means.append(_mean([similarity.get((encoder, edit)) for encoder in members]))
            lines.append([name, f"mean of {len(members)}", *means])
    if lines:
        columns = {"fine-tuned on": "text", "encoder": "text", **dict.fromkeys(labels.values(), "number")}
        yield table(diagnostic, corpus, "by_training", columns, lines, paper["source"])


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of a group; None if an encoder has no value, because the mean would describe another group."""
    defined = [value for value in values if value is not None]
    if len(defined) < len(values):
        return None
    return sum(defined) / len(defined)
