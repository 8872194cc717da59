"""The sentences that a test set is built from: a text of one a line, or a table with a column of them.

What is no sentence at all stays in and is told apart by :func:`usable`, so that it can be counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embassay.builders._lines import is_text, lines_of, open_table
from embassay.corpora.io.records import Table
from embassay.errors import SourceError

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
