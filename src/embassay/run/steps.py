"""What each candidate of a run is derived from: another one with the same target, or the one that its spec names.

Retrievers know what they are built on. An encoder whose spec differs from that of another candidate in the options
below only is a step on it. That it is another service or an export of the same model no spec tells, so the user does:
``original=LABEL``.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    cards = [(entry.label, entry.card) for entry in entries]
    derived = []
    for entry, (_, card) in zip(entries, cards, strict=True):
        base, change = entry.original, ""
        if base and entry.parts:
            raise SpecError(f"encoder {entry.label!r} is built on {entry.parts[0]!r}: remove original=")
        if base:
            change = "server" if card.remote or entry.retriever else "export"
        elif card.target:
            base, change = _base(card, cards)
        derived.append(replace(entry, base=base, change=change))
    return derived


def _base(card: Card, cards: Sequence[tuple[str, Card]]) -> tuple[str, str]:
    """Return the label of the candidate that an encoder is a step on, and the kind of step; empty if there is none."""
    family = [(label, other.options) for label, other in cards if _differ_in_steps(other, card)]
    simpler = [(label, options) for label, options in family if options.items() < card.options.items()]
    # The one with most of its options, or else the first of those with the fewest.
    first = min(family, key=lambda one: len(one[1]))
    label, options = max(simpler, key=lambda one: len(one[1]), default=first)
    for option, step in STEP_OF_OPTION.items():
        value = card.options.get(option)
        if value not in (None, options.get(option)):
            return label, step or str(value)
    return "", ""


def _differ_in_steps(one: Card, other: Card) -> bool:
    """Return whether two encoders have the same target and the same options, other than those that are steps."""
    names = (one.options.keys() | other.options.keys()) - STEP_OF_OPTION.keys()
    return one.target == other.target and all(one.options.get(name) == other.options.get(name) for name in names)
