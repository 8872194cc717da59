"""Documents of your own: a folder of .txt, .md, .rst, .html and .story files, a table, SQuAD's format, or one text.

Files named .mdx or .markdown are read as .md. In a folder a document's id is its path without the suffix. A table (CSV,
TSV, JSON lines, Parquet) has an id and a text, and optionally a title. In SQuAD's format each paragraph is a document,
and an article is a unit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import SourceError, SpecError, quoted
from embassay.core.formatting import counted
from embassay.core.tables.jsonl import Ids, listed, text_field
from embassay.core.tables.records import TableColumn, is_parquet, read_table
from embassay.core.tables.texts import TO_TEXT, read_head, read_text
from embassay.corpora.io.folders import Listing, entries
from embassay.corpora.io.front_matter import split_front_matter
from embassay.corpora.io.markup import SILENT, UNREAD, html_text, markdown_text, rst_text
from embassay.corpora.io.passages import word_count
from embassay.corpora.io.squad import is_squad, paragraphs

HTML = (".html", ".htm")
FRONT_MATTER = (".md", ".mdx", ".markdown", *HTML)
"""The suffixes of pages that may have front matter."""
ID = ("id", "_id", "docid", "doc_id", "document_id")
TEXT = ("text", "contents", "content", "passage", "document", "body", "article")
"""Column names that are recognised, tried in this order."""
TITLE = ("title",)
HEAD = 65_536
STUB = 25
"""Pages of fewer words are named."""


def _story_text(source: str) -> str:
    """Return the article of a story of CNN/DailyMail, which its summary follows (Hermann et al. 2015)."""
    return source.partition("@highlight")[0]


READERS: Mapping[str, Callable[[str], str]] = {
    ".txt": str,
    ".md": markdown_text,
    ".mdx": markdown_text,
    ".markdown": markdown_text,
    ".rst": rst_text,
    ".story": _story_text,
    ".html": html_text,
    ".htm": html_text,
}
"""By the suffix of a document: the function that returns its text without markup."""
_DROPPED_HTML = re.compile(rf"<({'|'.join(sorted(UNREAD))}|(?=!--))", re.IGNORECASE)
_DROPPED = {
    ".rst": re.compile(
        rf"^ *\.\.(?: +(?:\|[^|\n]+\| +)?({SILENT})::| +(?![_[|]|[\w:.+-]+::)|$)", re.IGNORECASE | re.MULTILINE
    ),
    ".html": _DROPPED_HTML,
    ".htm": _DROPPED_HTML,
    ".story": re.compile("@(highlight)"),
}
"""By suffix: finds what a reader drops; the group is its kind, empty for comments."""


@dataclass(frozen=True)
class SourceDocument:
    """A document as read from its file.

    Attributes
    ----------
    text
        Not blank; without front matter, but with its title as a heading.
    title
        From its column, or the title of its article; else empty.
    unit
        The key of its unit, for example an article; empty if the document is its own unit.
    """

    id: str
    text: str
    title: str = ""
    unit: str = ""

    @property
    def whole(self) -> str:
        """The text, preceded by the title if there is one."""
        if self.title:
            return f"{self.title} {self.text}"
        return self.text


Reading = tuple[tuple[SourceDocument, ...], tuple[str, ...]]
"""Documents, and notes on how they were read."""


def read_documents(
    path: Path,
    *,
    id: str = "",  # noqa: A002 - the option's name
    text: str = "",
    aside: Sequence[Path] = (),
    follow_links: bool = False,
    option: str = "--{}",
    titled: bool = False,
) -> Reading:
    """Read documents from a path of any kind, with notes on its format.

    Parameters
    ----------
    id, text
        The column names of a table, if they are not recognised by name; without a column of ids rows are numbered.
    aside
        Files in the folder that are not documents.
    follow_links
        Whether symbolic links in the folder are followed.
    option
        How the option that names a column is written in messages.
    titled
        Whether titles are put before texts and rows of a table must have ids.

    Raises
    ------
    SourceError
        With file, line and field, for files that cannot be read or have no documents.
    SpecError
        If columns are named but the source is not a table.
    """
    if not path.exists():
        raise SourceError("no such file or folder", path)
    if _is_table(path):
        return _read_records(path, id, text, option, titled)
    if id or text:
        raise SpecError(f"id= and text= name columns of a table; {path} is not a table")
    if path.is_dir():
        return read_folder(path, aside, follow_links)
    if _is_document(path):
        content = _text(path, Counter())
        if not content:
            raise SourceError("no text in it", path)
        return (SourceDocument(path.stem, content),), ("the file is one document",)
    documents = tuple(SourceDocument(p.id, p.text.strip(), p.title, p.article) for p in paragraphs(path))
    return documents, (f"SQuAD's format: {counted(len(documents), 'paragraph')}",)


def without_suffix(name: str) -> str:
    """Return the id of a document in a folder from the name of its file; any other name as it is."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix.lower() in READERS else name


def _is_table(path: Path) -> bool:
    """Return whether a path is a table: neither a folder, nor a text, nor in SQuAD's format."""
    if path.is_dir() or _is_document(path):
        return False
    return is_parquet(path) or not is_squad(read_head(path, HEAD))


def looks_like_documents(path: Path) -> bool:
    """Return whether a folder or a subfolder has a file or link with the suffix of a text, or files to convert."""
    listing = Listing()
    # A folder of PDF files counts as documents too: its reader explains how to convert them.
    if any(_is_document(file) or file.suffix.lower() in TO_TEXT for file in listing.files(path)):
        return True
    # Links are not followed, but a folder of links counts as documents: its reader explains how to follow them.
    return listing.links > 0 and any(_is_document(entry) for entry in entries(path))


def documents_in(path: Path, aside: Sequence[Path] = (), follow_links: bool = False) -> Iterator[Path]:
    """Yield the text files of a folder and its subfolders, sorted, without the files in ``aside``."""
    return (file for file in _files(path, aside, Listing(follow_links)) if _is_document(file))


def unread_files(path: Path) -> dict[str, str]:
    """Return why each file of a folder is not a document, by what its id would be; empty for a file."""
    if not path.is_dir():
        return {}
    names = [file.relative_to(path) for file in Listing().files(path)]
    reason = f"it has no text, or its suffix is none of {', '.join(READERS)}"
    return {
        name.with_suffix("").as_posix(): f"{name} is not read: {TO_TEXT.get(name.suffix.lower(), reason)}"
        for name in names
    }


def read_folder(path: Path, aside: Sequence[Path] = (), follow_links: bool = False) -> Reading:
    """Read the texts of a folder, sorted by id.

    Parameters
    ----------
    aside
        Files in the folder that are not documents.
    follow_links
        Whether symbolic links in the folder are followed.

    Raises
    ------
    SourceError
        With the file, for files that cannot be read, two files with the same id, and a folder without text.
    """
    listing = Listing(follow_links)
    all_files = list(_files(path, aside, listing))
    documents = [file for file in all_files if _is_document(file)]
    others = Counter(file.suffix.lower() or "no suffix" for file in all_files if not _is_document(file))
    files = _by_id(path, documents)
    if not files:
        raise _no_documents(path, others, listing)
    # By id, so that the order of a folder does not depend on the file system.
    dropped = Counter[str]()
    texts = {name: _text(file, dropped) for name, file in sorted(files.items())}
    read = tuple(SourceDocument(name, text) for name, text in texts.items() if text)
    empty = [name for name, text in texts.items() if not text]
    if not read:
        raise SourceError(f"its {counted(len(empty), 'document')} have no text{listing.hint()}", path)

    notes = [f"files: {counted(len(read), 'document')}"]
    if empty:
        first = files[empty[0]].relative_to(path)
        notes.append(f"{counted(len(empty), 'file')} left out: no text (the first: {first})")
    rendered = len(documents) - len(files)
    if rendered:
        notes.append(f"{counted(rendered, 'file')} left out: HTML made from a text file of the same name")
    if others:
        kinds = listed(f"{kind} {count}" for kind, count in sorted(others.items()))
        notes.append(f"{counted(others.total(), 'other file')} left out: {kinds}")
    notes += listing.notes()
    if markup := [f"{kind} {count:,}" for kind, count in dropped.most_common() if count]:
        notes.append(f"dropped from the texts: {listed(markup)}")
    stubs = [document.id for document in read if word_count(document.text) < STUB]
    if stubs:
        notes.append(f"{counted(len(stubs), 'page')} with fewer than {STUB} words: {listed(stubs)}")
    return read, tuple(notes)


def _no_documents(path: Path, others: Mapping[str, int], listing: Listing) -> SourceError:
    """Return the error of a folder with no text file; it says how to convert those that it has."""
    *suffixes, last = READERS
    problem = f"this folder has no {', '.join(suffixes)} or {last} file"
    for suffix in sorted(others.keys() & TO_TEXT.keys()):
        problem += f"; a {suffix} file is not read: {TO_TEXT[suffix]}"
    return SourceError(f"{problem}{listing.hint()}", path)


def _by_id(path: Path, documents: Sequence[Path]) -> dict[str, Path]:
    """Return the files by their ids; HTML pages that were made from another file are left out.

    Raises
    ------
    SourceError
        For two files with the same id.
    """
    files: dict[str, Path] = {}
    # HTML pages come last, when the texts that they may have been made from are known.
    for file in sorted(documents, key=_is_page):
        name = text_field(file.relative_to(path).with_suffix("").as_posix(), path, None, "name of a file")
        if name not in files:
            files[name] = file
        elif not _is_page(file) or _is_page(files[name]):
            raise SourceError(f"{files[name].name} and {file.name} have the same id {quoted(name)}; rename one", path)
    return files


def _read_records(path: Path, id_: str, text: str, option: str, titled: bool) -> Reading:
    """Read the documents of a table.

    The parameters are those of :func:`read_documents`. Rows without a column of ids are numbered from 1.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns and cells, a repeated id, and a table without documents.
    """
    table = read_table(path)
    # Questions refer to documents by id, so a corpus with questions needs the column.
    needed = "of ids" if titled else ""
    columns = table.select(
        id=TableColumn(ID, id_, needed, option.format("id")),
        text=TableColumn(TEXT, text, "of texts", option.format("text")),
        title=TableColumn(TITLE),
    )
    uses = columns.names.keys()
    ids = Ids(path, columns.names.get("id", ""), numbered=False)
    documents = list[SourceDocument]()
    for number, row in enumerate(columns.rows(), 1):
        row.require_values(*sorted(uses - {"title"}))
        name = ids.add(row.key("id", str(number)).strip(), row.line)
        documents.append(SourceDocument(name, row.text("text"), row.optional_text("title").strip()))
    if not documents:
        raise SourceError("the table has no documents", path)
    notes = [f"columns: {columns.note}"]
    if "title" in uses and titled:
        notes.append("each title is put before its text")
    return tuple(documents), tuple(notes)


def _files(path: Path, aside: Sequence[Path], listing: Listing) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders, sorted, without hidden files and those in ``aside``."""
    left_out = {file.resolve() for file in aside}
    return (file for file in listing.files(path) if file.resolve() not in left_out)


def _is_document(file: Path) -> bool:
    return file.suffix.lower() in READERS


def _is_page(file: Path) -> bool:
    return file.suffix.lower() in HTML


def _text(file: Path, dropped: Counter[str]) -> str:
    """Return the text of a file without markup, below the title in its front matter; empty if there is none.

    What the text is without is counted in ``dropped``, by kind.
    """
    suffix = file.suffix.lower()
    source = read_text(file).replace("\r\n", "\n").replace("\r", "\n")
    title = None
    if suffix in FRONT_MATTER:
        title, source = split_front_matter(source)
        dropped["front matter"] += title is not None
    if suffix in _DROPPED:
        dropped.update(kind.lower() or "comments" for kind in _DROPPED[suffix].findall(source))
    text = READERS[suffix](source)
    first_line, _, _ = text.partition("\n")
    if title and first_line.strip("# ").casefold() != title.casefold():
        text = f"# {title}\n\n{text}"
    return text if text.strip() else ""
