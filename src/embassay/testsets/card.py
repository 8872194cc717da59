"""The data card of a test set: its source, how it was made, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from embassay._version import __version__
from embassay.core.formatting import counted
from embassay.run.outputs.markdown import plain_table
from embassay.testsets.base import Built
from embassay.testsets.files import Line, SetFiles
from embassay.testsets.options import Order
from embassay.testsets.sheets import rateable


def card_of(corpus: str, lines: Sequence[Line], order: Order, built: Built) -> str:
    """Return the card as Markdown.

    Parameters
    ----------
    corpus, lines
        The file of the corpus with the hash of its content (``set.jsonl@0123456789abcdef``), and its lines.
    """
    file = corpus.partition("@")[0]
    sheet = SetFiles(Path(file)).sheet.name
    facts = {
        "made by": f"`embassay build {order.kind.replace('_', '-')}`, embassay {__version__}",
        "test set": f"{corpus}, {counted(len(built.samples), 'sample')} of shape {built.shape}",
        "made from": f"{order.source_name}, {counted(built.read, 'row')}",
        "its SHA-256": built.sha256,
        "its licence": order.options.licence or "not stated; set it with --licence",
        "seed": str(order.options.seed),
        "options": _options(order),
    }
    parts = [
        f"# Data card: {file}",
        plain_table(("", ""), facts.items()),
        "\n".join(f"- {note}" for note in built.notes),
        "## Built",
        _counts(counts_of(lines)),
        "## Left out",
        _counts(built.rejected) if built.rejected else "Nothing.",
    ]
    if built.materials:
        materials = [[*vars(each).values()] for each in built.materials]
        parts += ["## Made with", plain_table(("what", "version", "licence", "for"), materials)]
    if built.prompt:
        # In lines indented by four spaces, no character of the prompt is read as Markdown.
        prompt = "\n".join(f"    {line}" for line in built.prompt.splitlines())
        parts += ["## Prompt of the generator", prompt]
    parts += ["## Read by people", f"Rate the rows of `{sheet}`, then run `embassay rate {sheet} -o FILE`."]
    return "\n\n".join(part for part in parts if part) + "\n"


def counts_of(lines: Sequence[Line]) -> Counter[str]:
    """Count what was built: documents, samples, and what the sheet for rating has of them, by edit."""
    counts = Counter("documents" if "document" in line else "samples" for line in lines)
    counts.update(row.edit for row in rateable(lines))
    return counts


def _options(order: Order) -> str:
    """Return the options that were given, and the language."""
    parts = list[str]()
    for name, value in sorted({**vars(order.options), **order.kind_options}.items()):
        values = value if isinstance(value, (tuple, list)) else [value]
        # Generators, models and encoders are shown by their names.
        text = " ".join(str(getattr(each, "name", each)) for each in values if each is not None)
        # The card shows these three elsewhere.
        if text and name not in ("seed", "licence", "prompt"):
            parts.append(f"{name}={text}")
    return ", ".join(parts)


def _counts(counts: Counter[str]) -> str:
    return plain_table(("what", "how many"), [(name, f"{count:,}") for name, count in counts.most_common()])
