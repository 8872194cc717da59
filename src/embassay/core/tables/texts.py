"""Users' text files. Other file types are rejected before a line is read."""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
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
REMEDY = "export a table as CSV (UTF-8), save the text of a document as .txt (UTF-8), unpack an archive"
TO_TEXT = {
    ".adoc": "convert it to HTML, for example with: asciidoctor FILE.adoc",
    ".pdf": "convert it to text, for example with: pdftotext FILE.pdf",
} | {
    suffix: f"convert it to text, for example with: pandoc FILE{suffix} -o FILE.md"
    for suffix in (".docx", ".epub", ".ipynb", ".odt", ".rtf")
}
"""What to do with documents that are not read, by suffix."""
BINARY = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF-", b"{\\rtf", b"\x1f\x8b", b"PAR1")
"""The first bytes of files of Office, of PDF and RTF documents, of archives and of Parquet."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""The first bytes of texts in UTF-16 and UTF-32."""


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


@contextmanager
def decoded(path: Path, errors: str = "strict") -> Iterator[TextIO]:
    """Open a text file as :func:`open_text` does, and decode it; line ends stay as they are written.

    Parameters
    ----------
    errors
        What is done with bytes that are not UTF-8, as :func:`open` has it.

    Raises
    ------
    SourceError
        Also for what goes wrong while it is read, with the line of the first byte that is not UTF-8.
    """
    try:
        with io.TextIOWrapper(open_text(path), encoding="utf-8", errors=errors, newline="") as file:
            yield file
    except UnicodeDecodeError:
        # The decoder reads blocks, so its error does not say which line is wrong.
        lines = enumerate(path.read_bytes().split(b"\n"), 1)
        number = next(number for number, line in lines if line.decode(errors="ignore").encode() != line)
        raise not_utf8(path, number) from None
    except OSError as error:
        raise unreadable(error, path) from None


def read_text(path: Path) -> str:
    """Return the content of a text file, or raise SourceError as :func:`decoded` does."""
    with decoded(path) as file:
        return file.read()


def read_head(path: Path, characters: int) -> str:
    """Return the beginning of a text file; bytes that are not UTF-8 are replaced."""
    with decoded(path, errors="replace") as file:
        return file.read(characters)


def not_utf8(path: Path, number: int) -> SourceError:
    """Return an error about a line that is not UTF-8.

    Parameters
    ----------
    number
        The number of the line, from 1.
    """
    return SourceError(f"not UTF-8 text; if it is from Windows: {_iconv('WINDOWS-1252', path)}", path, number)


def refuse_other_forms(path: Path, beginning: bytes) -> None:
    """Raise SourceError if a file begins like a file type other than UTF-8 text."""
    if beginning.startswith(UTF_16):
        raise SourceError(f"UTF-16 text, not UTF-8; convert it with: {_iconv('UTF-16', path)}", path)
    if beginning.startswith(BINARY) or b"\0" in beginning:
        raise SourceError(f"a binary file, not a text file; {REMEDY}", path)


def _iconv(encoding: str, path: Path) -> str:
    """Return the command that converts a file to UTF-8."""
    return f"iconv -f {encoding} -t UTF-8 {shlex.quote(path.name)} > {shlex.quote(f'utf8-{path.name}')}"
