"""``embassay reproduce``: the tables and figures of the five papers, printed and measured side by side."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from embassay.cli.parameters import FINE, Flag, Out
from embassay.core.errors import InputError, say

if TYPE_CHECKING:
    from rich.console import Console

    from embassay.reports.tables import Table


def reproduce(
    paper: str = "",
    /,
    *,
    data: Path | None = None,
    models: Path | None = None,
    hub: Flag = False,
    out: Out = Path("embassay-reproduced"),
    format_: Annotated[Literal["text", "csv", "json", "latex", "markdown"], Parameter(name="--format")] = "text",
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    cache: Path | None = None,
) -> int:
    """Print the tables and figures of the five papers, each figure beside one measured here.

    A figure is "reproduced" within the tolerance that its note states, "differs" with the reason where it is known, or
    is "not available": data, weights or the number in the paper are missing, or what is measured is on other data.

    Parameters
    ----------
    paper
        composition, localization, heros, retrieval or semantoneg; all five by default.
    data
        Folder with the data of the papers, as --list names them; $EMBASSAY_DATA by default.
    models
        Folder with weights, each under the paper's name of its model; $EMBASSAY_MODELS by default.
    hub
        Download models that are not on this disk from the hub.
    out
        Folder of the results, a JSON file for each table or figure. Those that are finished are not computed again.
    format_
        How the tables are printed.
    list_
        Print what each table needs and how long it takes, and compute nothing.
    cache
        Folder of the vector cache; the user's own by default.
    """
    from embassay.cli.papers.bench import Bench
    from embassay.cli.papers.tables import PAPERS, listed, needs, papers, reproduced, summary, table, written
    from embassay.core.store.paths import output_path
    from embassay.reports.terminal import print_line, stdout

    chosen = papers(paper)
    console = stdout()
    if list_:
        for name in chosen:
            print_line(console, f"{name}: {PAPERS[name].TITLE}")
            for _, exhibit in listed(name):
                print_line(console, f"{exhibit.name}: {exhibit.title}. {needs(exhibit)}", 2)
        return FINE
    bench = Bench(
        _folder(data, "EMBASSAY_DATA"),
        _folder(models, "EMBASSAY_MODELS"),
        hub=hub,
        cache=output_path(cache) if cache else "default",
    )
    place = output_path(out)
    shown = []
    for one in reproduced(bench, paper, place, lambda name, exhibit: say(f"{name}, {exhibit.name}: {exhibit.title}")):
        shown.append(one)
        if format_ == "text":
            _print(table(one), console)
    if format_ == "text":
        print_line(console, f"{summary(shown)}.")
    else:
        sys.stdout.write(written(shown, format_))
    say(f"Results are in {place}.")
    return FINE


def _folder(given: Path | None, variable: str) -> Path | None:
    """Return a folder that is given, or that the environment names; None for none."""
    folder = given or (Path(os.environ[variable]) if os.environ.get(variable) else None)
    if folder is not None and not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    return folder


def _print(content: Table, console: Console) -> None:
    """Print an exhibit: its title, what is measured, and how much is not."""
    from embassay.reports.terminal import print_line, print_table

    print_line(console, content.title)
    if content.rows:
        print_table(content, console)
    if content.note:
        print_line(console, content.note, 2)
