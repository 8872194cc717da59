"""Human ratings of a built test set: agreement, share of errors, and the test set without the errors.

Annotators fill copies of the sheet that ``embassay build`` wrote. Ratings are 0 to 4, as in Bansal et al. (2025,
section 5). A row with a mean rating below the bar counts as an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from embassay.core.errors import InputError
from embassay.core.formatting import DASH, counted, with_interval
from embassay.core.result import Estimate
from embassay.core.store.canonical import write
from embassay.core.store.paths import output_path, source_path
from embassay.core.tables.texts import read_text
from embassay.run.outputs.markdown import plain_table
from embassay.stats.agreement import Level, krippendorff
from embassay.stats.labels import Labels
from embassay.stats.shares import bounded_mean
from embassay.stats.units import Floats
from embassay.testsets.files import Line, SetFiles, check_free, content_of, name_of
from embassay.testsets.sheets import HIGH, LOW, RatingRow, item_of, rateable, read_sheet

BAR = 2.0
"""The default bar, the scale's *neutral*: a row with a lower mean rating counts as an error."""


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
    subsets
        One for each edit, then one for all.
    notes
        Which files were written, one sentence each.
    """

    bar: float
    subsets: tuple[Subset, ...]
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
        Files, one for each annotator. A row that is missing in a sheet is not rated by its annotator.
    bar
        0 to 4. A row with a lower mean rating is an error.
    out
        File for the remaining corpus; its card, with the ratings, is written next to it. Compositions get their ratings
        in it. None: nothing is written.
    corpus
        The corpus's file, if it is not next to the first sheet.

    Raises
    ------
    InputError
        For sheets of different corpora, a corpus that does not match, ratings out of range (with file, line and
        column), and sheets without any rating.
    """
    paths = [source_path(sheet) for sheet in sheets]
    if len(set(paths)) < max(len(paths), 1):
        raise InputError("name at least one sheet, and each only once: embassay rate FILE …")
    filled = [read_sheet(path) for path in paths]
    path = source_path(corpus or paths[0].parent / filled[0][0].corpus.rpartition("@")[0])
    content = read_text(path)
    # Without the name, because the file may have another one by now.
    ending = name_of("", content.encode())
    for row in chain.from_iterable(filled):
        if not row.corpus.endswith(ending):
            raise row.error(f"{row.corpus!r} is not {path} as it is now; name the test set with --corpus", "corpus")
    lines = [json.loads(line) for line in content.split("\n") if line]
    items = rateable(lines)
    ratings = _ratings(len(items), filled)

    edits = np.array([item.edit for item in items])
    subsets = [_subset(edit, ratings[edits == edit], bar) for edit in np.unique(edits).tolist()]
    if len(subsets) > 1:
        subsets.append(_subset("all", ratings, bar))
    rated = Rated(bar, tuple(subsets))
    if out is None:
        return rated

    out = output_path(out)
    card = SetFiles(out).card
    check_free((out, card), overwrite)
    rated_edits = {(item.item, item.edit): row for item, row in zip(items, ratings, strict=True)}
    rest = list(_remaining(lines, rated_edits, bar))
    remaining, total = (sum("document" not in line for line in some) for some in (rest, lines))
    if not remaining:
        raise InputError(f"no row of {path} reaches the bar of {bar:g}; {out} is not written")
    kept = content_of(rest)
    write(card, _card(rated, name_of(out.name, kept), path).encode())
    write(out, kept)
    notes = f"test set: {out}, {remaining:,} of {counted(total, 'sample')}", f"data card: {card}"
    return replace(rated, notes=notes)


def _ratings(number: int, filled: Sequence[Sequence[RatingRow]]) -> Floats:
    """Return the (rows, annotators) ratings of a number of rows; NaN where there is none."""
    ratings = np.full((number, len(filled)), np.nan)
    for annotator, rows in enumerate(filled):
        for row in rows:
            if row.row >= number:
                raise row.error(f"the test set has no row {row.row}; do not change this column", "row")
            if row.rating is not None:
                ratings[row.row, annotator] = row.rating
    return ratings


def _subset(edit: str, ratings: Floats, bar: float) -> Subset:
    """Summarise the ratings of some rows: (rows, annotators), NaN if there is none."""
    values = ratings[~np.isnan(ratings)]
    means = np.nanmean(ratings[~np.isnan(ratings).all(axis=1)], axis=1)
    rated = len(means)
    return Subset(
        edit=edit,
        rows=len(ratings),
        rated=rated,
        mean=float(means.mean()) if rated else None,
        median=float(np.median(values)) if rated else None,
        # Not np.round, which rounds halves to even: 0.5 would count as 0 and 1.5 as 2.
        distribution=tuple(np.bincount(np.floor(values + 0.5).astype(int), minlength=HIGH + 1).tolist()),
        interval=_alpha(ratings, "interval"),
        ordinal=_alpha(ratings, "ordinal"),
        errors=bounded_mean((means < bar).astype(np.float64), Labels.of(np.arange(rated)), 1.0, of_shares=True),
    )


def _alpha(ratings: Floats, level: Level) -> float | None:
    """Return Krippendorff's alpha; None if it is undefined."""
    alpha = krippendorff(ratings, level)
    return None if np.isnan(alpha) else alpha


def _remaining(lines: Sequence[Line], ratings: Mapping[tuple[str, str], Floats], bar: float) -> Iterator[Line]:
    """Yield the lines of a corpus without what is below the bar, compositions with the ratings of all annotators.

    Of minimal pairs, edits go; of other samples, the whole sample. What nobody rated stays.

    Parameters
    ----------
    ratings
        By item and edit, the ratings of the annotators; NaN if there is none.
    """
    without_gaps = {key: row[~np.isnan(row)].tolist() for key, row in ratings.items()}
    wrong = {key for key, values in without_gaps.items() if values and np.mean(values) < bar}
    wrong_items = {item for item, _ in wrong}
    for line in lines:
        item = item_of(line)
        if "operator" in line:
            line["ratings"] = without_gaps[item, line["operator"]]
        if "edits" in line:
            # How the edits were made is written by their names.
            for field in {"edits", "source"} & line.keys():
                line[field] = {edit: value for edit, value in line[field].items() if (item, edit) not in wrong}
            if line["edits"]:
                yield line
        elif item not in wrong_items:
            yield line


# --- Tables ---

HEADS = ("edit", "rows", "rated", "mean", "median", "0 1 2 3 4", "alpha", "alpha (ordinal)")


def table_rows(rated: Rated) -> list[tuple[str, ...]]:
    """Return the headings of a table, then a row of cells for each subset."""
    rows: list[tuple[str, ...]] = [(*HEADS, f"below {rated.bar:g}")]
    for subset in rated.subsets:
        *cells, errors = vars(subset).values()
        rows.append((*map(_cell, cells), with_interval(errors.value, errors.low, errors.high)))
    return rows


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return DASH if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def _card(rated: Rated, remaining: str, path: Path) -> str:
    """Return the card of what remains of a corpus: the ratings, then the card of the whole corpus, if it has one."""
    head, *rows = table_rows(rated)
    card = SetFiles(path).card
    parts = [
        f"# Data card: {remaining}",
        f"What people left of {path.name}. Ratings are from {LOW} to {HIGH}; alpha is Krippendorff's.",
        plain_table(head, rows),
        card.read_text(encoding="utf-8") if card.is_file() else "",
    ]
    return "\n\n".join(parts)
