"""Similarities of a run's encoders in the training-data groups of Chiang et al. (2023, figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from embassay.core.result import Series
from embassay.core.types import Origin
from embassay.diagnostics.published import grouped_lines, published, published_name, table


def by_training(
    origins: Mapping[str, Origin],
    similarity: Mapping[tuple[str, str], float | None],
    labels: Mapping[str, str],
) -> Iterator[Series]:
    """Yield the similarity of each edit for the encoders whose training the paper, or the user, names.

    The paper's groups come first, in its order. A group of several encoders ends with rows of means and of standard
    deviations. Yields nothing if no encoder has a group; for the paper, a spec with options is another model.

    Parameters
    ----------
    origins
        By encoder. A group that the user names counts more than that of the paper.
    similarity
        The normalised similarity by encoder and edit; None where it is undefined.
    labels
        Column heading of each edit.
    """
    paper = published("heros")
    members: dict[str, list[str]] = {group["fine_tuned_on"]: [] for group in paper["groups"]}
    group_of_model = {model: group["fine_tuned_on"] for group in paper["groups"] for model in group["models"]}
    for encoder, origin in origins.items():
        group = origin.group or group_of_model.get(published_name(origin))
        if group:
            members.setdefault(group, []).append(encoder)
    values = {encoder: [similarity.get((encoder, edit)) for edit in labels] for encoder in origins}
    if lines := grouped_lines(members, values):
        columns = {"fine-tuned on": "text", "encoder": "text", **dict.fromkeys(labels.values(), "number")}
        first = next(iter(origins.values()))
        yield table(first.diagnostic, first.corpus, "by_training", columns, lines, paper["source"])
