"""Users' text files. Other file types are rejected before a line is read."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from embassay.core.errors import SourceError, first_line_of
from embassay.core.store.paths import open_file, unreadable

BLANK = "\ufeff \t\r\n"
"""What may stand before the first line of a file: a mark and blank lines."""
PEEK = 1_048_576
"""The maximum number of characters that the form of a table is detected from."""
DELIMITER_LINE = re.compile(r'\A"?sep=.?"?\r?\n')
BEGINNING = 64
"""The maximum number of bytes that the type of a file is detected from."""
REMEDY = "export a table as CSV (UTF-8), save the text of a document as .txt (UTF-8), unpack an archive"
TO_UTF_8 = "if it is from Windows: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE"
TO_TEXT = (".adoc", ".docx", ".epub", ".ipynb", ".odt", ".pdf", ".rtf")
"""The suffixes of documents that are not read."""
BINARY = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF-", b"{\\rtf", b"\x1f\x8b", b"PAR1", b"\xff\xfe", b"\xfe\xff")
"""The first bytes of files of Office, of PDF and RTF documents, of archives, of Parquet and of UTF-16."""


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
            if beginning.startswith(BINARY) or b"\0" in beginning:
                raise SourceError(f"a binary file, not a text file; {REMEDY}", path)
            with io.TextIOWrapper(file, encoding="utf-8-sig", errors=errors, newline="") as text:
                yield text
    except UnicodeDecodeError:
        # The decoder reads blocks, so its error does not say which line is wrong.
        lines = enumerate(path.read_bytes().split(b"\n"), 1)
        number = next(number for number, line in lines if line.decode(errors="ignore").encode() != line)
        raise SourceError(f"not UTF-8 text; {TO_UTF_8}", path, number) from None
    except OSError as error:
        raise unreadable(error, path) from None


def read_text(path: Path) -> str:
    """Return the content of a text file, or raise SourceError as :func:`decoded` does."""
    with decoded(path) as file:
        return file.read()


def first_line(path: Path) -> str:
    """Return the first line of a text file, from its first characters; bytes that are not UTF-8 are replaced.

    A line that only tells Excel the delimiter, ``sep=;``, is not counted.
    """
    with decoded(path, errors="replace") as file:
        return first_line_of(DELIMITER_LINE.sub("", file.read(PEEK), count=1))
