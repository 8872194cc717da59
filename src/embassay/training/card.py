"""The model card of a variant: its base, its training and data, what it gained and what it lost.

The card contains figures and names, but no sentence of the data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from embassay.core.result import Result
from embassay.core.types import AnyCorpus, JsonObject
from embassay.training.verdict import BASE, figures, table

DEV = "Success@5 of the dev questions"


def card_of(
    origin: Mapping[str, str],
    trainings: Mapping[str, JsonObject],
    learnt: Sequence[AnyCorpus],
    result: Result,
    domain: Sequence[str],
    verdict: Iterable[str],
    hub: str | None = None,
) -> str:
    """Return the card as Markdown, with the metadata header that the hub reads.

    Parameters
    ----------
    origin
        What all variants of an adaptation have in common, in words: base, questions, libraries.
    trainings
        The records of the trainings from the base to the variant, by variant; the last one made it.
    learnt
        The corpora before the split.
    domain
        The labels of the corpora of the domain.
    verdict
        The sentences on the variant, and the caveat.
    hub
        The base's name on the hub; None if it is not known to be there.
    """
    *_, name = trainings
    # Written by hand: a JSON string is valid YAML, so no YAML library is needed.
    head = ["---", "library_name: sentence-transformers", "pipeline_tag: sentence-similarity"]
    if hub:
        head.append(f"base_model: {json.dumps(hub)}")
    head += ["tags: [sentence-transformers, feature-extraction, domain-adaptation, embassay]", "---"]
    parts = ["\n".join(head), f"# {origin['base']}, {name}", table(("", ""), origin.items()), "## Training"]
    for variant, record in trainings.items():
        parts += [f"### {variant}", table(("", ""), _facts(record)), _bullets(record["notes"])]
    data = [(corpus.name, corpus.fingerprint, corpus.licence) for corpus in learnt]
    parts += ["## Training data", table(("corpus", "fingerprint", "licence"), data), "## Test data"]
    tested = []
    for corpus in result.corpora:
        role = "test questions of the domain" if corpus.name in domain else "general"
        tested.append((corpus.name, role, f"{corpus.items:,}", corpus.fingerprint, corpus.licence))
    parts.append(table(("corpus", "role", "items", "fingerprint", "licence"), tested))
    parts += ["## Results on the test questions", figures(result, domain, (BASE, name))]
    parts += ["## Verdict", _bullets(verdict)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _facts(record: JsonObject) -> list[tuple[str, str]]:
    """Return the settings and facts of a training as rows of a table."""
    rows = []
    for name, value in {**record["settings"], **record}.items():
        if name == "evaluations":
            scores = [f"{score:.3f} (step {step:g})" for step, score in value]
            rows.append((DEV, ", ".join(scores) or "none"))
        elif not isinstance(value, (dict, list)) and name != "format":
            rows.append((name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)))
    return rows


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
