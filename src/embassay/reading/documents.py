"""Documents of your own: a folder of .txt and .md files, a table, a file in SQuAD's form, or one text.

In a folder a document's id is its path without the suffix. A table (CSV, TSV, JSON lines, Parquet) has an id and a
text, and perhaps a title. In SQuAD's form the paragraphs of an article are documents that belong together.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.errors import SourceError, SpecError
from embassay.reading.folders import Once, entries
from embassay.reading.jsonl import counted, key_field, listed, text_field
from embassay.reading.records import read_table
from embassay.reading.squad import is_squad, paragraphs

SUFFIXES = (".txt", ".md")
ID = ("id", "_id", "docid", "doc_id", "document_id")
TEXT = ("text", "contents", "content", "passage", "document", "body")
"""Columns that are known by name, tried in this order."""
TITLE = ("title",)
HEAD = 65_536
_FRONT_MATTER = re.compile(r"---[^\S\n]*\n(?:.*\n)*?(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)")
Notes = tuple[str, ...]


@dataclass(frozen=True)
class SourceDocument:
    """A document as its file has it.

    Attributes
    ----------
    text
        Not blank; without a Markdown file's front matter.
    title
        Of its column, or of the article that it is a paragraph of; else empty.
    unit
        The key of what it belongs to, an article for example; empty where it stands for itself.
    """

    id: str
    text: str
    title: str = ""
    unit: str = ""

    @property
    def whole(self) -> str:
        """The text with its title before it, where it has one."""
        return f"{self.title} {self.text}" if self.title else self.text


def read_documents(
    path: Path,
    *,
    id: str = "",  # noqa: A002 - the option's name
    text: str = "",
    aside: Sequence[Path] = (),
) -> tuple[tuple[SourceDocument, ...], Notes]:
    """Read documents from whatever a path is, and say in notes what it was read as.

    Parameters
    ----------
    id, text
        The names of a table's columns, where they are not known ones; without a column of ids rows are numbered.
    aside
        Files in the folder that are no documents.

    Raises
    ------
    SourceError
        With file, line and field, for what cannot be read or has no document.
    SpecError
        If columns are named and there is no table.
    """
    if path.is_dir():
        found, notes = read_folder(path, aside)
    elif path.suffix.lower() in SUFFIXES:
        found, notes = (SourceDocument(path.stem, _text(path)),), ("the file is one document",)
    elif is_squad(_head(path)):
        found = tuple(SourceDocument(p.id, p.text, p.title, p.article) for p in paragraphs(path))
        notes = (f"SQuAD's form: {counted(len(found), 'paragraph')}",)
    else:
        return read_records(path, id, text, named="--{}", titled=False)
    if id or text:
        raise SpecError(f"columns are named, but {path} is no table")
    return found, notes


def documents_in(path: Path, aside: Sequence[Path] = ()) -> Iterator[Path]:
    """Yield the texts of a folder, and of those in it, sorted, without the files that are set aside."""
    return (file for file in _walk(path, aside) if file.suffix.lower() in SUFFIXES)


def read_folder(path: Path, aside: Sequence[Path] = ()) -> tuple[tuple[SourceDocument, ...], Notes]:
    """Read the texts of a folder, sorted by id.

    Parameters
    ----------
    aside
        Files that may lie in the folder and are no documents.

    Raises
    ------
    SourceError
        With the file, for what cannot be read or is blank, two files of one id, and no file at all.
    """
    texts, files, others = dict[str, str](), dict[str, Path](), Counter[str]()
    for file in _walk(path, aside):
        if file.suffix.lower() not in SUFFIXES:
            others[file.suffix.lower() or "no suffix"] += 1
            continue
        name = text_field(file.relative_to(path).with_suffix("").as_posix(), path, None, "name of a file")
        if name in files:
            raise SourceError(f"{files[name].name} and {file.name} have the same id {name!r}; rename one", path)
        files[name], texts[name] = file, _text(file)
    if not texts:
        raise SourceError("no .txt or .md file in this folder", path)
    notes = [f"files: {counted(len(texts), 'document')}"]
    if left := sum(others.values()):
        kinds = listed(f"{kind} {count}" for kind, count in sorted(others.items()))
        notes.append(f"{left:,} other {'files' if left > 1 else 'file'} left out: {kinds}")
    return tuple(SourceDocument(name, text) for name, text in sorted(texts.items())), tuple(notes)


def read_records(
    path: Path,
    id: str = "",  # noqa: A002 - the option's name
    text: str = "",
    *,
    named: str = "{}=",
    titled: bool = True,
) -> tuple[tuple[SourceDocument, ...], Notes]:
    """Read the documents of a table.

    Parameters
    ----------
    id, text
        The names of the columns, where they are not known ones.
    named
        How messages write the option that names a column.
    titled
        Whether titles stand before texts, and rows must have ids; otherwise rows without a column of ids are numbered
        from 1.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns and cells, an id that stands twice, and no document.
    """
    table = read_table(path)
    key = table.column("of ids", named.format("id"), id, ID) if titled else table.perhaps(id, ID)
    columns = {"id": key} if key else {}
    columns["text"] = table.column("of texts", named.format("text"), text, TEXT)
    if key == columns["text"]:
        raise SourceError("is both the id and the text", path, table.line, key)
    if title := table.perhaps("", [name for name in TITLE if name not in columns.values()]):
        columns["title"] = title
    found, once = list[SourceDocument](), Once(path, key)
    for number, (line, row) in enumerate(table.rows(tuple(columns.values())), 1):
        for name in filter(None, (key, columns["text"])):
            if row.get(name) is None:
                raise SourceError("missing", path, line, name)
        own = once.add(key_field(row, key, "", path, line).strip(), line) if key else str(number)
        body = text_field(row[columns["text"]], path, line, columns["text"])
        found.append(SourceDocument(own, body, _title(row.get(title), path, line, title) if title else ""))
    if not found:
        raise SourceError("the table has no documents", path)
    told = f"columns: {', '.join(f'{what} {name}' for what, name in columns.items())}"
    return tuple(found), (told, *(["each title stands before its text"] if title and titled else []))


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.read(HEAD)
    except FileNotFoundError:
        raise SourceError("no such file or folder", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


def _walk(path: Path, aside: Sequence[Path] = ()) -> Iterator[Path]:
    """Yield the files of a folder and of those in it, sorted, without what is hidden or set aside."""
    entries(path)
    for place, folders, files in os.walk(path):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        found = (Path(place, file) for file in sorted(files) if not file.startswith("."))
        yield from (file for file in found if not any(_same(file, other) for other in aside))


def _same(file: Path, other: Path) -> bool:
    return file.name == other.name and file.resolve() == other.resolve()


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


def _title(value: Any, path: Path, line: int, column: str) -> str:
    """Return a title, empty where there is none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    return text_field(value, path, line, column).strip()
