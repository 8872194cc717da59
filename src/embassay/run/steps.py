"""What each candidate of a run is derived from: another one with the same target, or the one that its spec names.

Retrievers know what they are built on. An encoder whose spec differs from that of another candidate in the options
below only is a step on it. That it is another service or an export of the same model no spec tells, so the user does:
``original=LABEL``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from embassay.core.errors import SpecError
from embassay.core.types import Card
from embassay.run.candidates import RunEncoder

STEP_OF_OPTION = {
    "vectors": "",
    "dtype": "dtype",
    "dim": "dim",
    "query_prompt": "prompt",
    "document_prompt": "prompt",
    "text_prompt": "prompt",
}
"""What an option changes, in the order in which one of several names the step; that of ``vectors`` is its value."""


def with_bases(entries: Sequence[RunEncoder]) -> list[RunEncoder]:
    """Return the candidates, each with what it is derived from.

    Raises
    ------
    SpecError
        If ``original=`` is said of a retriever that is built on candidates.
    """
    derived = []
    for entry in entries:
        base, change = entry.original, ""
        if base and entry.parts:
            raise SpecError(f"encoder {entry.label!r} is built on {entry.parts[0]!r}: remove original=")
        if base:
            change = "server" if entry.card.remote or entry.retriever else "export"
        elif entry.card.target:
            base, change = _base(entry.card, entries)
        derived.append(replace(entry, base=base, change=change))
    return derived


def _base(card: Card, entries: Sequence[RunEncoder]) -> tuple[str, str]:
    """Return the label of the candidate that an encoder is a step on, and the kind of step; empty if there is none."""
    options = dict(card.options)
    # By label the options of those with the same target and the same options, other than those that are steps.
    family = {
        entry.label: dict(entry.card.options)
        for entry in entries
        if entry.card.target == card.target and _fixed(entry.card.options) == _fixed(options)
    }
    simpler = [label for label, others in family.items() if others.items() < options.items()]
    # The one with most of its options, or else the first of those with the fewest.
    label = max(simpler, key=lambda one: len(family[one]), default=min(family, key=lambda one: len(family[one])))
    for option, step in STEP_OF_OPTION.items():
        value = options.get(option)
        if value not in (None, family[label].get(option)):
            return label, step or str(value)
    return "", ""


def _fixed(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that are no steps and have a value."""
    return {name: value for name, value in options.items() if name not in STEP_OF_OPTION and value is not None}
