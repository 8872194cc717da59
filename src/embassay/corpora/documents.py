"""Documents of your own with questions about them: a folder of .txt and .md files, or a table; ``questions=FILE``.

In a folder a document's id is its path without the suffix. A table (CSV, TSV, JSON lines, Parquet) has an id and a
text, and perhaps a title. The table of questions has a question, and the id or ids of the documents that answer it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from embassay.corpora._groups import is_msrp, is_opinosis
from embassay.corpora._jsonl import counted, key_field, listed, text_field
from embassay.corpora._passages import cutter
from embassay.corpora._questions import QUESTION, RIGHT, read_questions
from embassay.corpora._records import read_table
from embassay.corpora._retrieval import Once, Unit, corpus_of, cut_all, entries, is_beir, is_trec
from embassay.errors import SourceError, SpecError
from embassay.samples import Question
from embassay.types import Corpus

SHAPE = "retrieval"
SUFFIXES = (".txt", ".md")
ID = ("id", "_id", "docid", "doc_id", "document_id")
TEXT = ("text", "contents", "content", "passage", "document", "body")
"""Columns that are known by name, tried in this order."""
TITLE = ("title",)
NEEDS = (
    "a retrieval corpus needs questions=FILE, a table (CSV, TSV, JSON lines, Parquet) with a column of questions "
    f"({', '.join(QUESTION)}) and one of the ids of their right documents ({', '.join(RIGHT)})"
)
_FRONT_MATTER = re.compile(r"---[^\S\n]*\n(?:.*\n)*?(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)")


def recognises(head: str) -> bool:
    """Say no: a table of documents is told by its ``questions=`` alone."""
    del head
    return False


def recognises_folder(path: Path) -> bool:
    """Say whether a folder has documents in it, and is no collection with judgements or groups."""
    others = (is_beir, is_trec, is_msrp, is_opinosis)
    return not any(is_other(path) for is_other in others) and any(f.suffix.lower() in SUFFIXES for f in _walk(path))


def load(
    source: str,
    name: str,
    *,
    questions: str = "",
    licence: str = "",
    question: str = "",
    document: str = "",
    id: str = "",  # noqa: A002 - an option's name
    text: str = "",
    passages: str = "paragraph",
    unit: Unit = "document",
    language: str = "en",
) -> Corpus[Question]:
    """Read documents and the questions about them.

    Parameters
    ----------
    source
        Path of a folder, or of a table.
    questions
        Path of the table of questions.
    licence
        What the user says of the documents.
    question, document
        The names of the columns of the questions, where they are not known ones.
    id, text
        The names of the columns of the documents, likewise.
    passages
        ``document``, ``paragraph``, ``sentence``, or a number of words: a document is as near as its nearest passage.
    unit
        What makes questions independent: ``document``, that no document answers both; ``question``, that they are two.
    language
        Whose rules tell where a sentence ends.

    Raises
    ------
    SourceError
        With file, line and field, for what cannot be read, or names documents that are not there.
    SpecError
        For options that do not fit.
    """
    path, cut = Path(source), cutter(passages, language)
    if not questions:
        raise SourceError(NEEDS, path)
    asked = Path(questions).expanduser()
    if path.is_dir():
        if id or text:
            raise SpecError("id= and text= name columns of a table; the documents are a folder")
        texts, notes = _folder(path, asked)
    else:
        texts, notes = _table(path, id, text)
    found, columns = read_questions(asked, texts, question, document, unit)
    notes += f"questions: {columns}", f"passages: {passages}"
    return corpus_of(name, "documents", cut_all(texts, cut), found, licence=licence, notes=notes)


def _walk(path: Path) -> Iterator[Path]:
    """Yield the files of a folder and of those in it, sorted, without what is hidden."""
    entries(path)
    for place, folders, files in os.walk(path):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        yield from (Path(place, file) for file in sorted(files) if not file.startswith("."))


def _folder(path: Path, questions: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the texts of a folder by id, and notes."""
    texts, files, others = dict[str, str](), dict[str, Path](), Counter[str]()
    for file in _walk(path):
        if file.suffix.lower() not in SUFFIXES:
            others[file.suffix.lower() or "no suffix"] += not _same(file, questions)
        elif not _same(file, questions):
            name = text_field(file.relative_to(path).with_suffix("").as_posix(), path, None, "name of a file")
            if name in files:
                raise SourceError(f"{files[name].name} and {file.name} have the same id {name!r}; rename one", path)
            files[name], texts[name] = file, _text(file)
    if not texts:
        raise SourceError("no .txt or .md file in this folder", path)
    left = sum(others.values())
    kinds = listed(f"{kind} {count}" for kind, count in sorted(others.items()) if count)
    notes = [f"files: {counted(len(texts), 'document')}"]
    if left:
        notes.append(f"{left:,} other {'files' if left > 1 else 'file'} left out: {kinds}")
    return dict(sorted(texts.items())), tuple(notes)


def _same(file: Path, questions: Path) -> bool:
    return file.name == questions.name and file.resolve() == questions.resolve()


def _text(file: Path) -> str:
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SourceError("not UTF-8 text", file, line) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", file) from None
    if file.suffix.lower() == ".md":
        text = _without_front_matter(text.replace("\r\n", "\n"))
    if not text.strip():
        raise SourceError("no text in it; fill it or take it out of the folder", file)
    return text


def _without_front_matter(text: str) -> str:
    """Return a Markdown text without the YAML block that it may begin with."""
    found = _FRONT_MATTER.match(text)
    return text[found.end() :] if found else text


def _table(path: Path, id_: str, text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the texts of a table by id, and notes."""
    table = read_table(path)
    columns = {"id": table.column("of ids", "id", id_, ID), "text": table.column("of texts", "text", text, TEXT)}
    if columns["id"] == columns["text"]:
        raise SourceError("is both the id and the text", path, table.line, columns["id"])
    if title := table.perhaps("", [name for name in TITLE if name not in columns.values()]):
        columns["title"] = title
    texts, once = dict[str, str](), Once(path, columns["id"])
    for line, row in table.rows(tuple(columns.values())):
        for name in (columns["id"], columns["text"]):
            if row.get(name) is None:
                raise SourceError("missing", path, line, name)
        key = once.add(key_field(row, columns["id"], "", path, line).strip(), line)
        body = text_field(row[columns["text"]], path, line, columns["text"])
        texts[key] = _joined(row.get(title), body, path, line, title) if title else body
    if not texts:
        raise SourceError("the table has no documents", path)
    return texts, _told(columns.items())


def _joined(title: Any, text: str, path: Path, line: int, column: str) -> str:
    """Return a text with its title before it, where it has one."""
    if title is None or (isinstance(title, str) and not title.strip()):
        return text
    return f"{text_field(title, path, line, column).strip()} {text}"


def _told(columns: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    named = dict(columns)
    titles = ("each title stands before its text",) if "title" in named else ()
    return (f"columns: {', '.join(f'{what} {name}' for what, name in named.items())}", *titles)
