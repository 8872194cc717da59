"""Human ratings of a built test set: how far people agree, how much is wrong, and the test set without that.

Annotators fill copies of the sheet that ``embassay build`` wrote. Ratings are 0 to 4, as in Bansal et al. (2025,
section 5); a row whose mean rating is under the bar counts as an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.errors import InputError, SourceError
from embassay.result import Estimate
from embassay.stats.agreement import Level, krippendorff
from embassay.stats.shares import share
from embassay.store.paths import open_file, output_path, source_path, unreadable
from embassay.testsets.card import with_reading
from embassay.testsets.files import Places, check_free, content_of, name_of, write_files
from embassay.testsets.sheets import HIGH, LOW, Sheet, read_sheet

BAR = 2.0
"""The mean rating under which a row counts as an error, by default: the scale's *in doubt*."""
ALL = "all"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Subset:
    """What people gave the rows of one edit, or of all.

    Attributes
    ----------
    rows, rated
        How many there are, and how many somebody has rated.
    mean, median
        The mean over rows of their annotators' mean; the median of all ratings; None where nothing is rated.
    distribution
        How often 0, 1, 2, 3 and 4 were given, parts rounded to the nearest.
    interval, ordinal
        Krippendorff's alpha at both levels; None where it is undefined.
    errors
        The share of rated rows under the bar, with its 95 % interval (Wilson).
    """

    edit: str
    rows: int
    rated: int
    mean: float | None
    median: float | None
    distribution: tuple[int, ...]
    interval: float | None
    ordinal: float | None
    errors: Estimate


@dataclass(frozen=True)
class Rated:
    """What several annotators found.

    Attributes
    ----------
    corpus
        The file@content that the sheets are of.
    subsets
        One for each edit, then one for all.
    kept, dropped
        Rows that are not under the bar (rated or not), and those that are.
    out
        The file with the rest of the corpus; None where none was asked for.
    notes
        What was done with files, one sentence each.
    """

    corpus: str
    annotators: int
    bar: float
    subsets: tuple[Subset, ...]
    kept: int
    dropped: int
    out: Path | None = None
    notes: tuple[str, ...] = ()


def rate(
    sheets: Sequence[str | Path],
    *,
    bar: float = BAR,
    out: str | Path | None = None,
    corpus: str | Path | None = None,
    overwrite: bool = False,
) -> Rated:
    """Read the filled sheets of one or several annotators; write the corpus without what is under the bar.

    Parameters
    ----------
    sheets
        Files, one for each annotator.
    bar
        0 to 4: what has a lower mean rating is an error.
    out
        File for the rest of the corpus; its card is written beside it. None: nothing is dropped.
    corpus
        The corpus's file, where it does not lie beside the first sheet.

    Raises
    ------
    InputError
        For sheets of different corpora, a corpus that is not theirs, ratings out of range, missing rows (with file,
        line and column), and sheets without any rating.
    """
    out = None if out is None else output_path(out)
    if not LOW <= bar <= HIGH:
        raise InputError(f"--bar must be from {LOW} to {HIGH}, is {bar:g}")
    read = _read([source_path(sheet) for sheet in sheets])
    ratings = np.array([[np.nan if r.rating is None else r.rating for r in sheet.rows] for sheet in read]).T
    of_rows = _row_means(ratings)
    subsets = tuple(_subset(name, ratings[rows], of_rows[rows], bar) for name, rows in _parts(read[0]))
    below = of_rows < bar
    found = Rated(read[0].corpus, len(read), bar, subsets, int((~below).sum()), int(below.sum()))
    path = _corpus(read[0], corpus, needed=out is not None)
    if path is None:
        return found
    dropped = () if out is None else _drop(path, out, read[0], below, found, overwrite)
    return replace(found, out=out, notes=(*_told_card(path, found), *dropped))


def markdown(found: Rated) -> str:
    """Return what people found as Markdown: the last section of the data card."""
    lines = ["| edit | rows | rated | mean | median | alpha | errors |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for s in found.subsets:
        alpha = "–" if s.interval is None else f"{s.interval:.2f}"
        lines.append(
            f"| {s.edit} | {s.rows:,} | {s.rated:,} | {number(s.mean)} | {number(s.median)} | {alpha} "
            f"| {percent(s.errors)} |"
        )
    people = "one person" if found.annotators == 1 else f"{found.annotators} people"
    told = f"By {people}, from {LOW} to {HIGH}; an error is a row whose mean rating is under {found.bar:g}."
    return f"{told} Alpha is Krippendorff's, for interval data.\n\n" + "\n".join(lines)


def number(value: float | None) -> str:
    """Return a figure with two digits, a dash for none."""
    return "–" if value is None else f"{value:.2f}"


def percent(errors: Estimate) -> str:
    """Return a share in per cent with its interval."""
    if errors.value is None:
        return "–"
    told = f"{errors.value:.1%}"
    return told if errors.low is None or errors.high is None else f"{told} [{errors.low:.1%}, {errors.high:.1%}]"


def _read(paths: Sequence[Path]) -> list[Sheet]:
    """Read the sheets, which are all of one corpus."""
    if not paths:
        raise InputError("name one sheet at least: embassay rate FILE")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a sheet is named twice; name one for each annotator")
    read = [read_sheet(path) for path in paths]
    first = read[0]
    for sheet in read[1:]:
        if sheet.corpus != first.corpus or [(r.items, r.edit) for r in sheet.rows] != [
            (r.items, r.edit) for r in first.rows
        ]:
            told = f"is of {sheet.corpus!r}, {first.path} of {first.corpus!r}; all sheets must be of one corpus"
            raise SourceError(told, sheet.path, None, "corpus")
    for sheet in read:
        if all(row.rating is None for row in sheet.rows):
            raise SourceError("no row is rated; write a number from 0 to 4 into it", sheet.path, None, "rating")
    return read


def _parts(sheet: Sheet) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the rows of each edit, in the order in which edits are first seen, then all rows."""
    edits = np.array([row.edit for row in sheet.rows])
    names = sorted(dict.fromkeys(edits.tolist()))
    yield from ((name, np.flatnonzero(edits == name)) for name in names)
    if len(names) > 1:
        yield ALL, np.arange(len(edits))


def _row_means(ratings: Floats) -> Floats:
    """Return the mean rating of each row, NaN where nobody has rated it."""
    given = ~np.isnan(ratings)
    number_of = given.sum(axis=1)
    sums = np.where(given, ratings, 0.0).sum(axis=1)
    return np.where(number_of > 0, sums / np.maximum(number_of, 1), np.nan)


def _subset(name: str, ratings: Floats, of_rows: Floats, bar: float) -> Subset:
    rated, given = ~np.isnan(of_rows), ratings[~np.isnan(ratings)]
    counts = np.bincount(np.floor(given + 0.5).astype(int), minlength=HIGH + 1)
    return Subset(
        edit=name,
        rows=len(of_rows),
        rated=int(rated.sum()),
        mean=float(of_rows[rated].mean()) if rated.any() else None,
        median=float(np.median(given)) if len(given) else None,
        distribution=tuple(counts.tolist()),
        interval=_alpha(ratings, "interval"),
        ordinal=_alpha(ratings, "ordinal"),
        errors=share((of_rows[rated] < bar).astype(np.float64), np.arange(int(rated.sum()))),
    )


def _alpha(ratings: Floats, level: Level) -> float | None:
    alpha = krippendorff(ratings, level)
    return None if np.isnan(alpha) else alpha


def _corpus(sheet: Sheet, given: str | Path | None, needed: bool) -> Path | None:
    """Return the file of the corpus that a sheet is of: as given, else beside the sheet; None where it is not there."""
    path = source_path(given) if given is not None else sheet.path.parent / Path(sheet.corpus.rpartition("@")[0]).name
    if given is None and not needed and not path.is_file():
        return None
    if given is None and not path.is_file():
        raise SourceError(f"no such file: the corpus of {sheet.path}; name it with --corpus", path)
    try:
        with open_file(path) as file:
            content = file.read()
    except OSError as error:
        raise unreadable(error, path) from None
    if name_of("", content).rpartition("@")[2] != sheet.corpus.rpartition("@")[2]:
        told = f"is not the corpus of {sheet.path}, which is of {sheet.corpus!r}: its content is another"
        raise SourceError(told, path)
    return path


def _told_card(corpus: Path, found: Rated) -> tuple[str, ...]:
    """Bring the last section of the corpus's card up to date, where it has one."""
    card = Places(corpus).card
    if not card.is_file():
        return ()
    write_files({card: with_reading(card.read_text(encoding="utf-8"), markdown(found)).encode()})
    return (f"data card: {card} says what people found",)


def _drop(
    path: Path, out: Path, sheet: Sheet, below: NDArray[np.bool_], found: Rated, overwrite: bool
) -> tuple[str, ...]:
    """Write the corpus without the rows that are under the bar, and its card."""
    places = Places(out)
    check_free((places.corpus, places.card), overwrite)
    lost = {(item, row.edit) for row, bad in zip(sheet.rows, below, strict=True) if bad for item in row.items}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    known = {_id(line) for line in lines}
    if strange := next((item for item, _ in sorted(lost) if item not in known), ""):
        raise SourceError(
            f"{strange!r} is no id of {path}; leave the column as it was written", sheet.path, None, "item"
        )
    rest = [row for line in lines if (row := _without(line, lost))]
    left, there = (sum("document" not in row for row in rows) for rows in (rest, lines))
    if not left:
        raise InputError(f"nothing is left of {path} over the bar of {found.bar:g}; {out} is not written")
    card = Places(path).card
    before = card.read_text(encoding="utf-8") if card.is_file() else "# Data card\n"
    told = f"{found.dropped:,} rows under {found.bar:g} were taken out of {path.name}: {left:,} samples are left."
    content = content_of(json.dumps(row, ensure_ascii=False) for row in rest)
    named = name_of(out.name, content)
    write_files({places.card: with_reading(before, f"{told}\n\n{markdown(found)}", named).encode(), out: content})
    return (f"test set: {out}, {left:,} of {there:,} samples", f"its data card: {places.card}")


def _id(row: dict[str, Any]) -> str:
    return str(row.get("id", row.get("idx")))


def _without(row: dict[str, Any], lost: set[tuple[str, str]]) -> dict[str, Any] | None:
    """Return a line without its edits that are lost, a document as it is; None where nothing is left of it."""
    if "document" in row:
        return row
    name = _id(row)
    if "edits" not in row:
        return None if any(item == name for item, _ in lost) else row
    edits = {edit: text for edit, text in row["edits"].items() if (name, edit) not in lost}
    source = {edit: way for edit, way in row.get("source", {}).items() if edit in edits}
    more = {"source": source} if source else {}
    return {**{k: v for k, v in row.items() if k != "source"}, "edits": edits, **more} if edits else None
