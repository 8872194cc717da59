"""Pairs of sentences with a human score: STS benchmark and SICK as released, or a table with two texts and a score.

STS-b is tab-separated without a header, with unquoted quotes: genre, file, year, index, score (0-5), two sentences,
and perhaps sources. Other tables (CSV, TSV, JSON lines) name their columns; names that are not known are given with
``first=``, ``second=``, ``score=`` and ``subset=``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from embassay.corpora.io.jsonl import counted, first_fields, json_lines, key_field, listed, text_field
from embassay.corpora.io.tables import even, filled, first_line, header, table_rows
from embassay.corpora.io.texts import open_decoded
from embassay.errors import SourceError, quoted
from embassay.samples.pairs import Pair
from embassay.store.paths import unreadable
from embassay.types import Corpus

SHAPE = "pairs"
PRIORITY = 20
"""Files of a particular form are told first: a table with the right columns may be anything."""
KNOWN = (
    {"first": "sentence_A", "second": "sentence_B", "score": "relatedness_score", "subset": "SemEval_set"},
    {"first": "sentence1", "second": "sentence2", "score": "score", "subset": "subset"},
    {"first": "sentence1", "second": "sentence2", "score": "similarity_score", "subset": "subset"},
    {"first": "text1", "second": "text2", "score": "score", "subset": "subset"},
    {"first": "first", "second": "second", "score": "score", "subset": "subset"},
)
"""Column names that are known: those of SICK, and common ones."""
HEAD = 65_536
"""Characters that the form of a table is known by."""
STSB = ("genre", "file", "year", "index", "score", "sentence1", "sentence2")


def recognises(head: str) -> bool:
    """Say whether the first line of a file looks like this format."""
    line = first_line(head)
    names = first_fields(head) or {cell.strip().strip('"') for cell in line.split(_delimiter(line))}
    return _is_stsb(line) or any({k["first"], k["second"]} <= names for k in KNOWN)


def load(
    source: str, name: str, *, licence: str = "", first: str = "", second: str = "", score: str = "", subset: str = ""
) -> Corpus[Pair]:
    """Read a table of pairs.

    Parameters
    ----------
    source
        Path of a CSV, TSV or JSON lines file.
    licence
        What the user says of the file.
    first, second, score, subset
        The names of the columns, where they are not known ones; without a column ``score`` there are no scores.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty texts and scores that are no numbers.
    """
    path = Path(source)
    given = {k: v for k, v in {"first": first, "second": second, "score": score, "subset": subset}.items() if v}
    samples, understood = _read(path, given)
    if not samples:
        raise SourceError("the table has no rows", path)
    missing = sum(s.score is None for s in samples)
    notes = [f"columns: {understood}", *([f"{counted(missing, 'pair')} without a score"] if missing else [])]
    return Corpus(name, SHAPE, tuple(samples), licence=licence or "unknown", loader="pairs", notes=tuple(notes))


def _read(path: Path, given: Mapping[str, str]) -> tuple[list[Pair], str]:
    """Return the pairs, and which columns they were read from."""
    head = _head(path)
    line = first_line(head)
    if first_fields(head):
        rows: Iterator[tuple[int, Mapping[str, Any]]] = json_lines(path)
        columns = _columns(first_fields(head), given, path)
    elif _is_stsb(line) and not given:
        rows = ((n, dict(zip(STSB, cells, strict=False))) for n, cells in _stsb_rows(path))
        columns = {"first": "sentence1", "second": "sentence2", "score": "score", "subset": "genre"}
    else:
        rows, names = _table(path, _delimiter(line))
        columns = _columns(frozenset(names), given, path)
    samples = [_pair(str(place), row, columns, path, n) for place, (n, row) in enumerate(rows)]
    return samples, ", ".join(f"{what} {name}" for what, name in columns.items())


def _pair(name: str, row: Mapping[str, Any], columns: Mapping[str, str], path: Path, line: int) -> Pair:
    for what in columns.values():
        if what not in row:
            raise SourceError(f"missing; found {listed(sorted(row))}", path, line, what)
    first, second = (text_field(row[columns[side]], path, line, columns[side]) for side in ("first", "second"))
    score = _score(row[columns["score"]], path, line, columns["score"]) if "score" in columns else None
    subset = _subset(row[columns["subset"]], path, line, columns["subset"]) if "subset" in columns else ""
    return Pair(name, first, second, score, subset)


def _score(value: Any, path: Path, line: int, column: str) -> float | None:
    """Return a score; None for an empty cell."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise SourceError(f"must be a number, is {quoted(value)}", path, line, column)
    return number


def _subset(value: Any, path: Path, line: int, column: str) -> str:
    """Return the name of a subset; none for an empty cell."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    return key_field({column: value}, column, "", path, line).strip()


def _columns(names: frozenset[str], given: Mapping[str, str], path: Path) -> dict[str, str]:
    """Return which column is what: as given, else as known; score and subset may be missing."""
    for name in given.values():
        if name not in names:
            raise SourceError(f"missing; found {listed(sorted(names))}", path, 1, name)
    understood = [{**{k: v for k, v in known.items() if v in names}, **given} for known in KNOWN]
    best = max(understood, key=lambda columns: ({"first", "second"} <= columns.keys(), len(columns)))
    if {"first", "second"} <= best.keys():
        if best["first"] == best["second"]:
            raise SourceError("this column would be compared with itself", path, 1, best["first"])
        return best
    found = listed(sorted(names))
    raise SourceError(f"no two columns of sentences; found {found}; name them with first= and second=", path, 1)


def _table(path: Path, delimiter: str) -> tuple[Iterator[tuple[int, Mapping[str, str]]], list[str]]:
    rows = table_rows(path, delimiter)
    line, cells = next(rows, (1, list[str]()))
    names = header(cells, path, line)
    width = len(names)
    return ((n, dict(zip(names, even(cells, width, path, n), strict=True))) for n, cells in rows), names


def _stsb_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for line, cells in table_rows(path, "\t"):
        if len(cells) < len(STSB):
            raise SourceError(f"{counted(len(cells), 'column')}, where STS-b has at least {len(STSB)}", path, line)
        filled(cells[4], path, line, "score")
        yield line, cells


def _is_stsb(line: str) -> bool:
    """Say whether a line is one of STS-b: a number from 0 to 5 in the fifth of at least seven columns."""
    cells = line.split("\t")
    try:
        return len(cells) >= len(STSB) and 0 <= float(cells[4]) <= 5
    except ValueError:
        return False


def _delimiter(line: str) -> str:
    return "\t" if "\t" in line else ","


def _head(path: Path) -> str:
    try:
        with open_decoded(path, errors="replace") as file:
            return file.read(HEAD)
    except OSError as error:
        raise unreadable(error, path) from None
