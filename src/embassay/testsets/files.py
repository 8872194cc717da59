"""Three files that belong together: all of them are written, or none."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.errors import OutputError
from embassay.samples.base import Sample
from embassay.samples.choice import Choice
from embassay.samples.composition import Composition
from embassay.samples.groups import Grouped
from embassay.samples.minimal_pairs import MinimalPairs
from embassay.samples.retrieval import Question
from embassay.store.partial_files import partial_file
from embassay.testsets.base import Built

# --- Samples as the JSON lines that the loaders of corpora read back ---

PARAPHRASE = 2
"""Where the paraphrase stands among the candidates of a line, as in SemAntoNeg (Vahtola et al. 2022)."""


def json_lines(built: Built) -> tuple[str, ...]:
    """Return a line of JSON for each document, then for each sample, in the form of the loader of its shape."""
    return tuple(json.dumps(row, ensure_ascii=False) for row in _rows(built))


def content_of(lines: Iterable[str]) -> bytes:
    """Return what a file of such lines holds."""
    return "".join(f"{line}\n" for line in lines).encode()


def name_of(file: str, content: bytes) -> str:
    """Return what a sheet calls a corpus: its file's name and 16 hexadecimal digits of its content."""
    return f"{file}@{hashlib.sha256(content).hexdigest()[:16]}"


def _rows(built: Built) -> Iterator[dict[str, Any]]:
    for document in built.documents:
        yield {"document": document.id, "passages": list(document.passages)}
    yield from (_row(sample, built) for sample in built.samples)


def _row(sample: Sample, built: Built) -> dict[str, Any]:
    if isinstance(sample, MinimalPairs):
        source = {name: built.ways[sample.id, name] for name, _ in sample.edits if (sample.id, name) in built.ways}
        more: dict[str, Any] = {"unit": sample.group} if sample.group else {}
        more |= {"source": source} if source else {}
        return {"id": sample.id, "original": sample.original, "edits": dict(sample.edits), **more}
    if isinstance(sample, Choice):
        return {
            "idx": sample.id,
            "label": PARAPHRASE,
            "input": sample.input,
            "sentences": [sample.antonym, sample.polarity, sample.paraphrase],
            "part_of_speech": sample.part_of_speech,
            "pair": sample.pair,
            "negation": sample.negation,
        }
    if isinstance(sample, Grouped):
        return {"id": sample.id, "sentence": sample.text, "group": sample.group}
    if isinstance(sample, Composition):
        return _composition(sample, built)
    if isinstance(sample, Question):
        return _question(sample, built)
    raise TypeError(f"no form of lines for {type(sample).__name__}")


def _composition(sample: Composition, built: Built) -> dict[str, Any]:
    told = {
        "unit": sample.group,
        "mirrored": sample.mirrored,
        "filtered_with": list(built.filtered_with),
        "source": built.ways.get((sample.id, sample.operator), ""),
    }
    given = {"id": sample.id, "operator": sample.operator, "a": sample.a, "b": sample.b, "target": sample.target}
    return given | {name: value for name, value in told.items() if value}


def _question(sample: Question, built: Built) -> dict[str, Any]:
    told = {
        "gains": list(sample.gains),
        "unit": sample.unit if sample.units else "",
        "split": built.splits.get(sample.id, ""),
        "answer": built.answers.get(sample.id, ""),
        "source": built.ways.get((sample.id, "question"), ""),
    }
    given = {"id": sample.id, "question": sample.question, "right": list(sample.right)}
    return given | {name: value for name, value in told.items() if value}


# --- Three files that belong together: all of them are written, or none ---


@dataclass(frozen=True)
class Places:
    """Where a test set and what belongs to it lie: ``NAME-card.md``, ``NAME-sheet.csv``, ``NAME-review.csv`` …"""

    corpus: Path

    @property
    def card(self) -> Path:
        """The data card, beside the corpus."""
        return self.corpus.with_name(f"{self.corpus.stem}-card.md")

    @property
    def sheet(self) -> Path:
        """The sheet for rating, beside the corpus."""
        return self.corpus.with_name(f"{self.corpus.stem}-sheet.csv")

    @property
    def review(self) -> Path:
        """The sheet of what rules cannot decide, where there is any."""
        return self.corpus.with_name(f"{self.corpus.stem}-review.csv")

    @property
    def answers(self) -> Path:
        """What a generator answered, where there was one: a build that was stopped goes on from it."""
        return self.corpus.with_name(f"{self.corpus.stem}-answers.jsonl")

    @property
    def written(self) -> tuple[Path, ...]:
        """What a build writes anew."""
        return self.corpus, self.card, self.sheet, self.review

    @property
    def every(self) -> tuple[Path, ...]:
        """All of them."""
        return *self.written, self.answers


def check_apart(places: Iterable[Path], sources: Iterable[object]) -> None:
    """Raise OutputError for a place that is one of the files that are read."""
    read = {Path(source).resolve() for source in sources if isinstance(source, (str, Path)) and str(source)}
    for path in places:
        if path.resolve() in read:
            raise OutputError(f"{path}: is what is built from; choose another name with -o")


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Raise OutputError for a file that is there already, unless it may be overwritten; for a folder in any case."""
    for path in paths:
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; name a file with -o")
        if path.exists() and not overwrite:
            raise OutputError(f"{path}: is there already; choose another name with -o, or --overwrite")


def write_all(out: Path, corpus_lines: Iterable[str], card: str, sheet: bytes, review: bytes = b"") -> Places:
    """Write a corpus, its card, its sheet and, where there is one, its review, all or none; the corpus comes last.

    Parameters
    ----------
    out
        The file of the corpus; the others are named after it (:class:`Places`).
    corpus_lines
        JSON, a sample a line.

    Raises
    ------
    OutputError
        If a place cannot be written to.
    """
    places = Places(out)
    more = {places.review: review} if review else {}
    write_files({**more, places.sheet: sheet, places.card: card.encode(), places.corpus: content_of(corpus_lines)})
    return places


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files in this order: each is filled under another name before the first gets its own.

    Raises
    ------
    OutputError
        If a place cannot be written to; no file has been touched then, unless a disk fails in between.
    """
    filled = dict[Path, Path]()
    try:
        for path, content in contents.items():
            temporary = partial_file(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                filled[path] = temporary
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in filled.items():
            temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        for temporary in filled.values():
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
