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
from embassay.testsets.base import Built
from embassay.testsets.options import BuildOptions
from embassay.testsets.sheets import RIGHT, SCALE

READ = "## Read by people"
"""The heading of the last section, which ``embassay rate`` writes anew."""


@dataclass(frozen=True)
class Origin:
    """Where a test set comes from.

    Attributes
    ----------
    kind
        The builder, as the command line writes it: ``minimal-pairs``.
    source, sha256
        The user's file and 64 hexadecimal digits of its content.
    options
        The options that do not depend on the kind.
    kind_options
        Those of the builder and of its reader, by name, as the card shows them.
    """

    kind: str
    source: str
    sha256: str
    options: BuildOptions = field(default_factory=BuildOptions)
    kind_options: Mapping[str, object] = field(default_factory=dict)


def card_of(corpus: str, origin: Origin, built: Built, sheet: str) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    corpus
        The file of the corpus with its content's hash.
    sheet
        The file of the sheet for rating.
    """
    parts = [
        f"# Data card: {corpus.partition('@')[0]}",
        _table(("", ""), _facts(corpus, origin, built)),
        "\n".join(f"- {note}" for note in built.notes),
        "## Built",
        _table(("what", "how many"), _counts(counts_of(built))),
        "## Left out",
        _table(("reason", "how many"), _counts(built.rejected)) if built.rejected else "Nothing.",
        "## Made with",
        _table(("what", "version", "licence", "for"), _materials(built)),
    ]
    if built.prompt:
        # Indented by four spaces, no character of the prompt is Markdown.
        prompt = "\n".join(f"    {line}" for line in built.prompt.splitlines())
        parts += ["## What the generator was told", prompt]
    scale = "; ".join((RIGHT.get(built.shape, SCALE[0]), *SCALE[1:]))
    parts += [READ, f"Not yet. Write a rating beside each row of `{sheet}`, then `embassay rate {sheet}`: {scale}."]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_reading(card: str, section: str, corpus: str = "") -> str:
    """Return a card whose last section is replaced, and its title where another corpus is named."""
    head = card.partition(READ)[0].rstrip()
    if corpus:
        _, _, after_title = head.partition("\n")
        head = f"# Data card: {corpus}\n{after_title}"
    return f"{head}\n\n{READ}\n\n{section}\n"


def counts_of(built: Built) -> Counter[str]:
    """Count what was built: samples, and edits, parts of speech with their negation, operators, groups, splits."""
    counts = Counter[str](documents=len(built.documents))
    groups = set[str]()
    for sample in built.samples:
        if isinstance(sample, MinimalPairs):
            counts["originals"] += 1
            counts.update(name for name, _ in sample.edits)
        elif isinstance(sample, Choice):
            counts["entries"] += 1
            counts[f"{sample.part_of_speech}, {sample.negation or 'negated'}"] += 1
        elif isinstance(sample, Grouped):
            counts["sentences"] += 1
            groups.add(sample.group)
        elif isinstance(sample, Composition):
            counts[sample.operator] += 1
        elif isinstance(sample, Question):
            counts["questions"] += 1
            counts["questions without an answer"] += not sample.right
            counts[f"questions to {built.splits.get(sample.id, 'test')} with"] += 1
    counts["groups"] = len(groups)
    return +counts


def _facts(corpus: str, origin: Origin, built: Built) -> Iterator[tuple[str, str]]:
    yield "made by", f"`embassay build {origin.kind}`, embassay {__version__}, Python {platform.python_version()}"
    yield "test set", f"{corpus}, {len(built.samples):,} samples of shape {built.shape}"
    yield "made from", f"{origin.source}, {built.read:,} rows"
    yield "its SHA-256", origin.sha256
    yield "its licence", origin.options.licence or "not said; give it with --licence"
    yield "seed", str(origin.options.seed)
    yield "options", _options(origin)
    yield "left out", f"{built.rejected.total():,}"
    yield "time", built.time_taken


def _options(origin: Origin) -> str:
    values = {**vars(origin.options), **origin.kind_options}
    # Seed and licence have rows of their own.
    shown = [
        f"{name}={value}"
        for name, value in sorted(values.items())
        if value not in (None, "") and name not in ("seed", "licence")
    ]
    return ", ".join(shown) or "none"


def _counts(counts: Counter[str]) -> Iterator[tuple[str, str]]:
    return ((name, f"{count:,}") for name, count in counts.most_common())


def _materials(built: Built) -> list[tuple[str, ...]]:
    if not built.materials:
        return [("embassay", __version__, "Apache-2.0", "all of it")]
    return [(m.name, m.version, m.licence, m.purpose) for m in built.materials]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a text that stays inside a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
