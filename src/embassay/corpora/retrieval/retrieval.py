"""Built sets of questions and documents, or your own: JSON lines document, passages, then id, question, right.

A document may have a unit; a question may have gains, a unit, a split (train or test), an answer and a source.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from embassay.corpora.io.jsonl import KINDS, Ids, counted, first_fields, json_lines, key_field, require, text_field
from embassay.corpora.retrieval.shared import corpus_of, guess
from embassay.errors import SourceError
from embassay.samples.retrieval import Document, Question
from embassay.types import Corpus

SHAPE = "retrieval"
Split = Literal["all", "train", "test"]
SPLITS = tuple(name for name in get_args(Split) if name != "all")
_DOCUMENT = re.compile(r'\s*\{\s*"document"\s*:\s*(?:"(?:[^"\\]|\\.)*"|\d+)\s*,\s*"passages"\s*:\s*\[')


@dataclass(frozen=True)
class _Line:
    """A question as its line has it."""

    line: int
    question: Question
    split: str
    source: str


def recognises(head: str) -> bool:
    """Say whether the first line of a file looks like this format, also where it is longer than what is looked at."""
    return {"document", "passages"} <= first_fields(head) or bool(_DOCUMENT.match(head.lstrip("\ufeff \t\r\n")))


def load(source: str, name: str, *, split: Split = "all", licence: str = "") -> Corpus[Question]:
    """Read a file of documents and questions.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    split
        The questions that are asked; all documents stay, so that what is found is found among them all.
    licence
        What the user says of the file.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is neither, and for questions of documents that are not there.
    """
    path = Path(source)
    documents, units, asked = _read(path)
    for one in asked:
        for key in one.question.right:
            if key not in documents:
                told = f"no document has the id {key[:200]!r}{guess(key, documents)}"
                raise SourceError(told, path, one.line, "right")
    chosen = [one for one in asked if split in ("all", one.split)]
    if not chosen:
        there = ", ".join(sorted({one.split for one in asked} - {""})) or "none"
        told = f"no question of the split {split!r}; splits that there are: {there}"
        raise SourceError(told if asked else "the file has no questions", path)
    questions = [replace(q, units=q.units or _units(q, units)) for q in (one.question for one in chosen)]
    notes = tuple(_notes(asked, split))
    corpus = corpus_of(name, "retrieval", tuple(documents.values()), questions, licence=licence, notes=notes)
    return replace(corpus, source=_told(chosen))


def _read(path: Path) -> tuple[dict[str, Document], dict[str, str], list[_Line]]:
    """Return the documents, the unit of each that has one, and the questions."""
    documents, units, asked = dict[str, Document](), dict[str, str](), list[_Line]()
    document_ids, question_ids = Ids(path, "document"), Ids(path)
    for line, row in json_lines(path):
        if "question" in row:
            asked.append(_asked(row, path, line))
            question_ids.add(asked[-1].question.id, line)
            continue
        require(row, ("document", "passages"), path, line)
        document = _document(row, path, line)
        documents[document_ids.add(document.id, line)] = document
        if unit := key_field(row, "unit", "", path, line):
            units[document.id] = unit
    if not documents:
        raise SourceError("the file has no documents" if asked else "the file is empty", path)
    return documents, units, asked


def _document(row: Mapping[str, Any], path: Path, line: int) -> Document:
    key, passages = key_field(row, "document", "", path, line), row["passages"]
    if not key:
        raise SourceError("is null; every document needs an id", path, line, "document")
    if not isinstance(passages, list) or not passages:
        told = "is empty" if passages == [] else f"is {KINDS[type(passages)]}"
        raise SourceError(f"must be a list of texts, one at least; it {told}", path, line, "passages")
    return Document(key, tuple(text_field(text, path, line, f"passages[{n}]") for n, text in enumerate(passages)))


def _asked(row: dict[str, Any], path: Path, line: int) -> _Line:
    require(row, ("question", "right"), path, line)
    right = _right(row["right"], path, line)
    unit, split = key_field(row, "unit", "", path, line), row.get("split")
    if split is not None and split not in SPLITS:
        raise SourceError(f"must be {' or '.join(SPLITS)}, is {str(split)[:100]!r}", path, line, "split")
    source, answer = (row.get(field) for field in ("source", "answer"))
    if answer is not None:
        text_field(answer, path, line, "answer")
    question = Question(
        key_field(row, "id", str(line - 1), path, line),
        text_field(row["question"], path, line, "question"),
        right,
        _gains(row.get("gains"), right, path, line),
        (unit,) if unit else (),
    )
    return _Line(line, question, split or "", "" if source is None else text_field(source, path, line, "source"))


def _right(value: Any, path: Path, line: int) -> tuple[str, ...]:
    if not isinstance(value, list):
        told = f"must be a list of ids, empty for a question without an answer; it is {KINDS[type(value)]}"
        raise SourceError(told, path, line, "right")
    found = tuple(key_field({"right": key}, "right", "", path, line) for key in value)
    if not all(found):
        raise SourceError("null, where an id is needed; an empty list is for no document", path, line, "right")
    if repeated := [key for key, number in Counter(found).items() if number > 1]:
        raise SourceError(f"{repeated[0][:200]!r} stands twice", path, line, "right")
    return found


def _gains(value: Any, right: Sequence[str], path: Path, line: int) -> tuple[int, ...]:
    if value is None:
        return ()
    good = isinstance(value, list) and all(type(gain) is int and gain > 0 for gain in value)
    if not good or len(value) != len(right):
        raise SourceError("must be a whole number, 1 or more, for each right document", path, line, "gains")
    return tuple(value)


def _units(question: Question, units: Mapping[str, str]) -> tuple[str, ...]:
    """Return the units of a question that names none: those of its right documents, or these themselves."""
    return tuple(dict.fromkeys(units.get(key, f"document:{key}") for key in question.right))


def _notes(asked: Sequence[_Line], split: Split) -> Iterator[str]:
    splits = Counter(one.split for one in asked if one.split)
    if splits:
        there = ", ".join(f"{name} {splits[name]:,}" for name in SPLITS if splits[name])
        without = f", {len(asked) - splits.total():,} without one" if splits.total() < len(asked) else ""
        taken = f"; split={split} takes {counted(splits[split], 'question')}" if split != "all" else ""
        yield f"splits: {there}{without}{taken}"
    of_unit = defaultdict[str, set[str]](set)
    for one in asked:
        for unit in one.question.units:
            of_unit[unit].add(one.split)
    if shared := sum(len(found) > 1 for found in of_unit.values()):
        yield f"{counted(shared, 'unit')} with questions of more than one split"


def _told(asked: Sequence[_Line]) -> str:
    """Say how the questions were made, most frequent first."""
    made = Counter(one.source for one in asked if one.source)
    return ", ".join(f"{way} {number:,}" for way, number in sorted(made.items(), key=lambda item: (-item[1], item[0])))
