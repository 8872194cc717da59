"""``embassay build`` and ``embassay rate``: test sets from a user's own sentences, and what people find in them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from embassay.store.paths import output_path, source_path

if TYPE_CHECKING:
    from embassay.testsets.base import Built
    from embassay.testsets.rating import Rated

FINE = 0
REASONS = 10
"""Reasons that are said at the end, the most frequent ones; the data card has all."""

build = App(
    name="build",
    help="Build a test set from sentences of your own, with a data card and a sheet for people to rate it on.",
    help_format="plaintext",
)
From = Annotated[Path, Parameter(name="--from")]
Out = Annotated[Path, Parameter(name=("-o", "--out"))]
Overwrite = Annotated[bool, Parameter(negative="")]
Language = Literal["en", "any"]


@build.command(name="minimal-pairs")
def build_minimal_pairs(
    *,
    source: From,
    out: Out,
    column: str = "",
    count: int | None = None,
    seed: int = 0,
    misspellings: str = "",
    mlm: str = "",
    licence: str = "",
    language: Language = "en",
    overwrite: Overwrite = False,
) -> int:
    """Build originals and their one-word edits, as HEROS was made.

    Parameters
    ----------
    source
        Text of one sentence a line, or a CSV, TSV, JSON lines or Parquet file.
    out
        File to write; its data card and sheet are written beside it.
    column
        The column of sentences, where its name is not known.
    count
        How many originals; all by default.
    seed
        Of every random draw.
    misspellings
        File of wrong→right lines; codespell's list by default.
    mlm
        Folder of a masked language model, for random_mlm; random_word from the sentences otherwise.
    licence
        What you may do with the sentences, for the data card.
    language
        any builds from sentences that do not look English.
    overwrite
        Replace files that are there.
    """
    common: dict[str, Any] = {"column": column, "count": count, "seed": seed, "licence": licence, "language": language}
    return run_build("minimal-pairs", source, out, overwrite, **common, misspellings=misspellings, mlm=mlm)


@build.command(name="negated-antonyms")
def build_negated_antonyms(
    *,
    source: From,
    out: Out,
    column: str = "",
    count: int | None = None,
    seed: int = 0,
    licence: str = "",
    language: Language = "en",
    review: Path | None = None,
    overwrite: Overwrite = False,
) -> int:
    """Build inputs with an antonym, a negation and both, as SemAntoNeg was made.

    Parameters
    ----------
    source
        Text of one sentence a line, or a CSV, TSV, JSON lines or Parquet file; a table of paraphrase pairs as well.
    out
        File to write; its data card and sheets are written beside it.
    column
        The column of sentences, where its name is not known.
    count
        How many quadruples; all by default.
    seed
        Of every random draw.
    licence
        What you may do with the sentences, for the data card.
    language
        any builds from sentences that do not look English.
    review
        The review sheet of an earlier build, filled: what people confirmed on it joins the test set.
    overwrite
        Replace files that are there.
    """
    common: dict[str, Any] = {"column": column, "count": count, "seed": seed, "licence": licence, "language": language}
    return run_build("negated-antonyms", source, out, overwrite, **common, review=review)


@build.command(name="groups")
def build_groups(
    *,
    source: From,
    out: Out,
    encoder: Annotated[str, Parameter(name=("-e", "--encoder"))] = "",
    threshold: float = 0.8,
    first: str = "",
    second: str = "",
    label: str = "",
    column: str = "",
    count: int | None = None,
    seed: int = 0,
    licence: str = "",
    overwrite: Overwrite = False,
) -> int:
    """Build groups of sentences that mean the same, from pairs; with -e propose some, on a sheet to confirm.

    Parameters
    ----------
    source
        Table of pairs, a sheet that people have confirmed; with -e sentences.
    out
        File to write; with -e the sheet (CSV), which goes into --from once people have written yes or no.
    encoder
        SPEC[,option=value…] of the encoder that proposes groups.
    threshold
        With -e: cosine that any two sentences of a group are above.
    first
        The column of first sentences, where its name is not known.
    second
        The column of second sentences.
    label
        The column that says whether they mean the same.
    column
        With -e: the column of sentences.
    count
        How many groups; all by default.
    seed
        Of every random draw.
    licence
        What you may do with the sentences, for the data card.
    overwrite
        Replace files that are there.
    """
    if encoder:
        return _propose(source, out, column, encoder, threshold, overwrite)
    pairs = {"first": first, "second": second, "label": label}
    return run_build("groups", source, out, overwrite, column=column, count=count, seed=seed, licence=licence, **pairs)


def rate(
    *sheets: Path,
    bar: float = 2.0,
    out: Annotated[Path | None, Parameter(name=("-o", "--out"))] = None,
    corpus: Path | None = None,
    overwrite: Overwrite = False,
) -> int:
    """Read filled sheets: what people gave, how far they agree, how much is wrong; with -o, the rest of the test set.

    Parameters
    ----------
    sheets
        Sheets that 'embassay build' wrote, filled, one for each annotator.
    bar
        Mean rating, 0 to 4, under which a row is an error.
    out
        File for the test set without errors; nothing is dropped by default.
    corpus
        The test set, where it does not lie beside the first sheet.
    overwrite
        Replace files that are there.
    """
    from embassay.testsets.rating import rate as read

    found = read(sheets, bar=bar, out=out, corpus=corpus, overwrite=overwrite)
    _show(found)
    say(*found.notes)
    return FINE


def run_build(kind: str, source: Path, out: Path, overwrite: bool, **options: Any) -> int:
    """Build, and say what there is now and how it is used; options that are empty were not given."""
    from embassay.api import build as make
    from embassay.run.progress import Bar
    from embassay.testsets.files import Places

    out = output_path(out)
    given = {name: value for name, value in options.items() if value not in (None, "", ())}
    with Bar().training(f"build {out}") as advance:
        built = make(kind, source, out, overwrite=overwrite, advance=advance, **given)
    places = Places(out)
    say(*built.notes, *_amounts(built))
    say(f"test set: {places.corpus}", f"data card: {places.card}", f"sheet for rating: {places.sheet}")
    if places.answers.exists():
        say(f"what the generator answered: {places.answers}")
    if built.doubtful:
        say(f"sheet for review: {places.review}: {len(built.doubtful):,} to confirm with yes or no; --review reads it")
    say(f"assay it with: embassay run -c {_source(out)}")
    return FINE


def _propose(source: Path, out: Path, column: str, encoder: str, threshold: float, overwrite: bool) -> int:
    """Write the sheet of the groups that an encoder proposes, and say what to do with it."""
    from embassay.errors import InputError
    from embassay.run.progress import Bar
    from embassay.run.resolve import load_encoder
    from embassay.testsets.files import check_free, write_files
    from embassay.testsets.kinds.groups import propose, sheet_of
    from embassay.testsets.sources import read_sentences, usable

    source, out = source_path(source), output_path(out)
    check_free((out,), overwrite)
    sentences, rejected = usable(read_sentences(source, column))
    with Bar().training(f"encode {source}") as advance:
        candidates = propose(sentences, load_encoder(encoder), threshold=threshold, advance=advance)
    if not candidates:
        told = f"no three of its {len(sentences):,} sentences are nearer to each other than {threshold:g}"
        raise InputError(f"{source}: {told}; name a lower --threshold")
    write_files({out: sheet_of(candidates)})
    groups = len({candidate.group for candidate in candidates})
    say(f"{groups:,} group{'s' * (groups != 1)} with {len(candidates):,} of {len(sentences):,} sentences proposed")
    say(*(f"left out: {number:,} × {reason}" for reason, number in rejected.most_common()))
    say(f"sheet to confirm: {out}: write yes or no beside each sentence; then")
    say(f"embassay build groups --from {shlex.quote(str(out))} -o FILE")
    return FINE


def _amounts(built: Built) -> Iterable[str]:
    """Say how many samples there are, how fast they came, and what was left out."""
    speed = f", {built.read / built.seconds:,.0f} rows a second" if built.seconds > 0 else ""
    yield f"built: {len(built.samples):,} samples of {built.read:,} rows in {built.seconds:.1f} s{speed}"
    yield from (f"left out: {number:,} × {reason}" for reason, number in built.rejected.most_common(REASONS))
    if len(built.rejected) > REASONS:
        yield f"left out for {len(built.rejected) - REASONS} other reasons: see the data card"


def _source(path: Path) -> str:
    """Return a file as the spec of a corpus."""
    told = str(path)
    return shlex.quote(told if path.is_absolute() or told.startswith((".", "~")) else f"./{told}")


def _show(found: Rated) -> None:
    """Print a line for each edit."""
    from rich.table import Table

    from embassay.reports.terminal import stdout
    from embassay.testsets.rating import number, percent

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    heads = ("edit", "rows", "rated", "mean", "median", "0 1 2 3 4", "alpha", "alpha (ordinal)", f"under {found.bar:g}")
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place == 0 else "right", no_wrap=True)
    for s in found.subsets:
        given = " ".join(f"{count:,}" for count in s.distribution)
        alphas = (number(s.interval), number(s.ordinal))
        cells = (f"{s.rows:,}", f"{s.rated:,}", number(s.mean), number(s.median), given, *alphas, percent(s.errors))
        table.add_row(s.edit, *cells)
    stdout().print(table)


def say(*lines: str) -> None:
    """Print lines for people, beside the output."""
    for line in lines:
        print(line, file=sys.stderr)  # noqa: T201
