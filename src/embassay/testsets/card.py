"""The data card of a test set: where it comes from, how it was made, what was left out, what people found in it."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from embassay._version import __version__
from embassay.samples.choice import Choice
from embassay.samples.composition import Composition
from embassay.samples.groups import Grouped
from embassay.samples.minimal_pairs import MinimalPairs
from embassay.samples.retrieval import Question
from embassay.testsets.base import Built, Material
from embassay.testsets.sheets import RIGHT, SCALE

READ = "## Read by people"
"""The heading of the last section, which ``embassay rate`` writes anew."""


@dataclass(frozen=True)
class Origin:
    """What a test set was asked to be.

    Attributes
    ----------
    kind
        The builder, as the command line writes it: ``minimal-pairs``.
    source, sha256
        The user's file and 64 hexadecimal digits of its content.
    licence
        What the user says of it; empty where nothing was said.
    options
        What else was asked for, by the option's name.
    """

    kind: str
    source: str
    sha256: str
    licence: str
    seed: int
    options: Mapping[str, object] = field(default_factory=dict)


def card_of(corpus: str, origin: Origin, built: Built, sheet: str) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    corpus
        The file of the corpus with its content's hash.
    sheet
        The file of the sheet for rating.
    """
    scale = (RIGHT.get(built.shape, SCALE[0]), *SCALE[1:])
    parts = [
        f"# Data card: {corpus.partition('@')[0]}",
        _table(("", ""), _facts(corpus, origin, built)),
        "\n".join(f"- {note}" for note in built.notes),
        "## Built",
        _table(("what", "how many"), _numbers(counts_of(built))),
        "## Left out",
        _table(("reason", "how many"), _numbers(built.rejected)) if built.rejected else "Nothing.",
        "## Made with",
        _table(("what", "version", "licence", "for"), _materials(built.materials)),
        *(("## What the generator was told", _quoted(built.prompt)) if built.prompt else ()),
        READ,
        f"Not yet. Write a rating beside each row of `{sheet}`, then `embassay rate {sheet}`: {'; '.join(scale)}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_reading(card: str, found: str, corpus: str = "") -> str:
    """Return a card with what people found in its last section, and under another corpus's name where one is given."""
    head = card.partition(READ)[0].rstrip()
    if corpus:
        head = f"# Data card: {corpus}\n{head.partition(chr(10))[2]}"
    return f"{head}\n\n{READ}\n\n{found}\n"


def counts_of(built: Built) -> Counter[str]:
    """Count what was built: samples, and edits, parts of speech with their negation, operators, groups, splits."""
    counts = Counter[str]()
    if built.documents:
        counts["documents"] = len(built.documents)
    for sample in built.samples:
        if isinstance(sample, MinimalPairs):
            counts["originals"] += 1
            counts.update(name for name, _ in sample.edits)
        elif isinstance(sample, Choice):
            counts["entries"] += 1
            counts[f"{sample.part_of_speech}, {sample.negation or 'negated'}"] += 1
        elif isinstance(sample, Grouped):
            counts["sentences"] += 1
        elif isinstance(sample, Composition):
            counts[sample.operator] += 1
        elif isinstance(sample, Question):
            counts["questions"] += 1
            counts["questions without an answer"] += not sample.right
            counts[f"questions to {built.splits.get(sample.id, 'test')} with"] += 1
    if groups := {sample.group for sample in built.samples if isinstance(sample, Grouped)}:
        counts["groups"] = len(groups)
    return +counts


def _facts(corpus: str, origin: Origin, built: Built) -> Iterator[tuple[str, str]]:
    speed = f", {built.read / built.seconds:,.0f} rows a second" if built.seconds > 0 else ""
    options = ", ".join(f"{name}={value}" for name, value in sorted(origin.options.items()) if value not in (None, ""))
    yield "made by", f"`embassay build {origin.kind}`, embassay {__version__}, Python {platform.python_version()}"
    yield "test set", f"{corpus}, {len(built.samples):,} samples of shape {built.shape}"
    yield "made from", f"{origin.source}, {built.read:,} rows"
    yield "its SHA-256", origin.sha256
    yield "its licence", origin.licence or "not said; give it with --licence"
    yield "seed", str(origin.seed)
    yield "options", options or "none"
    yield "left out", f"{built.rejected.total():,}"
    yield "time", f"{built.seconds:.1f} s{speed}"


def _numbers(counts: Counter[str]) -> Iterator[tuple[str, str]]:
    return ((what, f"{number:,}") for what, number in counts.most_common())


def _materials(materials: Iterable[Material]) -> Iterator[tuple[str, ...]]:
    found = list(materials)
    yield from ((m.name, m.version, m.licence, m.purpose) for m in found)
    if not found:
        yield "embassay", __version__, "Apache-2.0", "all of it"


def _quoted(text: str) -> str:
    """Return a text as a block of Markdown in which nothing means anything."""
    return "\n".join(f"    {line}" for line in text.splitlines())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a text that stays inside a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
