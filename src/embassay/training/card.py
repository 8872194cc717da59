"""The model card of a variant: its training and data, what it gained and what it lost.

The card contains figures and names, but no sentence of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from embassay.core.result import Result
from embassay.core.types import AnyCorpus, JsonObject
from embassay.run.outputs.markdown import plain_table
from embassay.training.verdict import BASE, figures

HEAD = """---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags: [sentence-transformers, feature-extraction, domain-adaptation, embassay]
---"""
"""The metadata that the hub reads."""


def card_of(
    origin: str,
    trainings: Mapping[str, JsonObject],
    learnt: Sequence[AnyCorpus],
    result: Result,
    domain: Sequence[str],
    verdict: Iterable[str],
) -> str:
    """Return the card as Markdown, with the metadata header that the hub reads.

    Parameters
    ----------
    origin
        The base, and the numbers of training and test questions, in words.
    trainings
        The records of the trainings from the base to the variant, by variant; the last one made it.
    learnt
        The corpora before the split.
    domain
        The labels of the corpora of the domain.
    verdict
        The sentences on the variant, and the caveat.
    """
    *_, name = trainings
    parts = [HEAD, f"# {name}", f"Made by `embassay adapt`. {origin}", "## Verdict", bullets(verdict)]
    parts += ["## Results on the test questions", figures(result, domain, (BASE, name)), "## Training"]
    for variant, record in trainings.items():
        # The settings and facts of a training, and the versions of the libraries.
        facts = []
        for fact, value in {**record["settings"], **record["made_with"], **record}.items():
            if isinstance(value, (str, int, float)):
                facts.append((fact, f"{value:,}" if isinstance(value, int) else str(value)))
        evaluations = [f"{score:.3f} (step {step:g})" for step, score in record["evaluations"]]
        facts.append(("Success@5 of the dev questions", ", ".join(evaluations)))
        parts += [f"### {variant}", plain_table(("", ""), facts), bullets(record["notes"])]
    data = [(corpus.name, "learnt, before the split", corpus.fingerprint, corpus.licence) for corpus in learnt]
    for corpus in result.corpora:
        role = "test questions of the domain" if corpus.name in domain else "general"
        data.append((corpus.name, f"{role}, {corpus.items:,} items", corpus.fingerprint, corpus.licence))
    parts += ["## Data", plain_table(("corpus", "role", "fingerprint", "licence"), data)]
    return "\n\n".join(filter(None, parts)) + "\n"


def bullets(lines: Iterable[str]) -> str:
    """Return a list in Markdown."""
    return "\n".join(f"- {line}" for line in lines)
