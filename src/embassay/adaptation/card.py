"""The model card of a variant: what it comes from, how it was trained and on what, what it gained and what it lost.

It holds figures and names; no sentence of the data.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay._version import __version__
from embassay.adaptation.figures import named, of_two, quoted, signature, table
from embassay.adaptation.gain import BASE
from embassay.adaptation.variants import Stage
from embassay.encoders.neural.locations import repositories
from embassay.result import CorpusRecord, Result

DEV = "Success@5 of the dev questions"


@dataclass(frozen=True)
class Origin:
    """What all variants of an adaptation have in common.

    Attributes
    ----------
    base, fingerprint
        The model that they come from: its name, and the hash of all that its vectors depend on.
    split
        How many questions are for what, and how they were divided, in words.
    versions
        Of the libraries, by name.
    learnt
        Name, fingerprint and licence of each corpus that was learnt from.
    hub
        The base's name on the hub; None where it is not known to be there.
    """

    base: str
    fingerprint: str
    split: str
    versions: Mapping[str, str]
    learnt: Sequence[tuple[str, str, str]]
    hub: str | None = None


def card_of(
    stage: Stage,
    through: Sequence[Stage],
    facts: Mapping[str, Any],
    origin: Origin,
    result: Result,
    own: Sequence[str],
    said: Sequence[str],
) -> str:
    """Return the card as Markdown, with the head that the hub reads.

    Parameters
    ----------
    stage
        The training that made the variant.
    through
        All trainings from the base to it, in their order.
    facts
        What was found in each of them, by variant.
    own
        The labels of the corpora of the domain.
    said
        The verdict on all variants, the caveat last.
    """
    name = stage.variant
    rows = quoted(result, own, (BASE, name))
    lines = [line for line in said if line.startswith((f"{name} on", f"{name} against", f"{name}:", f"{name},"))]
    parts = [
        _head(origin.hub),
        f"# {origin.base}, {name}",
        table(("", ""), _origin_rows(origin, through, result)),
        "## Training",
        *(_training(each, facts.get(each.variant, {})) for each in through),
        "## Learnt from",
        table(("corpus", "fingerprint", "licence"), origin.learnt),
        "## Tested on",
        table(("corpus", "role", "items", "fingerprint", "licence"), _tested(result.corpora, own)),
        "## On the test questions",
        *(f"{named(result, corpus)}\n\n{of_two(result, corpus, BASE, name)}" for corpus in own),
        "## Verdict",
        "\n".join(f"- {line}" for line in (*lines, said[-1])),
        f"Signature of the figures above: {signature(rows)}",
    ]
    return "\n\n".join(parts) + "\n"


def evaluations(facts: Mapping[str, Any]) -> dict[str, Sequence[Sequence[float]]]:
    """Return [step, Success@5 of the dev questions] of each variant that was looked at meanwhile."""
    return {variant: found["evaluations"] for variant, found in facts.items() if found.get("evaluations")}


def hub_name(target: str, folder: Path) -> str | None:
    """Return the name that a model has on the hub; None for a folder of one's own.

    Parameters
    ----------
    target
        What was asked for: a name, or ``./folder``.
    folder
        Where it was found: the hub's cache names the repository.
    """
    if target.startswith(("/", ".", "~")):
        return None
    cached = next((part for part in folder.parts if part.startswith("models--")), "")
    return cached.removeprefix("models--").replace("--", "/", 1) or repositories(target)[0]


def _head(hub: str | None) -> str:
    return "\n".join(
        (
            "---",
            "library_name: sentence-transformers",
            "pipeline_tag: sentence-similarity",
            *([f"base_model: {json.dumps(hub)}"] if hub else []),
            "tags: [sentence-transformers, feature-extraction, domain-adaptation, embassay]",
            "---",
        )
    )


def _origin_rows(origin: Origin, through: Sequence[Stage], result: Result) -> Iterator[tuple[str, str]]:
    yield "made by", f"`embassay adapt`, embassay {__version__}, Python {platform.python_version()}"
    yield "base", f"{origin.base} ({origin.fingerprint})"
    yield "trained", ", then ".join(f"{stage.kind} ({stage.variant})" for stage in through)
    yield "questions", origin.split
    yield "seed", str(through[-1].settings.seed)
    yield "resamples", f"{result.resamples:,}"
    yield "libraries", ", ".join(f"{name} {version}" for name, version in origin.versions.items())


def _training(stage: Stage, facts: Mapping[str, Any]) -> str:
    """Return how a stage was trained, and what was found meanwhile."""
    told = {**stage.asked, **{name: value for name, value in facts.items() if name not in ("notes", "evaluations")}}
    rows = [(name.replace("_", " "), _text(value)) for name, value in told.items() if value is not None]
    if looks := facts.get("evaluations"):
        rows.append((DEV, ", ".join(f"{score:.3f} (step {step:g})" for step, score in looks)))
    notes = "\n".join(f"- {note}" for note in facts.get("notes", ()))
    return "\n\n".join(filter(None, (f"### {stage.variant}", table(("", ""), rows), notes)))


def _tested(corpora: Iterable[CorpusRecord], own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for corpus in corpora:
        role = "test, of the domain" if corpus.name in own else "general"
        yield corpus.name, role, f"{corpus.items:,}", corpus.fingerprint, corpus.licence


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
