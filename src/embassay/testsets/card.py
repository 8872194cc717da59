"""The data card of a test set: its source, how it was made, what was left out, and human ratings."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from embassay._version import __version__
from embassay.core.formatting import counted
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import Composition
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.core.samples.retrieval import Question
from embassay.testsets.base import Built
from embassay.testsets.files import SetFiles
from embassay.testsets.options import Order
from embassay.testsets.sheets import GUIDELINES, RIGHT, SCALE

READ = "## Read by people"
"""The heading of the last section, which ``embassay rate`` replaces."""


def card_of(corpus: str, order: Order, built: Built, sha256: str) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    corpus
        The file of the corpus with the hash of its content: ``set.jsonl@0123456789abcdef``.
    sha256
        The hash of the sources.
    """
    file = corpus.partition("@")[0]
    sheet = SetFiles(Path(file)).sheet.name
    parts = [
        f"# Data card: {file}",
        table(("", ""), _facts(corpus, order, built, sha256)),
        "\n".join(f"- {note}" for note in built.notes),
        "## Built",
        table(("what", "how many"), _counts(counts_of(built))),
        "## Left out",
        table(("reason", "how many"), _counts(built.rejected)) if built.rejected else "Nothing.",
        "## Made with",
        table(("what", "version", "licence", "for"), _materials(built)),
    ]
    if built.prompt:
        # In lines indented by four spaces, no character of the prompt is read as Markdown.
        prompt = "\n".join(f"    {line}" for line in built.prompt.splitlines())
        parts += ["## Prompt of the generator", prompt]
    scale = "; ".join((RIGHT.get(built.shape, SCALE[0]), *SCALE[1:]))
    guidelines = [f"- {name}: {GUIDELINES[name]}" for name in counts_of(built) if name in GUIDELINES]
    parts += [
        READ,
        f"Not yet. Rate each row of `{sheet}`, then run `embassay rate {sheet}`. Scale: {scale}.",
        "\n".join(guidelines),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_reading(card: str, section: str, corpus: str = "") -> str:
    """Return a card with its last section replaced, and its title too if another corpus is named."""
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


Cells = Iterator[tuple[str, str]]
"""The rows of a table with two columns."""


def _facts(corpus: str, order: Order, built: Built, sha256: str) -> Cells:
    """Yield (name, value) of the facts in the first table of the card."""
    kind = order.kind.replace("_", "-")
    yield "made by", f"`embassay build {kind}`, embassay {__version__}, Python {platform.python_version()}"
    yield "test set", f"{corpus}, {counted(len(built.samples), 'sample')} of shape {built.shape}"
    yield "made from", f"{order.source_name}, {counted(built.read, 'row')}"
    yield "its SHA-256", sha256
    yield "its licence", order.options.licence or "not stated; set it with --licence"
    yield "seed", str(order.options.seed)
    yield "options", _options(order)
    yield "left out", f"{built.rejected.total():,}"
    yield "time", built.time_taken


def _options(order: Order) -> str:
    """Return the options that were given, and the language."""
    values = {**vars(order.options), **order.kind_options}
    parts = list[str]()
    for name, value in sorted(values.items()):
        # The card shows these three elsewhere.
        if name not in ("seed", "licence", "prompt") and _shown(value):
            parts.append(f"{name}={_shown(value)}")
    return ", ".join(parts) or "none"


def _shown(value: Any) -> str:
    """Return an option's value as text: specs for encoders, the name for a generator or a model."""
    if value is None:
        return ""
    if isinstance(value, (tuple, list)):
        return " ".join(map(_shown, value))
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "card"):
        return str(value.card.spec)
    return str(getattr(value, "name", value))


def _counts(counts: Counter[str]) -> Cells:
    return ((name, f"{count:,}") for name, count in counts.most_common())


def _materials(built: Built) -> list[tuple[str, ...]]:
    if not built.materials:
        return [("embassay", __version__, "Apache-2.0", "all of it")]
    return [(material.name, material.version, material.licence, material.purpose) for material in built.materials]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
