"""The sentences that a test set is built from: a text of one a line, or a table with a column of them.

What is no sentence at all stays in and is told apart by :func:`usable`, so that it can be counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embassay.corpora.io.documents import SourceDocument, read_documents
from embassay.corpora.io.jsonl import text_field
from embassay.corpora.io.records import Table, is_parquet, read_table
from embassay.corpora.io.texts import not_utf8, open_text
from embassay.errors import SourceError
from embassay.store.paths import unreadable
from embassay.testsets.base import Reading

# --- A user's file as lines of text or as a table, without what no file of sentences holds ---

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


# --- The documents that a test set is built from ---

GIVEN = Path("documents")
"""What messages call documents that come from no file."""


def given(texts: Sequence[str | SourceDocument]) -> tuple[SourceDocument, ...]:
    """Return documents that are given in Python; texts are numbered from 1.

    Raises
    ------
    SourceError
        For a text that is blank or no text at all.
    """
    found = (SourceDocument(str(n), t) if isinstance(t, str) else t for n, t in enumerate(texts, 1))
    return tuple(replace(each, text=text_field(each.text, GIVEN, None, f"[{n}]")) for n, each in enumerate(found, 1))


def read(
    path: Path,
    *,
    id: str = "",  # noqa: A002 - the option's name
    text: str = "",
    aside: Sequence[Path] = (),
    follow_links: bool = False,
) -> Reading:
    """Read a folder of .txt, .md, .rst and .html files, a table, a file in SQuAD's form, or one text.

    Parameters
    ----------
    id, text
        The columns of ids and of texts in a table, where they are not known ones.
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
    return Reading(*read_documents(path, id=id, text=text, aside=aside, follow_links=follow_links))


# --- The sentences that a test set is built from: a text of one a line, or a table with a column of them ---

SENTENCE = ("sentence", "text", "original", "input", "question")
PAIRS = (("sentence1", "sentence2"), ("text1", "text2"), ("first", "second"), ("sentence_A", "sentence_B"))
LABEL = ("label", "quality", "is_duplicate")
"""Columns that are known by name, tried in this order; letters of any case."""
YES, NO = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})
"""What a label may be, in letters of any case."""
LONGEST = 1_000
"""Characters of a sentence, at most."""
SHOWN = 200
"""Characters that a message repeats of a file, at most."""
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff\ufffd\ud800-\udfff]")


@dataclass(frozen=True)
class Source:
    """A sentence of the user's.

    Attributes
    ----------
    line
        Its line in the file, from 1; in Parquet the row.
    unit
        The key of the unit of independence, a document for example, where a table has a column ``unit``; else empty.
    """

    text: str
    line: int
    unit: str = ""


@dataclass(frozen=True)
class SourcePair:
    """Two sentences of a line, and whether they mean the same."""

    first: Source
    second: Source
    same: bool = True


def read_sentences(path: Path | str, column: str = "") -> tuple[Source, ...]:
    """Read a text of one sentence a line, or a column of a CSV, TSV, JSON lines or Parquet file.

    Parameters
    ----------
    column
        The name of the column, where it is not one of :data:`SENTENCE`.

    Returns
    -------
    The sentences in their order, without the space around them; blank lines and empty cells are left out.

    Raises
    ------
    SourceError
        With file, line and column, for what cannot be read, a column that is not there, and no sentence at all.
    """
    path = Path(path)
    if is_text(path, column):
        found = tuple(Source(line.strip(), number) for number, line in lines_of(path) if line.strip())
    else:
        table = open_table(path)
        name = _column(table, column, SENTENCE, "of sentences", "--column")
        columns = [name, *(["unit"] if name != "unit" and "unit" in table.names else [])]
        found = tuple(
            Source(text, line, str(unit) if (unit := row.get("unit")) is not None and name != "unit" else "")
            for line, row in table.rows(columns)
            if (text := _text(row.get(name), table, line, name))
        )
    if not found:
        raise SourceError("has no sentence; write one on each line", path)
    return found


def is_of_pairs(path: Path | str) -> bool:
    """Say whether a file is a table with two columns of sentences that are known by name."""
    path = Path(path)
    return not is_text(path) and bool(_couple(open_table(path)))


def read_pairs(path: Path | str, first: str = "", second: str = "", label: str = "") -> tuple[SourcePair, ...]:
    """Read a table of pairs of sentences, in a form of :func:`read_sentences`.

    Parameters
    ----------
    first, second, label
        The names of the columns, where they are not known ones. Without a column of labels all pairs mean the same.

    Raises
    ------
    SourceError
        With file, line and column, for columns that are not there, empty cells, and a label that is neither yes nor no.
    """
    path = Path(path)
    if is_text(path, first or second or label):
        raise SourceError("a text; pairs of sentences stand in a table with two columns of them", path, 1)
    table = open_table(path)
    couple = _couple(table) or ("", "")
    names = [
        _column(table, first, couple[:1], "of first sentences", "--first"),
        _column(table, second, couple[1:], "of second sentences", "--second"),
    ]
    if names[0] == names[1]:
        raise SourceError("is the first column and the second; name two", path, 1, names[0])
    says = _named(table, label, [name for name in LABEL if name not in names])
    found = []
    for line, row in table.rows([*names, *([says] if says else [])]):
        a, b = (_text(row.get(name), table, line, name) for name in names)
        if not a or not b:
            raise SourceError("an empty cell", path, line, names[bool(a)])
        found.append(SourcePair(Source(a, line), Source(b, line), _is_yes(row.get(says), path, line, says)))
    if not found:
        raise SourceError("has no rows", path)
    return tuple(found)


def usable(sources: Iterable[Source]) -> tuple[tuple[Source, ...], Counter[str]]:
    """Leave out what is no sentence, or stands twice; return the rest and how many were left out for each reason."""
    kept, rejected, seen = list[Source](), Counter[str](), set[str]()
    for source in sources:
        key = " ".join(source.text.casefold().split())
        if "\n" in source.text:
            rejected["several lines in one cell"] += 1
        elif _CONTROL.search(source.text):
            rejected["control characters"] += 1
        elif len(source.text) > LONGEST:
            rejected[f"longer than {LONGEST:,} characters"] += 1
        elif key in seen:
            rejected["the same sentence again"] += 1
        else:
            seen.add(key)
            kept.append(source)
    return tuple(kept), rejected


def _couple(table: Table) -> tuple[str, ...]:
    """Return the two known columns of sentences that a table has, none where they are not both there."""
    return next((couple for couple in PAIRS if all(_named(table, "", [name]) for name in couple)), ())


def _column(table: Table, given: str, known: Sequence[str], what: str, option: str) -> str:
    """Return the name of a column: as given, else the first known one, else the only one there is."""
    if name := _named(table, given, known):
        return name
    if len(table.names) == 1 and option == "--column":
        return table.names[0]
    found = ", ".join(table.names)[:SHOWN]
    raise SourceError(f"no column {what}; found {found}; name it with {option}", table.path, 1)


def _named(table: Table, given: str, known: Sequence[str]) -> str:
    """Return the name of a column as the table writes it, empty where none is known; one that is given must be."""
    if given and given not in table.names:
        raise SourceError(f"no such column; found {', '.join(table.names)[:SHOWN]}", table.path, 1, given)
    folded = {name.casefold(): name for name in reversed(table.names)}
    return given or next((folded[name.casefold()] for name in known if name.casefold() in folded), "")


def _text(value: Any, table: Table, line: int, column: str) -> str:
    """Return a cell without the space around it, empty where it has nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise SourceError(f"must be a text, is {str(value)[:SHOWN]!r}", table.path, line, column)
    return value.strip()


def _is_yes(value: Any, path: Path, line: int, column: str) -> bool:
    """Return what a label says; yes where there is no column of labels."""
    if not column:
        return True
    written = str(value).strip().lower()
    if written not in YES | NO:
        raise SourceError(f"must be 1, true or yes, or 0, false or no, is {str(value)[:100]!r}", path, line, column)
    return written in YES
