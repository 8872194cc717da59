"""``embassay build`` and ``embassay rate``: test sets from a user's own texts, and what people find in them.

The command of each kind of test set has the options of the builder's signature and the help of its docstring.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from cyclopts import App, Parameter

from embassay.cli.parameters import FINE, Flag, Flat, Out
from embassay.core.errors import say
from embassay.core.formatting import counted
from embassay.core.plugins import BUILDERS, left_out
from embassay.core.store.paths import output_path, source_path
from embassay.testsets.options import BuildOptions

REASONS = 10
"""Reasons that are printed at the end, the most frequent ones; the data card has all."""
AS_TEXT = {
    "generator": str,
    "mlm": str,
    "prompt": Path | None,
    "filters": Annotated[tuple[str, ...], Parameter(name=("-e", "--encoder"))],
}
"""What the command line takes for options that builders take as objects: specs, and the file of a prompt."""
OF_PROPOSALS = (
    (
        "encoder",
        Annotated[str, Parameter(name=("-e", "--encoder"))],
        "SPEC[,option=value…] of the encoder that proposes groups; -o is then the sheet (CSV): fill in yes or no, or "
        "groups, and pass it as --from.",
        "",
    ),
    ("threshold", float, "With -e: minimum cosine between any two sentences of a group.", 0.8),
    (
        "by_hand",
        bool,
        "Write all sentences on the sheet, to be grouped by hand; with -e, those without a group come last.",
        False,
    ),
)
"""(name, type, help, default) of the options of the sheet from which groups are built."""
build = App(
    name="build",
    help="Build a test set from your own sentences or documents, with a data card and a sheet for human ratings.",
    help_format="plaintext",
)


def add_build_commands(arguments: list[str]) -> None:
    """Make ``embassay build KIND`` known, for each builder; only the one that ``arguments`` name gets its options."""
    if arguments[:1] != ["build"]:
        return
    for name in BUILDERS.names():
        kind = name.replace("_", "-")
        if kind in list(build):
            del build[kind]
        if kind in arguments[1:2]:
            build.command(command_of(name), name=kind)
        else:
            with left_out():
                build.command(App(name=kind, help=BUILDERS.describe(name)[0]))


def command_of(name: str) -> Callable[..., int]:
    """Return a function with the options of every kind and those of a builder, for cyclopts to read."""
    module = BUILDERS.module(name)
    options = [*_options(getattr(module, "read", None)), *_options(module.build)]
    if name == "groups":
        options += OF_PROPOSALS
    # An option that the reader and the builder both have is one option.
    fields = {
        option: (option, Annotated[kind, Parameter(help=text)], field(default=default))
        for option, kind, text, default in options
    }
    options_type: Any = make_dataclass("KindOptions", fields.values(), bases=(BuildOptions,), frozen=True, kw_only=True)
    options_type.__module__ = __name__  # cyclopts takes classes of the module "types" for single values.
    defaults = options_type()

    # The annotations are set by hand: as strings, the type that was just made could not be found.
    def command(*, source, out, options=defaults, overwrite=False):  # type: ignore[no-untyped-def]
        given = {key: value for key, value in vars(options).items() if value != getattr(defaults, key)}
        return _carry_out(name.replace("_", "-"), source_path(source), output_path(out), overwrite, given)

    command.__annotations__ = {
        "source": Annotated[Path, Parameter(name="--from", help="File or folder of sentences, pairs or documents.")],
        "out": Annotated[Out, Parameter(help="File to write; its data card and sheets are written next to it.")],
        "options": Annotated[options_type, Flat],
        "overwrite": Annotated[Flag, Parameter(help="Replace existing files.")],
        "return": int,
    }
    command.__doc__ = BUILDERS.describe(name)[0]
    return command


def _options(function: Callable[..., Any] | None) -> Iterator[tuple[str, Any, str, Any]]:
    """Yield (name, type, help, default) of the options that only a builder or its reader has."""
    if function is None:
        return
    from docstring_parser import parse

    from embassay.testsets.build import PARAMETERS_OF_ALL

    helps = {}
    for documented in parse(function.__doc__ or "").params:
        text = " ".join((documented.description or "").replace("``", "").split())
        helps.update(dict.fromkeys(documented.arg_name.split(", "), text))
    types = get_type_hints(function) | AS_TEXT
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name not in PARAMETERS_OF_ALL:
            kind = types.get(name, type(parameter.default))
            # An object that there may be or not is here a text that may be empty.
            default = "" if parameter.default is None and kind is str else parameter.default
            yield name, kind, helps.get(name, ""), default


def _carry_out(kind: str, source: Path, out: Path, overwrite: bool, options: dict[str, Any]) -> int:
    """Build a test set, or propose groups for one."""
    if kind == "groups" and options.keys() & {"encoder", "by_hand"}:
        return _propose(source, out, overwrite, options)
    if options.get("prompt"):
        from embassay.testsets.generator.base import read_prompt

        # The command takes a file, the builder its text.
        options["prompt"] = read_prompt(source_path(options["prompt"]))
    from embassay.api import build as make
    from embassay.run.progress import progress
    from embassay.testsets.files import SetFiles

    with progress(f"build {out}") as advance:
        built = make(kind, source, out, overwrite=overwrite, advance=advance, **options)
    say(*built.notes)
    say(f"built: {counted(len(built.samples), 'sample')} of {counted(built.read, 'row')}")
    for reason, number in built.rejected.most_common(REASONS):
        say(f"left out: {number:,} × {reason}")
    if (more := len(built.rejected) - REASONS) > 0:
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


def _propose(source: Path, out: Path, overwrite: bool, options: Mapping[str, Any]) -> int:
    """Write the sheet of groups that people confirm, and say what they do with it."""
    from embassay.run.progress import progress
    from embassay.testsets.proposals import propose_groups

    given = {name: options[name] for name in ("column", "threshold") if name in options}
    encoder = options.get("encoder", "")
    by_hand = not encoder or "by_hand" in options
    with progress(f"encode {source}") as advance:
        proposal = propose_groups(source, out, encoder, by_hand=by_hand, overwrite=overwrite, advance=advance, **given)
    if encoder:
        groups = counted(proposal.groups, "group")
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
    from embassay.reports.tables import Cell, Table
    from embassay.reports.terminal import print_table, stdout
    from embassay.testsets.rating import rate as read
    from embassay.testsets.rating import table_rows

    rated = read(sheets, bar=bar, out=out, corpus=corpus, overwrite=overwrite)
    head, *rows = table_rows(rated)
    print_table(Table("", head, tuple(tuple(map(Cell, row)) for row in rows)), stdout())
    say(*rated.notes)
    return FINE
