"""The files of a test set: samples as JSON lines; either all files are written or none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from embassay.core.errors import OutputError
from embassay.core.samples.base import Sample
from embassay.core.samples.choice import Choice
from embassay.core.samples.composition import Composition
from embassay.core.samples.groups import Grouped
from embassay.core.samples.minimal_pairs import MinimalPairs
from embassay.core.samples.retrieval import Question
from embassay.core.store.canonical import partial_file
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
        ways = {name: built.ways.get((sample.id, name)) for name, _ in sample.edits}
        row |= {"original": sample.original, "edits": dict(sample.edits)}
        row["source"] = {name: way for name, way in ways.items() if way}
    elif isinstance(sample, Choice):
        sentences = [sample.antonym, sample.polarity, sample.paraphrase]
        row = {"idx": sample.id, "label": PARAPHRASE, "input": sample.input, "sentences": sentences}
        row |= {name: getattr(sample, name) for name in ("part_of_speech", "pair", "negation")}
    elif isinstance(sample, Grouped):
        row = {"id": sample.id, "sentence": sample.text, "group": sample.group}
    elif isinstance(sample, Composition):
        row |= {name: getattr(sample, name) for name in ("operator", "a", "b", "target", "mirrored")}
        row |= {"filtered_with": list(built.filtered_with), "source": built.ways.get((sample.id, sample.operator))}
    elif isinstance(sample, Question):
        row["unit"] = sample.unit if sample.units else ""
        row |= {"question": sample.question, "right": list(sample.right), "split": built.splits.get(sample.id)}
        row |= {"answer": built.answers.get(sample.id), "source": built.ways.get((sample.id, "question"))}
    return {name: value for name, value in row.items() if value or name in ("right", "negation")}


# --- The files of a test set: all of them are written, or none ---


class SetFiles:
    """The files of a test set: ``NAME.jsonl`` and others next to it.

    Attributes
    ----------
    card
        ``NAME-card.md``, the data card.
    sheet
        ``NAME-sheet.csv``, the sheet for rating.
    review
        ``NAME-review.csv``, the review sheet.
    answers
        ``NAME-answers.jsonl``, the journal of a generator's answers, from which an interrupted build resumes.
    written, every
        The files that each build writes, and all of them.
    """

    def __init__(self, corpus: Path):
        """Name the files."""
        self.corpus = corpus
        endings = ("card.md", "sheet.csv", "review.csv", "answers.jsonl")
        beside = [corpus.with_name(f"{corpus.stem}-{ending}") for ending in endings]
        self.card, self.sheet, self.review, self.answers = beside
        self.written = corpus, self.card, self.sheet, self.review
        self.every = *self.written, self.answers


def check_apart(places: Iterable[Path], sources: Iterable[object]) -> None:
    """Raise OutputError if a file to write is also a file to read."""
    read = {Path(source).resolve() for source in sources if isinstance(source, (str, Path)) and str(source)}
    for path in places:
        if path.resolve() in read:
            raise OutputError(f"{path}: is the source of the build; choose another name with -o")


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Raise OutputError for a file that exists, unless it may be overwritten."""
    for path in paths:
        if path.exists() and not overwrite:
            raise OutputError(f"{path}: already exists; choose another name with -o, or use --overwrite")


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files or none: each is written under a temporary name before the first is renamed.

    Raises
    ------
    OutputError
        If a file cannot be written. No file has been changed then, unless the disk fails between two renames.
    """
    temporaries = dict[Path, Path]()
    try:
        for path, content in contents.items():
            temporary = partial_file(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                temporaries[path] = temporary
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in temporaries.items():
            temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        for temporary in temporaries.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
