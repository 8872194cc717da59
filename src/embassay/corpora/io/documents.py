"""Documents of your own: a folder of .txt, .md, .rst and .html files, a table, or one text.

Files named .markdown are read as .md. In a folder a document's id is its path without the suffix. A table (CSV,
TSV, JSON lines, Parquet) has an id and a text, and optionally a title.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import SourceError, SpecError, listed
from embassay.core.formatting import counted
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Stripped, TableRow, Text, column
from embassay.core.tables.texts import TO_TEXT, read_text
from embassay.corpora.io.folders import files_in
from embassay.corpora.io.front_matter import split_front_matter
from embassay.corpora.io.markup import TEMPLATE, html_text, is_template, markdown_text, mdx_text, rst_text

HTML = (".html", ".htm")
MARKDOWN = (".md", ".mdx", ".markdown")
NO_PAGES = (
    "_build _includes _layouts _site _static _templates node_modules requirements*.txt CMakeLists.txt robots.txt"
).split()
"""Folders of templates, of pages that a generator made, and of packages; and files for programs."""
READERS: Mapping[str, Callable[[str], str]] = {
    ".txt": str,
    **dict.fromkeys(MARKDOWN, markdown_text),
    ".mdx": mdx_text,
    ".rst": rst_text,
    **dict.fromkeys(HTML, html_text),
}
"""By the suffix of a document: the function that returns its text without markup."""


@dataclass(frozen=True)
class SourceDocument:
    """A document as read from its file.

    Attributes
    ----------
    text
        Not blank; without front matter, but with its title as a heading.
    title
        From its column; else empty.
    """

    id: str
    text: str
    title: str = ""

    @property
    def whole(self) -> str:
        """The text, preceded by the title if there is one."""
        return f"{self.title} {self.text}" if self.title else self.text


Reading = tuple[tuple[SourceDocument, ...], tuple[str, ...]]
"""Documents, and notes on how they were read."""


def read_documents(
    path: Path,
    *,
    id: str = "",  # noqa: A002 - the option's name
    text: str = "",
    aside: Sequence[Path] = (),
    follow_links: bool = False,
    exclude: Sequence[str] = (),
    needs_ids: bool = False,
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
    exclude
        Patterns of files and folders in it that are left out; see :func:`files_in`.
    needs_ids
        Whether rows of a table must have ids, because questions refer to them.

    Raises
    ------
    SourceError
        With file, line and field, for files that cannot be read or have no documents.
    SpecError
        If columns are named but the source is not a table.
    """
    if not path.exists():
        raise SourceError("no such file or folder", path)
    if not path.is_dir() and path.suffix.lower() not in READERS:
        return _read_records(path, id, text, needs_ids)
    if id or text:
        raise SpecError(f"id= and text= name columns of a table; {path} is not a table")
    if not path.is_dir():
        return (SourceDocument(path.stem, _text(path)),), ("the file is one document",)
    files = files_in(path, follow_links=follow_links, exclude=(*NO_PAGES, *exclude), aside=aside)
    return _read_folder(path, files, follow_links)


def without_suffix(name: str) -> str:
    """Return the id of a document in a folder from the name of its file; any other name as it is."""
    stem, dot, suffix = name.rpartition(".")
    return stem if dot + suffix.lower() in READERS else name


def why_left_out(path: Path, name: str) -> str:
    """Return why a file of a folder is no document, by its id or its name; empty if there is no such file."""
    for suffix in ("", *READERS, *TO_TEXT):
        file = path / f"{name}{suffix}"
        if file.is_file():
            try:
                _text(file)
            except SourceError as error:
                return str(error)
            return f"{file}: left out"
    return ""


def looks_like_documents(path: Path) -> bool:
    """Return whether a folder has pages, or files to convert to pages."""
    return any(file.suffix.lower() in (*READERS, *TO_TEXT) for file in files_in(path, exclude=NO_PAGES))


def _read_folder(path: Path, files: Iterable[Path], follow_links: bool) -> Reading:
    """Read the pages of a folder, sorted by id. Files that cannot be read are left out, and named in a note.

    Raises
    ------
    SourceError
        If no file has text.
    """
    documents = {}
    left_out = defaultdict(list)
    # HTML pages come last, when the texts that they may have been made from are known.
    for file in sorted(files, key=lambda file: file.suffix.lower() in HTML):
        name = file.relative_to(path).as_posix()
        key = without_suffix(name)
        try:
            # A link can point anywhere, for example to a file of passwords, and a document may be sent to a service.
            if file.is_symlink() and not follow_links:
                raise SourceError("a symbolic link; --follow-links or follow_links=true includes it", file)
            if key in documents:
                raise SourceError("another file has the same name", file)
            documents[key] = SourceDocument(key, _text(file))
        except SourceError as error:
            left_out[str(error).removeprefix(str(file)).lstrip(",: ")].append(name)

    notes = [
        f"{counted(len(names), 'file')} left out: {reason} ({listed(names)})" for reason, names in left_out.items()
    ]
    if not documents:
        raise SourceError("; ".join([f"this folder has no text in {', '.join(READERS)} files", *notes]), path)
    # By id, so that the order of a folder does not depend on the file system.
    read = tuple(documents[key] for key in sorted(documents))
    return read, (f"files: {counted(len(read), 'document')}", *notes)


class DocumentRow(TableRow):
    """A document of a table."""

    id: Key = column("id", "_id", "docid", "doc_id", "document_id", default="")
    text: Text = column("text", "contents", "content", "passage", "document", "body", "article")
    title: Stripped = ""


def _read_records(path: Path, id_: str, text: str, needs_ids: bool) -> Reading:
    """Read the documents of a table; without a column of ids rows are numbered from 1.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns and cells, a repeated id, and a table without documents.
    """
    selection = read_table(path).select(DocumentRow, id=id_, text=text)
    has_ids = "id" in selection.names
    if needs_ids and not has_ids:
        raise selection.table.missing("id")
    documents = []
    for number, row in enumerate(selection, 1):
        if has_ids and not row.id:
            raise row.error("missing", "id")
        documents.append(SourceDocument(row.id or str(number), row.text, row.title))
    return tuple(documents), (selection.note,)


def _text(file: Path) -> str:
    """Return the text of a file without markup, below the title in its front matter.

    Raises
    ------
    SourceError
        If it cannot be read or has no text.
    """
    suffix = file.suffix.lower()
    if suffix not in READERS:
        is_document = suffix in TO_TEXT
        raise SourceError("convert it to text, for example with pandoc" if is_document else "not a page", file)
    source = read_text(file).replace("\r\n", "\n").replace("\r", "\n")
    title = None
    if suffix in MARKDOWN + HTML:
        title, source = split_front_matter(source)
    if suffix in HTML:
        # Of a page with front matter the generator of the site makes the page.
        if title is not None:
            source = TEMPLATE.sub("", source)
        elif is_template(source):
            raise SourceError("a template, not a page", file)
    try:
        text = READERS[suffix](source)
    # Whatever a library raises for damaged markup, the other pages are read.
    except Exception as error:
        raise SourceError(f"its markup cannot be read ({type(error).__name__}: {error})", file) from None
    if title and text.partition("\n")[0].strip("# ").casefold() != title.casefold():
        return f"# {title}\n\n{text}"
    if not text.strip():
        raise SourceError("no text in it", file)
    return text
