"""The files of a test set, and its samples as JSON lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from embassay.core.errors import OutputError
from embassay.core.samples.base import Sample
from embassay.core.samples.retrieval import Question
from embassay.core.samples.shapes import Choice, Composition, Grouped, MinimalPairs
from embassay.testsets.base import Built

# --- Samples as the JSON lines that the loaders of corpora read back ---

PARAPHRASE = 2
"""The position of the paraphrase among the candidates of a line, as in SemAntoNeg (Vahtola et al. 2022)."""


Line = dict[str, Any]
"""A line of a corpus: a sample, or a document to search."""


def lines_of(built: Built) -> list[Line]:
    """Return a line for each document, then for each sample, in the format of the loader of its shape."""
    lines: list[Line] = [{"document": each.id, "passages": list(each.passages)} for each in built.documents]
    return lines + [_row(sample, built) for sample in built.samples]


def id_of(line: Line) -> str:
    """Return the id of the sample of a line; empty for a document."""
    return str(line.get("id", line.get("idx", "")))


def content_of(lines: Iterable[Line]) -> bytes:
    """Return the content of a file of such lines, as JSON."""
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


def name_of(file: str, content: bytes) -> str:
    """Return the name of a corpus on a sheet: its file name and 16 hexadecimal digits of the hash of its content."""
    return f"{file}@{hashlib.sha256(content).hexdigest()[:16]}"


def _row(sample: Sample, built: Built) -> Line:
    """Return a sample's fields; optional ones that are empty are left out."""
    row: Line = {"id": sample.id, "unit": getattr(sample, "group", "")}
    if isinstance(sample, MinimalPairs):
        row |= {"original": sample.original, "edits": dict(sample.edits)}
    elif isinstance(sample, Choice):
        sentences = [sample.antonym, sample.polarity, sample.paraphrase]
        row = {"idx": sample.id, "label": PARAPHRASE, "input": sample.input, "sentences": sentences}
        row |= {name: getattr(sample, name) for name in ("part_of_speech", "pair", "negation")}
    elif isinstance(sample, Grouped):
        row = {"id": sample.id, "sentence": sample.text, "group": sample.group}
    elif isinstance(sample, Composition):
        row |= {name: getattr(sample, name) for name in ("operator", "a", "b", "target", "mirrored")}
        row["filtered_with"] = list(built.filtered_with)
    elif isinstance(sample, Question):
        row["unit"] = sample.unit if sample.units else ""
        row |= {"question": sample.question, "right": list(sample.right)}
    row |= built.fields.get(sample.id, {})
    return {name: value for name, value in row.items() if value or name in ("right", "negation")}


# --- The files of a test set ---


class SetFiles:
    """The files of a test set: ``NAME.jsonl`` and others next to it.

    Attributes
    ----------
    card
        ``NAME-card.md``, the data card.
    sheet
        ``NAME-sheet.csv``, the sheet for rating.
    answers
        ``NAME-answers.jsonl``, the journal of a generator's answers, from which an interrupted build resumes.
    written, every
        The files that each build writes, and all of them.
    """

    def __init__(self, corpus: Path):
        """Name the files."""
        self.corpus = corpus
        self.card = corpus.with_name(f"{corpus.stem}-card.md")
        self.sheet = corpus.with_name(f"{corpus.stem}-sheet.csv")
        self.answers = corpus.with_name(f"{corpus.stem}-answers.jsonl")
        self.written = corpus, self.card, self.sheet
        self.every = *self.written, self.answers


def check_apart(places: Iterable[Path], source: object) -> None:
    """Raise OutputError if a file to write is also the file to read."""
    if isinstance(source, Path) and source.resolve() in [path.resolve() for path in places]:
        raise OutputError(f"{source}: is the source of the build; choose another name with -o")


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Raise OutputError for a file that exists, unless it may be overwritten."""
    for path in paths:
        if path.exists() and not overwrite:
            raise OutputError(f"{path}: already exists; choose another name with -o, or use --overwrite")
