"""Users' text files. Other file types are rejected before a line is read, with advice on conversion."""

from __future__ import annotations

import io
import shlex
import zipfile
from pathlib import Path
from typing import TextIO

from embassay.core.errors import SourceError
from embassay.core.store.paths import open_file, unreadable

MARK = b"\xef\xbb\xbf"
"""The byte-order mark in UTF-8. Programs that append to each other's files may leave several."""
BLANK = "\ufeff \t\r\n"
"""What may stand before the first line of a file: marks and blank lines."""
BEGINNING = 64
"""The maximum number of bytes that the type of a file is detected from."""
EXPORT = "export the table as CSV (UTF-8) and use that file"
SAVE_TEXT = "save its text as .txt (UTF-8) and use that file"
TO_TEXT = {
    ".adoc": "convert it to HTML, for example with: asciidoctor FILE.adoc",
    ".pdf": "convert it to text, for example with: pdftotext FILE.pdf",
} | {
    suffix: f"convert it to text, for example with: pandoc FILE{suffix} -o FILE.md"
    for suffix in (".docx", ".epub", ".ipynb", ".odt", ".rtf")
}
"""What to do with documents that are not read, by suffix."""
UNPACK = "unpack it and use the file inside"
KNOWN = (
    (b"%PDF-", "a PDF document", TO_TEXT[".pdf"]),
    (b"\x1f\x8b", "a gzip file", UNPACK),
    (b"BZh", "a bzip2 file", UNPACK),
    (b"\xfd7zXZ\x00", "an xz file", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.xls, .doc)", f"{EXPORT}; for a document, {SAVE_TEXT}"),
    (b"{\\rtf", "an RTF document", TO_TEXT[".rtf"]),
    (b"SQLite format 3\x00", "an SQLite database", EXPORT),
    (b"ARROW1\x00\x00", "an Arrow file", "save the table as Parquet or CSV and use that file"),
    (b"PAR1", "a Parquet file", "this format is read from a text file; export the table as CSV (UTF-8)"),
    (b"\x89PNG", "a PNG image", "use a text file"),
    (b"\xff\xd8\xff", "a JPEG image", "use a text file"),
)
"""First bytes of files that are not text, the name of each type, and what to do instead."""
INSIDE = (
    ("xl/", "an Excel workbook", EXPORT),
    ("word/", "a Word document", TO_TEXT[".docx"]),
    ("ppt/", "a PowerPoint file", SAVE_TEXT),
    ("META-INF/manifest.xml", "an OpenDocument file", f"{EXPORT}; for a document, {TO_TEXT['.odt']}"),
    ("META-INF/container.xml", "an EPUB book", TO_TEXT[".epub"]),
)
"""Entries of ZIP archives that are known by other names."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
UTF_32 = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r")
UNUSED_IN_1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")


def open_text(path: Path) -> io.BufferedReader:
    """Open a text file and skip its byte-order marks.

    Raises
    ------
    SourceError
        If it does not exist or is not a regular file, or if its first bytes are those of another file type.
    """
    file = open_file(path)
    try:
        beginning = file.read(BEGINNING)
        refuse_other_forms(path, beginning)
    except (OSError, SourceError):
        file.close()
        raise
    start = 0
    while beginning.startswith(MARK, start):
        start += len(MARK)
    file.seek(start)
    return file


def open_decoded(path: Path, errors: str = "strict", newline: str | None = None) -> TextIO:
    """Open a text file as :func:`open_text` does, and decode it.

    Parameters
    ----------
    errors, newline
        As :func:`open` has them.
    """
    return io.TextIOWrapper(open_text(path), encoding="utf-8", errors=errors, newline=newline)


def read_text(path: Path) -> str:
    """Return the content of a text file.

    Raises
    ------
    SourceError
        As :func:`open_text` does, and with the line of the first byte that is not UTF-8.
    """
    try:
        with open_text(path) as file:
            content = file.read()
    except OSError as error:
        raise unreadable(error, path) from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        begin = content.rfind(b"\n", 0, error.start) + 1
        line, _, _ = content[begin:].partition(b"\n")
        raise not_utf8(path, number, line) from None


def read_head(path: Path, characters: int) -> str:
    """Return the beginning of a text file; bytes that are not UTF-8 are replaced."""
    try:
        with open_decoded(path, errors="replace") as file:
            return file.read(characters)
    except OSError as error:
        raise unreadable(error, path) from None


def not_utf8(path: Path, number: int, line: bytes) -> SourceError:
    """Return an error about a line that is not UTF-8, with its probable encoding.

    Parameters
    ----------
    number
        The number of the line, from 1.
    """
    not_ascii = sum(byte >= 0x80 for byte in line)
    # Bytes that no Latin-1 text has, or too many that are not ASCII: another encoding, or not text at all.
    strange = CONTROLS.union(UNUSED_IN_1252).intersection(line)
    if strange or 2 * not_ascii > len(line):
        return SourceError("not UTF-8 text; save it as UTF-8", path, number)
    problem = "not UTF-8 text, probably Latin-1 or Windows-1252"
    return SourceError(f"{problem}; convert it with: {_iconv('WINDOWS-1252', path)}", path, number)


def refuse_other_forms(path: Path, beginning: bytes) -> None:
    """Raise SourceError if a file begins like a file type other than UTF-8 text."""
    if beginning.startswith(UTF_32):
        raise SourceError(f"UTF-32 text, not UTF-8; convert it with: {_iconv('UTF-32', path)}", path)
    if beginning.startswith(UTF_16):
        raise SourceError(f"UTF-16 text, not UTF-8; convert it with: {_iconv('UTF-16', path)}", path)
    if beginning.startswith(b"PK\x03\x04"):
        kind, remedy = _inside(path)
        raise SourceError(f"{kind}, not a text file; {remedy}", path)
    for start, kind, remedy in KNOWN:
        if beginning.startswith(start):
            raise SourceError(f"{kind}, not a text file; {remedy}", path)


def _inside(path: Path) -> tuple[str, str]:
    """Return the name of a ZIP archive's type, by the names of its entries, and what to do with it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        names = []
    for start, kind, remedy in INSIDE:
        if any(name.startswith(start) for name in names):
            return kind, remedy
    return "a ZIP archive", UNPACK


def _iconv(encoding: str, path: Path) -> str:
    """Return the command that converts a file to UTF-8."""
    return f"iconv -f {encoding} -t UTF-8 {shlex.quote(path.name)} > {shlex.quote(f'utf8-{path.name}')}"
