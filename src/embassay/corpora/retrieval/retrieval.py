"""Built sets of questions and documents, or your own: JSON lines document, passages, then id, question, right.

A document may have a unit, and the number of words that two passages share; a question may have gains, a unit or a
list of them, a split (train or test), an answer and a source.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from embassay.core.errors import SourceError
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Document, Question
from embassay.core.tables.jsonl import KINDS, Ids, first_fields
from embassay.core.tables.rows import FileRow, json_rows
from embassay.core.types import Corpus
from embassay.corpora.retrieval.corpus import corpus_of, unknown_documents

SHAPE = "retrieval"
Split = Literal["all", "train", "test"]
SPLITS = tuple(name for name in get_args(Split) if name != "all")


@dataclass(frozen=True)
class _Line:
    """A question as read from its line."""

    line: int | None
    question: Question
    has_units: bool
    split: str
    source: str


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return {"document", "passages"} <= first_fields(head)


def load(source: str, name: str, *, split: Split = "all", licence: str = "") -> Corpus[Question]:
    """Read a file of documents and questions.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    split
        The questions to use. All documents are kept, so that the search is always among all of them.
    licence
        The licence of the file, as the user states it.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is neither, and for questions with unknown documents.
    """
    path = Path(source)
    documents, units, lines = _read(path)
    unknown = [(line.line, key) for line in lines for key in line.question.right if key not in documents]
    if unknown:
        raise unknown_documents(path, "right", unknown, documents)
    chosen = [line for line in lines if split in ("all", line.split)]
    if not chosen:
        splits = ", ".join(sorted({line.split for line in lines} - {""})) or "none"
        raise SourceError(f"no question has the split {split!r}; splits in the file: {splits}", path)
    questions = [line.question if line.has_units else _with_units(line.question, units) for line in chosen]
    notes = _notes(lines, split)
    corpus = corpus_of(name, "retrieval", tuple(documents.values()), questions, licence=licence, notes=notes)
    return replace(corpus, source=_sources(chosen))


def _read(path: Path) -> tuple[dict[str, Document], dict[str, str], list[_Line]]:
    """Return the documents of a file by id, the units of those that have one, and the questions."""
    documents: dict[str, Document] = {}
    units: dict[str, str] = {}
    lines: list[_Line] = []
    document_ids, question_ids = Ids(path, "document"), Ids(path)
    for row in json_rows(path):
        # A line with a question is a question, any other a document.
        if "question" in row.values:
            line = _line(row)
            question_ids.add(line.question.id, row.line)
            lines.append(line)
        else:
            document = _document(row)
            documents[document_ids.add(document.id, row.line)] = document
            if unit := row.key("unit"):
                units[document.id] = unit
    if not documents:
        raise SourceError("the file has no documents" if lines else "the file is empty", path)
    if not lines:
        raise SourceError("the file has no questions", path)
    return documents, units, lines


def _document(row: FileRow) -> Document:
    """Return the document of a line."""
    if row.value("document") is None:
        raise row.error("is null; every document needs an id", "document")
    values = row.value("passages")
    if not isinstance(values, list) or not values:
        problem = "is empty" if values == [] else f"is {KINDS[type(values)]}"
        raise row.error(f"must be a non-empty list of texts; it {problem}", "passages")
    passages = [row.as_text(value, f"passages[{number}]") for number, value in enumerate(values)]
    shared = row.values.get("shared", 0)
    if type(shared) is not int or shared < 0:
        raise row.error("must be a whole number from 0", "shared")
    return Document(row.key("document"), tuple(passages), shared)


def _line(row: FileRow) -> _Line:
    """Return the question of a line."""
    right = _right(row)
    units = row.values.get("unit")
    if not isinstance(units, list):
        units = [row.key("unit")] if row.key("unit") else None
    split = row.values.get("split")
    if split is not None and split not in SPLITS:
        raise row.error(f"must be {' or '.join(SPLITS)}, is {str(split)[:100]!r}", "split")
    # Answers are only for people to read; they are checked and not used.
    row.optional_text("answer")
    question = Question(
        id=row.key("id", row.number),
        question=row.text("question"),
        right=right,
        gains=_gains(row, right),
        units=tuple(row.as_key(unit, "unit") for unit in units or ()),
    )
    return _Line(row.line, question, units is not None, split or "", row.optional_text("source"))


def _right(row: FileRow) -> tuple[str, ...]:
    """Return the ids of a question's right documents; empty if it has no answer."""
    value = row.value("right")
    if not isinstance(value, list):
        kind = KINDS[type(value)]
        raise row.error(f"must be a list of ids (empty for a question without an answer); it is {kind}", "right")
    if None in value:
        raise row.error("is null, an id is needed; use an empty list for no document", "right")
    names = tuple(row.as_key(name, "right") for name in value)
    for name, number in Counter(names).items():
        if number > 1:
            raise row.error(f"{name[:200]!r} appears twice", "right")
    return names


def _gains(row: FileRow, right: Sequence[str]) -> tuple[int, ...]:
    """Return the grade of each right document; empty if there are none."""
    value = row.values.get("gains")
    if value is None:
        return ()
    are_numbers = isinstance(value, list) and all(type(gain) is int and gain > 0 for gain in value)
    if not are_numbers or len(value) != len(right):
        raise row.error("must be a list with a whole number of at least 1 for each right document", "gains")
    return tuple(value)


def _with_units(question: Question, units: Mapping[str, str]) -> Question:
    """Return a question with the units of its right documents, or with the documents themselves."""
    of_documents = [units.get(key, f"document:{key}") for key in question.right]
    return replace(question, units=tuple(dict.fromkeys(of_documents)))


def _notes(lines: Sequence[_Line], split: Split) -> Iterator[str]:
    """Yield notes on the splits, and on units with questions of more than one split."""
    splits = Counter(line.split for line in lines if line.split)
    if splits:
        counts = ", ".join(f"{name} {splits[name]:,}" for name in SPLITS if splits[name])
        note = f"splits: {counts}"
        without = len(lines) - splits.total()
        if without:
            note += f", {without:,} without a split"
        if split != "all":
            note += f"; split={split} selects {counted(splits[split], 'question')}"
        yield note
    # Such units make train and test depend on each other, so their reader should know.
    splits_of_unit: dict[str, set[str]] = {}
    for line in lines:
        for unit in line.question.units:
            splits_of_unit.setdefault(unit, set()).add(line.split)
    shared = sum(len(of_unit) > 1 for of_unit in splits_of_unit.values())
    if shared:
        yield f"{counted(shared, 'unit')} with questions of more than one split"


def _sources(lines: Sequence[_Line]) -> str:
    """Return how the questions were made, such as ``headings 120, cloze 80``: the most frequent source first.

    If all questions have the same source, its name stands alone. Questions without a source are not counted.
    """
    number_of = Counter(line.source for line in lines if line.source)
    if list(number_of.values()) == [len(lines)]:
        return lines[0].source
    most_frequent_first = sorted(number_of.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{source} {number:,}" for source, number in most_frequent_first)
