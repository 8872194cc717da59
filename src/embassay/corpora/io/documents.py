"""Documents of your own: a folder of .txt, .md, .rst and .html files, a table, a file in SQuAD's form, or one text.

In a folder a document's id is its path without the suffix. A table (CSV, TSV, JSON lines, Parquet) has an id and a
text, and perhaps a title. In SQuAD's form the paragraphs of an article are documents that belong together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.jsonl import Ids, counted, listed, text_field
from embassay.corpora.io.markup import html_text, rst_text
from embassay.corpora.io.records import is_parquet, read_table
from embassay.corpora.io.rows import is_blank
from embassay.corpora.io.squad import is_squad, paragraphs
from embassay.corpora.io.texts import read_head, read_text
from embassay.errors import SourceError, SpecError, quoted

HTML = (".html", ".htm")
SUFFIXES = (".txt", ".md", ".rst", *HTML)
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
    follow_links: bool = False,
) -> tuple[tuple[SourceDocument, ...], Notes]:
    """Read documents from whatever a path is, and say in notes what it was read as.

    Parameters
    ----------
    id, text
        The names of a table's columns, where they are not known ones; without a column of ids rows are numbered.
    aside
        Files in the folder that are no documents.
    follow_links
        Whether what symbolic links in the folder lead to is read.

    Raises
    ------
    SourceError
        With file, line and field, for what cannot be read or has no document.
    SpecError
        If columns are named and there is no table.
    """
    if not path.exists():
        raise SourceError("no such file or folder", path)
    if path.is_dir():
        found, notes = read_folder(path, aside, follow_links)
    elif path.suffix.lower() in SUFFIXES:
        text_of_file = _text(path)
        if not text_of_file:
            raise SourceError("no text in it", path)
        found, notes = (SourceDocument(path.stem, text_of_file),), ("the file is one document",)
    elif path.suffix.lower() != ".parquet" and not is_parquet(path) and is_squad(read_head(path, HEAD)):
        found = tuple(SourceDocument(p.id, p.text, p.title, p.article) for p in paragraphs(path))
        notes = (f"SQuAD's form: {counted(len(found), 'paragraph')}",)
    else:
        return read_records(path, id, text, named="--{}", titled=False)
    if id or text:
        raise SpecError(f"columns are named, but {path} is no table")
    return found, notes


def looks_like_documents(path: Path) -> bool:
    """Say whether a folder, or one in it, has a file with the name of a text, be it a link."""
    listing = Listing()
    return any(_is_document(file) for file in listing.files(path)) or (
        listing.links > 0 and any(_is_document(entry) for entry in entries(path))
    )


def documents_in(path: Path, aside: Sequence[Path] = (), follow_links: bool = False) -> Iterator[Path]:
    """Yield the texts of a folder, and of those in it, sorted, without the files that are set aside."""
    return (file for file in _files(path, aside, Listing(follow_links)) if _is_document(file))


def read_folder(
    path: Path, aside: Sequence[Path] = (), follow_links: bool = False
) -> tuple[tuple[SourceDocument, ...], Notes]:
    """Read the texts of a folder, sorted by id.

    Parameters
    ----------
    aside
        Files that may lie in the folder and are no documents.
    follow_links
        Whether what symbolic links in the folder lead to is read.

    Raises
    ------
    SourceError
        With the file, for what cannot be read, two files of one id, and no text at all.
    """
    listing, others = Listing(follow_links), Counter[str]()
    found = list[Path]()
    for file in _files(path, aside, listing):
        if _is_document(file):
            found.append(file)
        else:
            others[file.suffix.lower() or "no suffix"] += 1
    files, rendered = _by_id(path, found)
    if not files:
        raise SourceError(f"no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file in this folder{listing.hint()}", path)
    texts = {name: _text(file) for name, file in files.items()}
    empty = sorted(name for name, text in texts.items() if not text)
    if len(empty) == len(texts):
        raise SourceError(f"no text in its {counted(len(empty), 'document')}{listing.hint()}", path)
    notes = [f"files: {counted(len(texts) - len(empty), 'document')}"]
    if empty:
        first = files[empty[0]].relative_to(path)
        notes.append(f"{counted(len(empty), 'file')} left out: no text (the first: {first})")
    if rendered:
        notes.append(f"{counted(rendered, 'file')} left out: HTML of a text that lies beside it")
    if left := sum(others.values()):
        kinds = listed(f"{kind} {count}" for kind, count in sorted(others.items()))
        notes.append(f"{left:,} other {'files' if left > 1 else 'file'} left out: {kinds}")
    notes += listing.notes()
    return tuple(SourceDocument(name, text) for name, text in sorted(texts.items()) if text), tuple(notes)


def _by_id(path: Path, found: Iterable[Path]) -> tuple[dict[str, Path], int]:
    """Return the files by their ids, and how many pages of HTML were left out that were made from another file."""
    files, pages = dict[str, Path](), list[tuple[str, Path]]()
    for file in found:
        name = text_field(file.relative_to(path).with_suffix("").as_posix(), path, None, "name of a file")
        if file.suffix.lower() in HTML:
            pages.append((name, file))
        else:
            _add(files, name, file, path)
    others = [(name, file) for name, file in pages if name not in files]
    for name, file in others:
        _add(files, name, file, path)
    return files, len(pages) - len(others)


def _add(files: dict[str, Path], name: str, file: Path, path: Path) -> None:
    """Add a file by its id, or raise SourceError where there is one of this id."""
    if name in files:
        raise SourceError(f"{files[name].name} and {file.name} have the same id {quoted(name)}; rename one", path)
    files[name] = file


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
    title = table.perhaps("", [name for name in TITLE if name not in columns.values()])
    if title:
        columns["title"] = title
    ids = Ids(path, key, numbered=False)
    documents = []
    for number, row in enumerate(table.read(tuple(columns.values())), 1):
        row.require_values(*(name for name in (key, columns["text"]) if name))
        name = ids.add(row.key(key).strip(), row.line) if key else str(number)
        title_of_row = "" if not title or is_blank(row.values.get(title)) else row.text(title).strip()
        documents.append(SourceDocument(name, row.text(columns["text"]), title_of_row))
    if not documents:
        raise SourceError("the table has no documents", path)
    notes = [f"columns: {', '.join(f'{what} {name}' for what, name in columns.items())}"]
    if title and titled:
        notes.append("each title stands before its text")
    return tuple(documents), tuple(notes)


def _files(path: Path, aside: Sequence[Path], listing: Listing) -> Iterator[Path]:
    """Yield the files of a folder and of those in it, sorted, without what is hidden or set aside."""
    return (file for file in listing.files(path) if not any(_same(file, other) for other in aside))


def _is_document(file: Path) -> bool:
    return file.suffix.lower() in SUFFIXES


def _same(file: Path, other: Path) -> bool:
    return file.name == other.name and file.resolve() == other.resolve()


def _text(file: Path) -> str:
    """Return the text of a file without markup that is no text, empty where there is none."""
    text, suffix = read_text(file), file.suffix.lower()
    if suffix == ".md":
        text = _without_front_matter(text.replace("\r\n", "\n"))
    elif suffix == ".rst":
        text = rst_text(text)
    elif suffix in HTML:
        text = html_text(text)
    return text if text.strip() else ""


def _without_front_matter(text: str) -> str:
    """Return a Markdown text without the YAML block that it may begin with."""
    found = _FRONT_MATTER.match(text)
    return text[found.end() :] if found else text
