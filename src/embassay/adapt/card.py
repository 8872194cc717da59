"""The model card of a variant: what it comes from, how it was trained and on what, what it gained and what it lost.

It holds figures and names; no sentence of the data.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from embassay._version import __version__
from embassay.adapt.gain import BASE, verdict
from embassay.adapt.variants import Stage
from embassay.result import CorpusRecord, Result, Row
from embassay.types import content_hash

QUOTED = (
    ("Success@5", "Success@5", "all", True),
    ("accuracy (100 questions)", "accuracy_l100", "all", True),
    ("COE", "coe", "psi5", True),
    ("ROE", "roe", "psi5", True),
    ("threshold τ", "tau", "recommended", False),
    ("IsoScore of the documents", "isoscore", "documents", False),
    ("I_A of the documents", "i_a", "documents", False),
)
"""Figures of retrieval that a card quotes: heading, quantity, subset, whether it is a share."""


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
    """

    base: str
    fingerprint: str
    split: str
    versions: Mapping[str, str]


def card_of(
    stage: Stage, through: Sequence[Stage], facts: Mapping[str, Any], origin: Origin, result: Result, own: Sequence[str]
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
    """
    name = stage.variant
    rows = quoted(result, own, (BASE, name))
    lines = [line for line in verdict(result, own) if line.startswith((f"{name}:", f"{name} against", f"{name},"))]
    parts = [
        _head(origin.base),
        f"# {origin.base}, {name}",
        _table(("", ""), _origin_rows(origin, through, result)),
        "## Training",
        *(_training(each, facts.get(each.variant, {})) for each in through),
        "## Data",
        _table(("corpus", "role", "items", "fingerprint", "licence"), _data(result.corpora, own)),
        "## On the test questions",
        *(_figures(result, corpus, name) for corpus in own),
        "## Verdict",
        "\n".join(f"- {line}" for line in (*lines, verdict(result, own)[-1])),
        f"Signature of the figures above: {signature(rows)}",
    ]
    return "\n\n".join(parts) + "\n"


def quoted(result: Result, own: Sequence[str], encoders: Sequence[str]) -> tuple[Row, ...]:
    """Return the rows that a card quotes: those of :data:`QUOTED`, of these encoders on the domain's corpora."""
    wanted = {(quantity, subset) for _, quantity, subset, _ in QUOTED}
    return tuple(
        row
        for row in result.rows
        if row.diagnostic == "retrieval" and row.corpus in own and row.encoder in encoders
        if (row.quantity, row.subset) in wanted and not row.condition
    )


def signature(rows: Iterable[Row]) -> str:
    """Return 16 hexadecimal digits of the content of rows; equal ones mean equal figures, made alike."""
    return content_hash([vars(row) for row in rows])


def _head(base: str) -> str:
    return "\n".join(
        (
            "---",
            "library_name: sentence-transformers",
            "pipeline_tag: sentence-similarity",
            f"base_model: {json.dumps(base)}",
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
    asked = {**stage.asked, **{name: value for name, value in facts.items() if name != "notes"}}
    rows = ((name.replace("_", " "), _text(value)) for name, value in asked.items() if value is not None)
    notes = "\n".join(f"- {note}" for note in facts.get("notes", ()))
    return "\n\n".join(filter(None, (f"### {stage.variant}", _table(("", ""), rows), notes)))


def _data(corpora: Iterable[CorpusRecord], own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for corpus in corpora:
        role = "test, of the domain" if corpus.name in own else "general"
        yield corpus.name, role, f"{corpus.items:,}", corpus.fingerprint, corpus.licence


def _figures(result: Result, corpus: str, name: str) -> str:
    """Return the figures of base and variant on one corpus of the domain."""
    rows = {(row.quantity, row.subset, row.encoder): row for row in quoted(result, (corpus,), (BASE, name))}
    lines = [
        (heading, *(_figure(rows.get((quantity, subset, encoder)), share) for encoder in (BASE, name)))
        for heading, quantity, subset, share in QUOTED
        if any((quantity, subset, encoder) in rows for encoder in (BASE, name))
    ]
    return f"{corpus}\n\n" + _table(("", BASE, name), lines)


def _figure(row: Row | None, share: bool) -> str:
    if row is None or row.value is None:
        return "–"
    ends = (row.low, row.high)
    shown = [f"{100 * value:.1f}" if share else f"{value:.3f}" for value in (row.value, *ends) if value is not None]
    figure = f"{shown[0]}{'%' if share else ''}"
    return figure + (f" [{shown[1]}, {shown[2]}]" if len(shown) == 3 else "")


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )
