"""A user's file as lines of text or as a table, without what no file of sentences holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from embassay.corpora.io.records import Table, is_parquet, read_table
from embassay.corpora.io.texts import not_utf8, open_text
from embassay.errors import SourceError
from embassay.store.paths import unreadable

LONGEST_LINE = 1_000_000
"""Bytes of a line, at most."""
TEXTS, TABLES = (".txt", ".text"), (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet")
"""The form of a file by the end of its name; another is known by its first line."""


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end) of a UTF-8 file.

    Raises
    ------
    SourceError
        With file and line, for what cannot be read, is not UTF-8, holds the character NUL, or is longer than a line of
        sentences can be.
    """
    _refuse_folder(path)
    try:
        with open_text(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
                if len(line) > LONGEST_LINE:
                    told = f"a line of more than {LONGEST_LINE:,} bytes; write one sentence on each line"
                    raise SourceError(told, path, number)
                if b"\0" in line:
                    raise SourceError("holds the character NUL, as no text does; save it as UTF-8", path, number)
                yield number, _decoded(line, path, number).rstrip("\r\n")
    except OSError as error:
        raise unreadable(error, path) from None


def is_text(path: Path, column: str = "") -> bool:
    """Say whether a file is a text of one sentence a line, by its name, else by its first line that is not blank.

    Parameters
    ----------
    column
        What the user says of the sentences' column; a file that has one is no plain text.
    """
    ending = path.suffix.lower()
    if column or ending in TABLES:
        return False
    _refuse_folder(path)
    if is_parquet(path):
        return False
    if ending in TEXTS:
        return True
    line = next((line for _, line in lines_of(path) if line.strip()), "")
    return not line.lstrip().startswith("{") and "\t" not in line


def open_table(path: Path) -> Table:
    """Open a table.

    Raises
    ------
    SourceError
        With file and line, for what is no table, and for lines that :func:`lines_of` refuses.
    """
    _refuse_folder(path)
    if not is_parquet(path) and not sum(bool(line.strip()) for _, line in lines_of(path)):
        raise SourceError("is empty", path)
    return read_table(path)


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise not_utf8(path, number, line) from None


def _refuse_folder(path: Path) -> None:
    """Raise SourceError for a folder."""
    if path.is_dir():
        raise SourceError("a folder; name a file", path)
