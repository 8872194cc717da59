"""Human ratings of a built test set: agreement, share of errors, and the test set without the errors.

Annotators fill copies of the sheet that ``embassay build`` wrote. Ratings are 0 to 4, as in Bansal et al. (2025,
section 5). A row with a mean rating below the bar counts as an error.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.core.errors import InputError, SourceError
from embassay.core.formatting import counted, with_interval
from embassay.core.result import Estimate
from embassay.core.store.paths import open_file, output_path, source_path, unreadable
from embassay.stats.agreement import Level, krippendorff
from embassay.stats.labels import Labels
from embassay.stats.shares import bounded_mean
from embassay.stats.units import Floats
from embassay.testsets.card import table, with_reading
from embassay.testsets.files import SetFiles, check_free, content_of, name_of, write_files
from embassay.testsets.sheets import HIGH, LOW, Sheet, read_sheet

BAR = 2.0
"""The default bar, the scale's *in doubt*: a row with a lower mean rating counts as an error."""
ALL = "all"


@dataclass(frozen=True)
class Subset:
    """The ratings of one edit's rows, or of all rows.

    Attributes
    ----------
    rows, rated
        The number of rows, and of those that at least one annotator rated.
    mean, median
        The mean over rows of their annotators' mean; the median of all ratings; None if nothing is rated.
    distribution
        The counts of the ratings 0, 1, 2, 3 and 4, fractions rounded to the nearest.
    interval, ordinal
        Krippendorff's alpha for interval and for ordinal data; None if undefined.
    errors
        The share of rated rows below the bar, with its 95 % interval (Wilson).
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
    """The ratings of one or several annotators.

    Attributes
    ----------
    corpus
        The corpus of the sheets, as file@content.
    subsets
        One for each edit, then one for all.
    kept, dropped
        The numbers of rows that are not below the bar (rated or not), and of rows that are.
    out
        The file with the remaining corpus; None if none was written.
    notes
        Which files were written, one sentence each.
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
    """Read the filled sheets of one or several annotators; write the corpus without the rows below the bar.

    Parameters
    ----------
    sheets
        Files, one for each annotator.
    bar
        0 to 4. A row with a lower mean rating is an error.
    out
        File for the remaining corpus; its card is written next to it. Compositions get their ratings in it. None:
        nothing is dropped or written.
    corpus
        The corpus's file, if it is not next to the first sheet.

    Raises
    ------
    InputError
        For sheets of different corpora, a corpus that does not match, ratings out of range, missing rows (with file,
        line and column), and sheets without any rating.
    """
    out = None if out is None else output_path(out)
    if not LOW <= bar <= HIGH:
        raise InputError(f"--bar must be from {LOW} to {HIGH}, is {bar:g}")
    filled_sheets = _read_sheets([source_path(sheet) for sheet in sheets])
    first = filled_sheets[0]
    # (rows, sheets); a row that is not rated, None, becomes NaN.
    ratings = np.array([[row.rating for row in sheet.rows] for sheet in filled_sheets], dtype=np.float64).T
    # Masked, because nanmean warns about rows that nobody rated.
    means = np.ma.masked_invalid(ratings).mean(axis=1).filled(np.nan)
    below = means < bar
    subsets = _subsets(first, ratings, means, bar)
    rated = Rated(first.corpus, len(filled_sheets), bar, subsets, kept=int((~below).sum()), dropped=int(below.sum()))
    path = _corpus_file(first, corpus, needed=out is not None)
    if path is None:
        return rated
    notes = list[str]()
    if out is not None:
        check_free((out, SetFiles(out).card), overwrite)
        remaining, total = _write_remaining(path, out, first, ratings, below, rated)
        notes.append(f"test set: {out}, {remaining:,} of {counted(total, 'sample')}")
        notes.append(f"its data card: {SetFiles(out).card}")
    card = SetFiles(path).card
    if card.is_file():
        write_files({card: with_reading(card.read_text(encoding="utf-8"), markdown(rated)).encode()})
        notes.insert(0, f"data card: {card} now contains the ratings")
    return replace(rated, out=out, notes=tuple(notes))


# --- Tables ---

HEADS = ("edit", "rows", "rated", "mean", "median", "0 1 2 3 4", "alpha", "alpha (ordinal)", "errors")
IN_CARD = (0, 1, 2, 3, 4, 6, 8)
"""The columns that the data card shows."""


def table_rows(rated: Rated) -> list[tuple[str, ...]]:
    """Return the headings of a table, then a row of cells for each subset."""
    rows: list[tuple[str, ...]] = [(*HEADS[:-1], f"below {rated.bar:g}")]
    for subset in rated.subsets:
        numbers = (subset.mean, subset.median, subset.interval, subset.ordinal)
        mean, median, alpha, ordinal = ("–" if number is None else f"{number:.2f}" for number in numbers)
        distribution = " ".join(f"{count:,}" for count in subset.distribution)
        counts = (f"{subset.rows:,}", f"{subset.rated:,}")
        errors = with_interval(subset.errors.value, subset.errors.low, subset.errors.high)
        rows.append((subset.edit, *counts, mean, median, distribution, alpha, ordinal, errors))
    return rows


def markdown(rated: Rated) -> str:
    """Return the ratings as Markdown: the last section of the data card."""
    people = "one person" if rated.annotators == 1 else f"{rated.annotators} people"
    legend = (
        f"By {people}, from {LOW} to {HIGH}; an error is a row with a mean rating below {rated.bar:g}. "
        "Alpha is Krippendorff's, for interval data."
    )
    head, *rows = [[cells[column] for column in IN_CARD] for cells in (HEADS, *table_rows(rated)[1:])]
    return f"{legend}\n\n{table(head, rows)}"


def _read_sheets(paths: Sequence[Path]) -> list[Sheet]:
    """Read the sheets of one corpus; raise InputError if they are of several."""
    if not paths:
        raise InputError("name at least one sheet: embassay rate FILE")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a sheet is named twice; name one sheet for each annotator")
    sheets = [read_sheet(path) for path in paths]
    first = sheets[0]
    for sheet in sheets:
        if (sheet.corpus, sheet.edits) != (first.corpus, first.edits):
            problem = f"is for {sheet.corpus!r}, {first.path} for {first.corpus!r}; all sheets must be for one corpus"
            raise SourceError(problem, sheet.path, None, "corpus")
        if all(row.rating is None for row in sheet.rows):
            raise SourceError("no row is rated; write numbers from 0 to 4", sheet.path, None, "rating")
    return sheets


def _subsets(sheet: Sheet, ratings: Floats, means: Floats, bar: float) -> tuple[Subset, ...]:
    """Summarise the rows of each edit, in the order of their names, then all rows.

    Parameters
    ----------
    ratings, means
        (rows, annotators) ratings, NaN if there is none; (rows,) their means.
    """
    edits = np.array([row.edit for row in sheet.rows])
    names = sorted(set(edits.tolist()))
    subsets = [_subset(name, ratings[edits == name], means[edits == name], bar) for name in names]
    if len(names) > 1:
        subsets.append(_subset(ALL, ratings, means, bar))
    return tuple(subsets)


def _subset(name: str, ratings: Floats, means: Floats, bar: float) -> Subset:
    """Summarise the ratings of some rows."""
    values = ratings[~np.isnan(ratings)]
    means_of_rated = means[~np.isnan(means)]
    rated = len(means_of_rated)
    # Not np.round, which rounds halves to even: 0.5 would count as 0 and 1.5 as 2.
    rounded = np.floor(values + 0.5).astype(int)
    return Subset(
        edit=name,
        rows=len(means),
        rated=rated,
        mean=float(means_of_rated.mean()) if rated else None,
        median=float(np.median(values)) if rated else None,
        distribution=tuple(np.bincount(rounded, minlength=HIGH + 1).tolist()),
        interval=_alpha(ratings, "interval"),
        ordinal=_alpha(ratings, "ordinal"),
        errors=bounded_mean(
            (means_of_rated < bar).astype(np.float64), Labels.of(np.arange(rated)), 1.0, of_shares=True
        ),
    )


def _alpha(ratings: Floats, level: Level) -> float | None:
    alpha = krippendorff(ratings, level)
    return None if np.isnan(alpha) else alpha


# --- The corpus without the errors ---


def _corpus_file(sheet: Sheet, corpus: str | Path | None, needed: bool) -> Path | None:
    """Return the file of a sheet's corpus; None if it is neither named, nor next to the sheet, nor needed.

    Raises
    ------
    SourceError
        If it cannot be read, is needed but missing, or its content differs from the rated corpus.
    """
    name, _, content_hash = sheet.corpus.rpartition("@")
    path = sheet.path.parent / Path(name).name
    if corpus is not None:
        path = source_path(corpus)
    elif not path.is_file():
        if not needed:
            return None
        raise SourceError(f"no such file (the corpus of {sheet.path}); name it with --corpus", path)
    try:
        with open_file(path) as file:
            content = file.read()
    except OSError as error:
        raise unreadable(error, path) from None
    if name_of("", content) != f"@{content_hash}":
        problem = f"is not the corpus of {sheet.path}, which is for {sheet.corpus!r}: the content differs"
        raise SourceError(problem, path)
    return path


def _write_remaining(
    path: Path, out: Path, sheet: Sheet, ratings: Floats, below: NDArray[np.bool_], rated: Rated
) -> tuple[int, int]:
    """Write the corpus without the rows below the bar, and its card; return the numbers of remaining and all samples.

    Parameters
    ----------
    path, out
        The files of the rated corpus and of the remaining one.
    ratings
        (rows, annotators), NaN if there is none.
    below
        (rows,) whether a row is below the bar.
    """
    # Not splitlines, which also splits at characters that may occur inside a JSON string.
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    remaining_lines = _with_ratings(_without_errors(lines, path, sheet, below), sheet, ratings)
    total, remaining = (sum("document" not in line for line in some) for some in (lines, remaining_lines))
    if not remaining:
        raise InputError(f"no row of {path} reaches the bar of {rated.bar:g}; {out} is not written")
    content = content_of(json.dumps(line, ensure_ascii=False) for line in remaining_lines)

    dropped = f"removed from {path.name}: {counted(rated.dropped, 'row')} below {rated.bar:g}"
    section = f"{dropped}; remaining: {counted(remaining, 'sample')}.\n\n{markdown(rated)}"
    # A corpus that was not built by this program has no card.
    old_card = SetFiles(path).card
    card = old_card.read_text(encoding="utf-8") if old_card.is_file() else "# Data card\n"
    new_card = with_reading(card, section, name_of(out.name, content))
    write_files({SetFiles(out).card: new_card.encode(), out: content})
    return remaining, total


Line = dict[str, Any]
"""A line of a corpus, decoded: a sample, or a document to search."""


def _without_errors(lines: Sequence[Line], path: Path, sheet: Sheet, below: NDArray[np.bool_]) -> list[Line]:
    """Return the lines of a corpus without the edits below the bar, and without samples that have no edit left.

    Raises
    ------
    SourceError
        If the sheet rates a sample that the corpus does not have.
    """
    wrong_edits = defaultdict[str, set[str]](set)
    for row, is_error in zip(sheet.rows, below, strict=True):
        if is_error:
            for item in row.items:
                wrong_edits[item].add(row.edit)
    unknown = wrong_edits.keys() - {_id(line) for line in lines}
    if unknown:
        problem = f"{min(unknown)!r} is not an id of {path}; do not change this column"
        raise SourceError(problem, sheet.path, None, "item")
    remaining = list[Line]()
    for line in lines:
        wrong = wrong_edits.get(_id(line), set())
        if "document" in line or not wrong:
            remaining.append(line)
            continue
        # Samples other than minimal pairs have no edits and are dropped as a whole.
        edits = _without(wrong, line.get("edits"))
        if edits:
            # How the edits were made, by their names, if the line says so.
            source = _without(wrong, line.get("source"))
            reduced = line | {"edits": edits, "source": source}
            remaining.append({name: value for name, value in reduced.items() if value is not None and value != {}})
    return remaining


def _with_ratings(lines: Sequence[Line], sheet: Sheet, ratings: Floats) -> list[Line]:
    """Return the lines of a corpus, compositions with the ratings of all annotators, from which figures are drawn.

    Parameters
    ----------
    ratings
        (rows, annotators), NaN if there is none.
    """
    ratings_of = dict[str, list[float]]()
    for row, values in zip(sheet.rows, ratings, strict=True):
        ratings_of[row.items[0]] = values[~np.isnan(values)].tolist()
    rated = list[Line]()
    for line in lines:
        values = ratings_of.get(_id(line)) if "operator" in line else None
        rated.append(line | {"ratings": values} if values else line)
    return rated


def _without(wrong: Set[str], by_edit: Any) -> Any:
    """Return the values of the edits that are not wrong; a value that is not by edit is returned as it is."""
    if not isinstance(by_edit, dict):
        return by_edit
    return {edit: value for edit, value in by_edit.items() if edit not in wrong}


def _id(line: Line) -> str:
    return str(line.get("id", line.get("idx")))
