"""The model card of a variant: its base, its training and data, what it gained and what it lost.

The card contains figures and names, but no sentence of the data.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embassay._version import __version__
from embassay.core.result import Result
from embassay.core.types import JsonObject
from embassay.models.neural.locations import LOCAL_FOLDER, ModelFiles, repositories
from embassay.training.adaptation.figures import named, of_two, table
from embassay.training.adaptation.variants import BASE, Stage

DEV = "Success@5 of the dev questions"


@dataclass(frozen=True)
class VariantsOrigin:
    """What all variants of an adaptation have in common.

    Attributes
    ----------
    base, fingerprint
        The base model: its name, and the hash of everything that its vectors depend on.
    split
        The numbers of training, dev and test questions and how they were divided, as text.
    versions
        Versions of the libraries, by name.
    learnt
        Name, fingerprint and licence of each training corpus.
    hub
        The base's name on the hub; None if it is not known to be there.
    """

    base: str
    fingerprint: str
    split: str
    versions: Mapping[str, str]
    learnt: Sequence[tuple[str, str, str]]
    hub: str | None = None


def card_of(
    stages: Sequence[Stage],
    facts: Mapping[str, JsonObject],
    origin: VariantsOrigin,
    result: Result,
    domain: Sequence[str],
    verdict: Sequence[str],
) -> str:
    """Return the card as Markdown, with the metadata header that the hub reads.

    Parameters
    ----------
    stages
        The trainings from the base to the variant, in order; the last one made it.
    facts
        The facts of each training, by variant.
    domain
        The labels of the corpora of the domain.
    verdict
        The sentences on all variants, the caveat last.
    """
    name = stages[-1].variant
    # One variant's name may begin with another's: pretrained, pretrained+finetuned.
    beginnings = (f"{name} on", f"{name} against", f"{name}:", f"{name},")
    sentences = [line for line in verdict if line.startswith(beginnings)]
    parts = [
        _head(origin.hub),
        f"# {origin.base}, {name}",
        table(("", ""), _origin_rows(origin, stages, result)),
        "## Training",
    ]
    parts += (_training(stage, facts.get(stage.variant, {})) for stage in stages)
    parts += ["## Training data", table(("corpus", "fingerprint", "licence"), origin.learnt)]
    parts += ["## Test data", _tested(result, domain), "## Results on the test questions"]
    for corpus in domain:
        parts += [named(result, corpus), of_two(result, corpus, BASE, name)]
    parts += ["## Verdict", _bullets([*sentences, verdict[-1]])]
    return "\n\n".join(parts) + "\n"


def hub_name(target: str, found: ModelFiles) -> str | None:
    """Return the name that a model has on the hub; None for a local folder.

    Parameters
    ----------
    target
        The spec of the model: a name or a folder.
    found
        Where it was found. The hub's cache names the repository.
    """
    if found.revision == LOCAL_FOLDER:
        return None
    for part in found.folder.parts:
        if part.startswith("models--"):
            return part.removeprefix("models--").replace("--", "/", 1)
    return repositories(target)[0]


def _head(hub: str | None) -> str:
    """Return the metadata header that the hub reads."""
    # Written by hand: a JSON string is valid YAML, so no YAML library is needed.
    lines = ["---", "library_name: sentence-transformers", "pipeline_tag: sentence-similarity"]
    if hub:
        lines.append(f"base_model: {json.dumps(hub)}")
    lines += ["tags: [sentence-transformers, feature-extraction, domain-adaptation, embassay]", "---"]
    return "\n".join(lines)


def _origin_rows(origin: VariantsOrigin, stages: Sequence[Stage], result: Result) -> list[tuple[str, str]]:
    trained = ", then ".join(f"{stage.kind} ({stage.variant})" for stage in stages)
    libraries = ", ".join(f"{name} {version}" for name, version in origin.versions.items())
    return [
        ("made by", f"`embassay adapt`, embassay {__version__}, Python {platform.python_version()}"),
        ("base", f"{origin.base} ({origin.fingerprint})"),
        ("trained", trained),
        ("questions", origin.split),
        ("seed", str(stages[-1].settings.seed)),
        ("resamples", f"{result.resamples:,}"),
        ("libraries", libraries),
    ]


def _training(stage: Stage, facts: JsonObject) -> str:
    """Return how a stage was trained, and the facts of its training."""
    details = {**stage.identity, **facts}
    notes = details.pop("notes", ())
    dev_scores = details.pop("evaluations", ())
    rows = []
    for name, value in details.items():
        if value is not None:
            rows.append((name.replace("_", " "), _text(value)))
    if dev_scores:
        scores = [f"{score:.3f} (step {step:g})" for step, score in dev_scores]
        rows.append((DEV, ", ".join(scores)))
    parts = [f"### {stage.variant}", table(("", ""), rows)]
    if notes:
        parts.append(_bullets(notes))
    return "\n\n".join(parts)


def _tested(result: Result, domain: Sequence[str]) -> str:
    """Return the table of the corpora that the variants were assayed on."""
    rows = []
    for corpus in result.corpora:
        role = "general"
        if corpus.name in domain:
            role = "test questions of the domain"
        rows.append((corpus.name, role, f"{corpus.items:,}", corpus.fingerprint, corpus.licence))
    return table(("corpus", "role", "items", "fingerprint", "licence"), rows)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
