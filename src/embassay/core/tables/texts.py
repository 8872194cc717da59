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

BLANK = "\ufeff \t\r\n"
"""What may stand before the first line of a file: a mark and blank lines."""
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


@contextmanager
def decoded(path: Path, errors: str = "strict") -> Iterator[TextIO]:
    """Open a text file without its byte-order mark; line ends stay as they are written.

    Parameters
    ----------
    errors
        What is done with bytes that are not UTF-8, as :func:`open` has it.

    Raises
    ------
    SourceError
        If it does not exist or is not a regular file, or if its first bytes are those of another file type; for what
        goes wrong while it is read, with the line of the first byte that is not UTF-8.
    """
    try:
        with open_file(path) as file:
            beginning = file.peek()[:BEGINNING]
            if beginning.startswith(UTF_16):
                raise SourceError(f"UTF-16 text, not UTF-8; convert it with: {_iconv('UTF-16', path)}", path)
            if beginning.startswith(BINARY) or b"\0" in beginning:
                raise SourceError(f"a binary file, not a text file; {REMEDY}", path)
            with io.TextIOWrapper(file, encoding="utf-8-sig", errors=errors, newline="") as text:
                yield text
    except UnicodeDecodeError:
        # The decoder reads blocks, so its error does not say which line is wrong.
        lines = enumerate(path.read_bytes().split(b"\n"), 1)
        number = next(number for number, line in lines if line.decode(errors="ignore").encode() != line)
        problem = f"not UTF-8 text; if it is from Windows: {_iconv('WINDOWS-1252', path)}"
        raise SourceError(problem, path, number) from None
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


def _iconv(encoding: str, path: Path) -> str:
    """Return the command that converts a file to UTF-8."""
    return f"iconv -f {encoding} -t UTF-8 {shlex.quote(path.name)} > {shlex.quote(f'utf8-{path.name}')}"
