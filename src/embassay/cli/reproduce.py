"""``embassay reproduce``: the tables and figures of the five papers, printed and measured side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, get_args

from cyclopts import Parameter
from cyclopts.types import ExistingDirectory

from embassay.cli.parameters import FINE, Flag
from embassay.core.errors import say

Paper = Literal["composition", "localization", "heros", "retrieval", "semantoneg"]


def reproduce(
    paper: Paper | None = None,
    /,
    *,
    data: Annotated[ExistingDirectory, Parameter(env_var="EMBASSAY_DATA")] = Path(),
    models: Annotated[ExistingDirectory, Parameter(env_var="EMBASSAY_MODELS")] = Path(),
    list_: Annotated[Flag, Parameter(name="--list")] = False,
) -> int:
    """Print the tables and figures of the five papers, each figure beside one measured here.

    A figure is "reproduced" within the tolerance that its note states, "differs" with the reason where it is known, or
    is "not available": data, weights or the number in the paper are missing, or what is measured is on other data.

    Parameters
    ----------
    paper
        All five by default.
    data
        Folder with the data of the papers, as --list names them; the current folder by default.
    models
        Folder with weights, each under the paper's name of its model; the current folder by default.
    list_
        Print what each table needs and how long it takes, and compute nothing.
    """
    from embassay.cli.papers import figures, summary, written
    from embassay.diagnostics.published import published
    from embassay.reports.terminal import print_line, stdout

    measured = []
    for name in [paper] if paper else get_args(Paper):
        if list_:
            print_line(stdout(), f"{name}: {published(name)['title']}")
        for exhibit in published(name)["exhibits"]:
            title = f"{name}, {exhibit['exhibit']}: {exhibit['title']}"
            if list_:
                print_line(stdout(), f"{title}. {exhibit['needs']}")
                continue
            say(title)
            of_exhibit = list(figures(name, exhibit, data.resolve(), models.resolve()))
            sys.stdout.write(written(title, of_exhibit))
            measured += of_exhibit
    if measured:
        sys.stdout.write(summary(measured))
    return FINE
