"""Human ratings of a built test set: agreement, share of errors, and the test set without the errors.

Annotators fill copies of the sheet that ``embassay build`` wrote. Ratings are 0 to 4, as in Bansal et al. (2025,
section 5). A row with a mean rating below the bar counts as an error.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from embassay.core.errors import InputError, SourceError
from embassay.core.formatting import DASH, counted, with_interval
from embassay.core.result import Estimate
from embassay.core.store.paths import output_path, source_path
from embassay.core.tables.texts import read_text
from embassay.stats.agreement import Level, krippendorff
from embassay.stats.labels import Labels
from embassay.stats.shares import bounded_mean
from embassay.stats.units import Floats
from embassay.testsets.card import table, with_reading
from embassay.testsets.files import Line, SetFiles, check_free, content_of, id_of, name_of, write_files
from embassay.testsets.sheets import HIGH, LOW, Key, rateable, read_ratings

BAR = 2.0
"""The default bar, the scale's *in doubt*: a row with a lower mean rating counts as an error."""

Ratings = Mapping[Key, Sequence[float | None]]
"""The ratings of all annotators; None for a row that one of them did not rate."""


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
        in it. None: nothing is dropped, and the ratings are written into the card of the corpus, if it has one.
    corpus
        The corpus's file, if it is not next to the first sheet.

    Raises
    ------
    InputError
        For sheets of different corpora, a corpus that does not match, ratings out of range (with file, line and
        column), and sheets without any rating.
    """
    if not LOW <= bar <= HIGH:
        raise InputError(f"--bar must be from {LOW} to {HIGH}, is {bar:g}")
    paths = [source_path(sheet) for sheet in sheets]
    if len(set(paths)) < max(len(paths), 1):
        raise InputError("name at least one sheet, and each only once: embassay rate FILE …")
    name, ratings_of = read_ratings(paths)
    keys = list(ratings_of)
    ratings = np.array(list(ratings_of.values()), dtype=np.float64)
    # Masked, because nanmean warns about rows that nobody rated.
    means = np.ma.masked_invalid(ratings).mean(axis=1).filled(np.nan)
    below = means < bar
    rated = Rated(bar, _subsets(keys, ratings, means, bar))

    path = source_path(corpus or paths[0].parent / name.rpartition("@")[0])
    if out is None and corpus is None and not path.is_file():
        return rated
    lines = _corpus(path, name, keys)
    card = SetFiles(path).card
    head = card.read_text(encoding="utf-8") if card.is_file() else ""
    if out is None:
        if not head:
            return rated
        write_files({card: with_reading(head, markdown(rated)).encode()})
        return replace(rated, notes=(f"data card: {card} now contains the ratings",))
    out = output_path(out)
    card = SetFiles(out).card
    check_free((out, card), overwrite)
    rest = _remaining(lines, {key for key, is_error in zip(keys, below, strict=True) if is_error}, ratings_of)
    remaining, total = (sum("document" not in line for line in some) for some in (rest, lines))
    if not remaining:
        raise InputError(f"no row of {path} reaches the bar of {bar:g}; {out} is not written")
    content = content_of(rest)
    write_files({card: with_reading(head, markdown(rated), name_of(out.name, content)).encode(), out: content})
    return replace(rated, notes=(f"test set: {out}, {remaining:,} of {counted(total, 'sample')}", f"data card: {card}"))


# --- Tables ---


HEADS = ("edit", "rows", "rated", "mean", "median", "0 1 2 3 4", "alpha", "alpha (ordinal)")


def table_rows(rated: Rated) -> list[tuple[str, ...]]:
    """Return the headings of a table, then a row of cells for each subset."""
    rows: list[tuple[str, ...]] = [(*HEADS, f"below {rated.bar:g}")]
    for subset in rated.subsets:
        *cells, errors = vars(subset).values()
        texts = [_cell(cell) for cell in cells]
        rows.append((*texts, with_interval(errors.value, errors.low, errors.high)))
    return rows


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return DASH if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def markdown(rated: Rated) -> str:
    """Return the ratings as Markdown: the last section of the data card."""
    head, *rows = table_rows(rated)
    return f"From {LOW} to {HIGH}; alpha is Krippendorff's.\n\n{table(head, rows)}"


def _subsets(keys: Sequence[Key], ratings: Floats, means: Floats, bar: float) -> tuple[Subset, ...]:
    """Summarise the rows of each edit, in the order of their names, then all rows.

    Parameters
    ----------
    ratings, means
        (rows, annotators) ratings, NaN if there is none; (rows,) their means.
    """
    edits = np.array([edit for _, edit in keys])
    names = sorted(set(edits.tolist()))
    subsets = [_subset(name, ratings[edits == name], means[edits == name], bar) for name in names]
    return (*subsets, _subset("all", ratings, means, bar)) if len(names) > 1 else tuple(subsets)


def _subset(name: str, ratings: Floats, means: Floats, bar: float) -> Subset:
    """Summarise the ratings of some rows."""
    values = ratings[~np.isnan(ratings)]
    means_of_rated = means[~np.isnan(means)]
    rated = len(means_of_rated)
    errors = (means_of_rated < bar).astype(np.float64)
    return Subset(
        edit=name,
        rows=len(means),
        rated=rated,
        mean=float(means_of_rated.mean()) if rated else None,
        median=float(np.median(values)) if rated else None,
        # Not np.round, which rounds halves to even: 0.5 would count as 0 and 1.5 as 2.
        distribution=tuple(np.bincount(np.floor(values + 0.5).astype(int), minlength=HIGH + 1).tolist()),
        interval=_alpha(ratings, "interval"),
        ordinal=_alpha(ratings, "ordinal"),
        errors=bounded_mean(errors, Labels.of(np.arange(rated)), 1.0, of_shares=True),
    )


def _alpha(ratings: Floats, level: Level) -> float | None:
    alpha = krippendorff(ratings, level)
    return None if np.isnan(alpha) else alpha


# --- The corpus without the errors ---


def _corpus(path: Path, name: str, keys: Sequence[Key]) -> list[Line]:
    """Return the lines of the corpus of a sheet.

    Raises
    ------
    SourceError
        If the file cannot be read, is another corpus, or has no such items.
    """
    content = read_text(path)
    if not name.endswith(name_of("", content.encode())):
        raise SourceError(f"is not the corpus of the sheet, {name!r}; name that with --corpus", path)
    lines = [json.loads(line) for line in content.split("\n") if line]
    unknown = set(keys) - {row.key for row in rateable(lines)}
    if unknown:
        raise SourceError(f"has no {' '.join(min(unknown))!r}; do not change the items and edits of a sheet", path)
    return lines


def _remaining(lines: Sequence[Line], wrong: Collection[Key], ratings: Ratings) -> list[Line]:
    """Return the lines of a corpus without what is wrong, compositions with the ratings of all annotators.

    Of minimal pairs, wrong edits go; of other samples, the whole sample.
    """
    wrong_pairs = {row.pair for row in rateable(lines) if row.key in wrong}
    wrong_keys = {row.key for row in rateable(lines) if row.pair in wrong_pairs}
    wrong_items = {item for item, _ in wrong_keys}
    remaining = list[Line]()
    for line in lines:
        item = id_of(line)
        if "edits" in line:
            # How the edits were made is written by their names.
            for field in {"edits", "source"} & line.keys():
                line[field] = {edit: value for edit, value in line[field].items() if (item, edit) not in wrong_keys}
            is_right = bool(line["edits"])
        else:
            is_right = item not in wrong_items
        given = [rating for rating in ratings.get((item, line.get("operator", "")), ()) if rating is not None]
        if is_right:
            remaining.append(line | {"ratings": given} if given else line)
    return remaining
