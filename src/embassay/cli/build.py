"""``embassay build`` and ``embassay rate``: test sets from a user's own texts, and what people find in them.

The command of each kind of test set has the options of ``embassay.build``, and of its builder and reader, with the help
of their docstrings.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from cyclopts import App, Parameter

from embassay.cli.parameters import FINE, Flag, Flat, Out
from embassay.core.errors import say
from embassay.core.formatting import counted
from embassay.core.plugins import BUILDERS
from embassay.core.store.paths import output_path, source_path
from embassay.core.tables.texts import read_text
from embassay.testsets.options import BuildOptions

REASONS = 10
"""Reasons that are printed at the end, the most frequent ones; the data card has all."""
AS_TEXT = {
    "generator": str | None,
    "mlm": str | None,
    "prompt": Path | None,
    "encoder": Annotated[str | None, Parameter(name=("-e", "--encoder"))],
    "filters": Annotated[tuple[str, ...], Parameter(name=("-e", "--encoder"))],
}
"""What the command line takes for options that builders take as objects: specs, and the file of a prompt."""
OF_ALL = BuildOptions()

build = App(
    name="build",
    help="Build a test set from your own sentences or documents, with a data card and a sheet for human ratings.\n\n"
    "embassay build KIND --help has the options of a kind. The kinds are minimal-pairs, negated-antonyms, groups, "
    "composition and retrieval (see 'embassay list builders').",
    usage="Usage: embassay build KIND --from PATH -o PATH [OPTIONS]",
    help_format="plaintext",
)


def add_build_command(arguments: list[str]) -> None:
    """Make ``embassay build KIND`` known if ``arguments`` name a kind: to import all builders takes seconds.

    Raises
    ------
    InputError
        If there is no such builder, or it lacks an extra.
    """
    command, kind = (*arguments, "", "")[:2]
    if command == "build" and kind[:1] not in ("", "-"):
        if kind in list(build):
            del build[kind]
        build.command(command_of(kind.replace("-", "_")), name=kind)


def command_of(name: str) -> Callable[..., int]:
    """Return a function with the options of every kind and those of a builder, for cyclopts to read."""
    module = BUILDERS.module(name)
    parameters = dict(inspect.signature(_carry_out, eval_str=True).parameters)
    del parameters["kind"], parameters["more"]
    # An option that several functions have is one option.
    for function in filter(None, [getattr(module, "read", None), module.build]):
        parameters |= _options(function)

    def command(**options: Any) -> int:
        return _carry_out(name.replace("_", "-"), **options)

    command.__signature__ = inspect.Signature([*parameters.values()])  # type: ignore[attr-defined]
    command.__doc__ = BUILDERS.describe(name)[0]
    return command


def _options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the keyword parameters of a function with the help of its docstring, as cyclopts reads them."""
    from docstring_parser import parse

    from embassay.testsets.build import PARAMETERS_OF_ALL

    helps = {}
    for documented in parse(function.__doc__ or "").params:
        text = " ".join((documented.description or "").replace("``", "").split())
        helps.update(dict.fromkeys(documented.arg_name.split(", "), text))
    types = get_type_hints(function, include_extras=True) | AS_TEXT
    options = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY and name not in PARAMETERS_OF_ALL:
            kind: Any = types.get(name, type(parameter.default))
            annotation = Annotated[kind, Parameter(help=helps.get(name, ""), negative="")]
            options[name] = parameter.replace(annotation=annotation)
    return options


def _carry_out(
    kind: str,
    *,
    source: Annotated[Path, Parameter(name="--from", help="File or folder of sentences, pairs or documents.")],
    out: Annotated[Out, Parameter(help="File to write; its data card and sheet are written next to it.")],
    common: Annotated[BuildOptions, Flat] = OF_ALL,
    overwrite: Annotated[Flag, Parameter(help="Replace existing files.")] = False,
    **more: Any,
) -> int:
    """Build a test set."""
    from embassay.api import build as make
    from embassay.run.progress import progress
    from embassay.testsets.files import SetFiles

    source, out = source_path(source), output_path(out)
    options = {name: value for name, value in vars(common).items() if value not in (None, "")} | more
    if options.get("prompt"):
        # The command takes a file, the builder its text.
        options["prompt"] = read_text(source_path(options["prompt"]))
    with progress(f"build {out}") as advance:
        built = make(kind, source, out, overwrite=overwrite, advance=advance, **options)
    say(*built.notes)
    say(f"built: {counted(len(built.samples), 'sample')} of {counted(built.read, 'row')}")
    for reason, number in built.rejected.most_common(REASONS):
        say(f"left out: {number:,} × {reason}")
    places = SetFiles(out)
    say(f"test set: {places.corpus}", f"data card: {places.card}", f"sheet for rating: {places.sheet}")
    if places.answers.exists():
        say(f"answers of the generator: {places.answers}")
    # Without a folder before it, the name of a file may be taken for that of a built-in corpus.
    say(f"assay it with: embassay run -c {shlex.quote(str(out) if out.is_absolute() else f'./{out}')}")
    return FINE


def rate(
    *sheets: Path,
    bar: float = 2.0,
    out: Out | None = None,
    corpus: Path | None = None,
    overwrite: Flag = False,
) -> int:
    """Summarise filled rating sheets: ratings, agreement and errors; with -o, write the test set without errors.

    Compositions get their ratings in it, and the report says how often each was given.

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
