"""The data card of a test set: its source, how it was made, what was left out, and human ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from embassay._version import __version__
from embassay.core.formatting import counted
from embassay.testsets.base import Built
from embassay.testsets.files import Line, SetFiles
from embassay.testsets.options import Order

READ = "## Read by people"
"""The heading of the last section, which ``embassay rate`` replaces."""
RIGHT = {
    "composition": "the target is what the edit's name says of A and B, and good English",
    "retrieval": "the passage answers the question, and the question is clear without the passage",
}
"""The meaning of the highest rating for shapes without edits."""
SCALE = "3 right, with a small flaw; 2 in doubt; 1 wrong; 0 not understandable"


def card_of(corpus: str, lines: Sequence[Line], order: Order, built: Built, sha256: str) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    corpus, lines
        The file of the corpus with the hash of its content (``set.jsonl@0123456789abcdef``), and its lines.
    sha256
        The hash of the sources.
    """
    file = corpus.partition("@")[0]
    sheet = SetFiles(Path(file)).sheet.name
    materials = [(each.name, each.version, each.licence, each.purpose) for each in built.materials]
    right = RIGHT.get(built.shape, "the edit is what its name says, and good English")
    parts = [
        f"# Data card: {file}",
        table(("", ""), _facts(corpus, order, built, sha256)),
        "\n".join(f"- {note}" for note in built.notes),
        "## Built",
        table(("what", "how many"), _counts(counts_of(lines))),
        "## Left out",
        table(("reason", "how many"), _counts(built.rejected)) if built.rejected else "Nothing.",
        "## Made with",
        table(("what", "version", "licence", "for"), materials or [("embassay", __version__, "Apache-2.0", "all")]),
    ]
    if built.prompt:
        # In lines indented by four spaces, no character of the prompt is read as Markdown.
        prompt = "\n".join(f"    {line}" for line in built.prompt.splitlines())
        parts += ["## Prompt of the generator", prompt]
    parts += [
        READ,
        f"Not yet. Rate each row of `{sheet}`, then run `embassay rate {sheet}`. Scale: 4 right: {right}; {SCALE}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def with_reading(card: str, section: str, corpus: str = "") -> str:
    """Return a card with its last section replaced, and its title too if another corpus is named."""
    head = card.partition(READ)[0].rstrip()
    if corpus:
        _, _, after_title = head.partition("\n")
        head = f"# Data card: {corpus}\n{after_title}"
    return f"{head}\n\n{READ}\n\n{section}\n"


def counts_of(lines: Sequence[Line]) -> Counter[str]:
    """Count what was built: samples, and edits, parts of speech, negations, operators, groups, splits."""
    counts = Counter[str]()
    for line in lines:
        counts["documents" if "document" in line else "samples"] += 1
        counts.update(list(line.get("edits", ())))
        counts.update(line[name] for name in ("operator", "part_of_speech", "negation") if line.get(name))
        if "question" in line:
            counts[f"questions to {line.get('split', 'test')} with"] += 1
            counts["questions without an answer"] += not line["right"]
    counts["groups"] = len({line["group"] for line in lines if "group" in line})
    return +counts


Cells = Iterator[tuple[str, str]]
"""The rows of a table with two columns."""


def _facts(corpus: str, order: Order, built: Built, sha256: str) -> Cells:
    """Yield (name, value) of the facts in the first table of the card."""
    kind = order.kind.replace("_", "-")
    yield "made by", f"`embassay build {kind}`, embassay {__version__}"
    yield "test set", f"{corpus}, {counted(len(built.samples), 'sample')} of shape {built.shape}"
    yield "made from", f"{order.source_name}, {counted(built.read, 'row')}"
    yield "its SHA-256", sha256
    yield "its licence", order.options.licence or "not stated; set it with --licence"
    yield "seed", str(order.options.seed)
    yield "options", _options(order)


def _options(order: Order) -> str:
    """Return the options that were given, and the language."""
    parts = list[str]()
    for name, value in sorted({**vars(order.options), **order.kind_options}.items()):
        values = value if isinstance(value, (tuple, list)) else [value]
        texts = " ".join(map(_shown, values))
        # The card shows these three elsewhere.
        if texts and name not in ("seed", "licence", "prompt"):
            parts.append(f"{name}={texts}")
    return ", ".join(parts)


def _shown(value: Any) -> str:
    """Return an option's value as text: specs for encoders, the name for a generator or a model."""
    if value is None or isinstance(value, Path):
        return str(value or "")
    return str(value.card.spec if hasattr(value, "card") else getattr(value, "name", value))


def _counts(counts: Counter[str]) -> Cells:
    return ((name, f"{count:,}") for name, count in counts.most_common())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
