"""Scored pairs, one on a line: ``id | score | first | second``.

Empty lines and lines that start with ``#`` are skipped. The score may be empty: the pair then has none.
"""

from __future__ import annotations

import math
from pathlib import Path

import embassay as ea
from embassay.plugin import SourceError

SHAPE = "pairs"
"""The shape of the corpora that this loader makes."""
FIELDS = ("id", "score", "first", "second")


def recognises(head: str) -> bool:
    """Say whether a file that begins with these lines is of this format."""
    first = next((line for line in head.splitlines() if _has_content(line)), "")
    cells = _cells(first)
    return len(cells) == len(FIELDS) and _is_score(cells[1])


def load(source: str, name: str, *, licence: str = "unknown") -> ea.Corpus[ea.Pair]:
    """Read a file. The keyword-only parameters are the loader's options.

    Parameters
    ----------
    source
        Path of the file, UTF-8.
    name
        What the corpus is called in every table.
    licence
        What the user says of the file.

    Raises
    ------
    SourceError
        With file, line and field, for the first mistake.
    """
    path = Path(source)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot be read as UTF-8 text: {error}", path) from None
    pairs = list[ea.Pair]()
    line_of = dict[str, int]()
    for number, line in enumerate(lines, start=1):
        if not _has_content(line):
            continue
        pair = _pair(line, path, number)
        if pair.id in line_of:
            raise SourceError(f"{pair.id!r} is also the id of line {line_of[pair.id]}", path, number, "id")
        line_of[pair.id] = number
        pairs.append(pair)
    if not pairs:
        raise SourceError("there are no pairs", path)
    return ea.Corpus(name, SHAPE, tuple(pairs), licence=licence, loader="lst")


def _pair(line: str, path: Path, number: int) -> ea.Pair:
    cells = _cells(line)
    if len(cells) != len(FIELDS):
        raise SourceError(
            f"{len(cells)} fields between |; {len(FIELDS)} are needed: id | score | first | second", path, number
        )
    named = dict(zip(FIELDS, cells, strict=True))
    for field in ("id", "first", "second"):
        if not named[field]:
            raise SourceError("must not be empty", path, number, field)
    if not _is_score(named["score"]):
        raise SourceError(f"must be a number or empty, is {named['score']!r}", path, number, "score")
    score = float(named["score"]) if named["score"] else None
    return ea.Pair(named["id"], named["first"], named["second"], score)


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def _is_score(text: str) -> bool:
    """Say whether a text is a finite number, or empty."""
    try:
        return not text or math.isfinite(float(text))
    except ValueError:
        return False
