"""``embassay build`` and ``embassay rate``: test sets from a user's own sentences, and what people find in them."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from embassay.cli.parameters import FINE, Flag, Flat, Out
from embassay.core.errors import say
from embassay.core.formatting import counted
from embassay.core.store.paths import output_path, source_path
from embassay.testsets.options import Auxiliary, BuildOptions, Grammar, Shared

if TYPE_CHECKING:
    from embassay.testsets.rating import Rated

REASONS = 10
"""Reasons that are printed at the end, the most frequent ones; the data card has all."""

build = App(
    name="build",
    help="Build a test set from your own sentences or documents, with a data card and a sheet for human ratings.",
    help_format="plaintext",
)
From = Annotated[Path, Parameter(name="--from")]


@dataclass(frozen=True, kw_only=True)
class MinimalPairsOptions(BuildOptions):
    """Options of minimal pairs.

    Attributes
    ----------
    count
        Maximum number of originals; all by default.
    auxiliary
        When a negation is removed, keep its auxiliary ("does know", the default, as in HEROS) or drop it ("knows").
    replacements
        Table of words with synonym and antonym (part, word, synonym, antonym), in place of the built-in list.
    misspellings
        File with lines wrong→right; codespell's list by default.
    mlm
        Folder or hub name of a masked language model, for random_mlm; without it, random_word from the sentences.
    grammar
        Check originals and edits with Harper, the default, or not at all.
    """

    auxiliary: Auxiliary | None = None
    replacements: str = ""
    misspellings: str = ""
    mlm: str = ""
    grammar: Grammar | None = None


@dataclass(frozen=True, kw_only=True)
class PairColumns(Shared):
    """Columns of a table of pairs.

    Attributes
    ----------
    first
        The column of first sentences, if it is not recognised by name.
    second
        The column of second sentences.
    label
        The column that says whether they mean the same, if it is not recognised by name; none if all pairs do.
    merge
        Groups of a sheet that share a sentence become one.
    """

    first: str = ""
    second: str = ""
    label: str = ""
    merge: Flag = False


@dataclass(frozen=True, kw_only=True)
class NegatedAntonymsOptions(PairColumns, BuildOptions):
    """Options of negated antonyms.

    Attributes
    ----------
    count
        Maximum number of quadruples; all by default.
    auxiliary
        When a negation is removed, drop its auxiliary ("knows", the default) or keep it ("does know").
    as_published
        Only not with an adjective, and each antonym of WordNet, as the paper has it; review the sheet.
    """

    auxiliary: Auxiliary | None = None
    as_published: Flag = False


@dataclass(frozen=True, kw_only=True)
class GroupsOptions(PairColumns):
    """Options of groups.

    Attributes
    ----------
    count
        Maximum number of groups; all by default.
    column
        With -e: the column of sentences.
    """

    column: str = ""


@build.command(name="minimal-pairs")
def build_minimal_pairs(
    *,
    source: From,
    out: Out,
    options: Annotated[MinimalPairsOptions, Flat] = MinimalPairsOptions(),
    overwrite: Flag = False,
) -> int:
    """Build originals and their one-word edits, in the way of HEROS.

    Parameters
    ----------
    source
        Text of one sentence a line, or a CSV, TSV, JSON lines or Parquet file.
    out
        File to write; its data card and sheets are written next to it.
    overwrite
        Replace existing files.
    """
    return run_build("minimal-pairs", source, out, overwrite, given_options(options))


@build.command(name="negated-antonyms")
def build_negated_antonyms(
    *,
    source: From,
    out: Out,
    options: Annotated[NegatedAntonymsOptions, Flat] = NegatedAntonymsOptions(),
    overwrite: Flag = False,
) -> int:
    """Build inputs with an antonym, a negation and both, in the way of SemAntoNeg.

    Parameters
    ----------
    source
        Sentences, one a line or in a table (CSV, TSV, JSON lines, Parquet); or pairs of paraphrases, as a table or as
        Opusparcus is released.
    out
        File to write; its data card and sheets are written next to it.
    overwrite
        Replace existing files.
    """
    return run_build("negated-antonyms", source, out, overwrite, given_options(options))


@build.command(name="groups")
def build_groups(
    *,
    source: From,
    out: Out,
    encoder: Annotated[str, Parameter(name=("-e", "--encoder"))] = "",
    threshold: float = 0.8,
    by_hand: Flag = False,
    options: Annotated[GroupsOptions, Flat] = GroupsOptions(),
    overwrite: Flag = False,
) -> int:
    """Build groups of sentences with the same meaning from pairs; with -e, propose groups on a sheet to confirm.

    Parameters
    ----------
    source
        Table of pairs, or a confirmed sheet; with -e or --by-hand, sentences, or the folder of the topics of Opinosis.
    out
        File to write; with -e or --by-hand, the sheet (CSV): fill in yes or no, or groups, then pass it as --from.
    encoder
        SPEC[,option=value…] of the encoder that proposes groups.
    threshold
        With -e: minimum cosine between any two sentences of a group.
    by_hand
        Write all sentences on the sheet, to be grouped by hand; with -e, those without a group come last.
    overwrite
        Replace existing files.
    """
    # Without an encoder the groups follow from the pairs alone; with one, a person confirms what it proposes.
    by_hand = by_hand or (source.is_dir() and not encoder)
    if not encoder and not by_hand:
        return run_build("groups", source, out, overwrite, given_options(options))
    from embassay.run.progress import progress
    from embassay.testsets.proposals import propose_groups

    source, out = source_path(source), output_path(out)
    with progress(f"encode {source}") as advance:
        proposal = propose_groups(
            source,
            out,
            encoder,
            column=options.column,
            threshold=threshold,
            by_hand=by_hand,
            overwrite=overwrite,
            advance=advance,
        )
    groups = counted(proposal.groups, "group")
    if encoder:
        say(f"{groups} with {proposal.grouped:,} of {proposal.sentences:,} sentences proposed")
    for reason, number in proposal.rejected.most_common():
        say(f"left out: {number:,} × {reason}")
    to_do = "write yes or no next to each sentence"
    if by_hand:
        to_do += " with a group, and a group next to others that belong to one"
    say(f"sheet to confirm: {out}: {to_do}, then run")
    say(f"embassay build groups --from {shlex.quote(str(out))} -o FILE")
    return FINE


def rate(
    *sheets: Path,
    bar: float = 2.0,
    out: Out | None = None,
    corpus: Path | None = None,
    overwrite: Flag = False,
) -> int:
    """Summarise filled rating sheets: ratings, agreement and errors; with -o, write the test set without errors.

    Compositions get their ratings in it, from which the report draws how often each was given.

    Parameters
    ----------
    sheets
        Filled sheets from 'embassay build', one for each annotator.
    bar
        A row with a mean rating (0 to 4) below this is an error; 0 drops nothing.
    out
        File for the test set without errors; nothing is dropped by default.
    corpus
        The test set, if it is not in the folder of the first sheet.
    overwrite
        Replace existing files.
    """
    from embassay.testsets.rating import rate as read

    rated = read(sheets, bar=bar, out=out, corpus=corpus, overwrite=overwrite)
    _print_table(rated)
    say(*rated.notes)
    return FINE


def given_options(options: Shared) -> dict[str, Any]:
    """Return the options of the command line that are neither empty nor False.

    The others keep the defaults of the builder, which may lack some of these options.
    """
    set_options: dict[str, Any] = {}
    for name, value in vars(options).items():
        # "is", because 0 equals False but is a value.
        is_set = value is not False and value not in (None, "", ())
        if is_set:
            set_options[name] = value
    return set_options


def run_build(kind: str, source: Path, out: Path, overwrite: bool, options: dict[str, Any]) -> int:
    """Build, and print what was built and how it is used."""
    from embassay.api import build as make
    from embassay.run.progress import progress
    from embassay.testsets.files import SetFiles

    out = output_path(out)
    with progress(f"build {out}") as advance:
        built = make(kind, source, out, overwrite=overwrite, advance=advance, **options)
    say(*built.notes)
    say(f"built: {counted(len(built.samples), 'sample')} of {counted(built.read, 'row')} in {built.time_taken}")
    for reason, number in built.rejected.most_common(REASONS):
        say(f"left out: {number:,} × {reason}")
    more = len(built.rejected) - REASONS
    if more > 0:
        say(f"{counted(more, 'more reason')} for leaving out rows: see the data card")
    places = SetFiles(out)
    say(f"test set: {places.corpus}", f"data card: {places.card}", f"sheet for rating: {places.sheet}")
    if places.answers.exists():
        say(f"answers of the generator: {places.answers}")
    if places.review.exists():
        undecided = f", {len(built.doubtful):,} to confirm with yes or no" if built.doubtful else ""
        say(f"sheet for review: {places.review}{undecided}: strike, correct or add rows; pass it as --review")
    # Without a folder before it, the name of a file may be taken for that of a built-in corpus.
    corpus = str(out)
    if not out.is_absolute() and not corpus.startswith((".", "~")):
        corpus = f"./{corpus}"
    say(f"assay it with: embassay run -c {shlex.quote(corpus)}")
    return FINE


def _print_table(rated: Rated) -> None:
    """Print one row for each edit."""
    from rich.table import Table

    from embassay.reports.terminal import stdout
    from embassay.testsets.rating import table_rows

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    (first_head, *heads), *rows = table_rows(rated)
    table.add_column(first_head, justify="left", no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    stdout().print(table)
