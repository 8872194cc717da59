"""``embassay reproduce``: the tables and figures of the five papers, printed and measured side by side."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from cyclopts import Parameter
from cyclopts.types import ExistingDirectory

from embassay.cli.parameters import FINE, Flag, Out
from embassay.core.errors import say

if TYPE_CHECKING:
    from embassay.cli.papers import Line

HEAD = ("row", "column", "published", "here", "standing")
Paper = Literal["composition", "localization", "heros", "retrieval", "semantoneg"]


def reproduce(
    paper: Paper | None = None,
    /,
    *,
    data: Annotated[ExistingDirectory, Parameter(env_var="EMBASSAY_DATA")] = Path(),
    models: Annotated[ExistingDirectory, Parameter(env_var="EMBASSAY_MODELS")] = Path(),
    out: Out = Path("embassay-reproduced"),
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
    out
        Folder of the scores. Those that are in it are not computed again.
    list_
        Print what each table needs and how long it takes, and compute nothing.
    """
    from embassay.cli.papers import Bench, figures
    from embassay.core.store.paths import output_path
    from embassay.diagnostics.published import published
    from embassay.reports.terminal import print_line, stdout

    bench = Bench(data.resolve(), models.resolve(), output_path(out))
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
            measured.append(list(figures(name, exhibit, bench)))
    if measured:
        say(f"The scores are in {bench.out}.")
        sys.stdout.write(written(measured))
    return FINE


def summary(exhibits: Sequence[Sequence[Line]]) -> str:
    """Return how many figures are reproduced, differ and are not available."""
    counts = Counter(line["standing"] for lines in exhibits for line in lines)
    return ", ".join(f"{counts[standing]} {standing}" for standing in ("reproduced", "differs", "not available")) + "."


def written(exhibits: Sequence[Sequence[Line]]) -> str:
    """Return exhibits as Markdown: the figures of which something is measured; the others are counted below them."""
    from embassay.reports.tables import Cell, Table
    from embassay.run.outputs.markdown import escaped, table_lines

    parts = []
    for lines in exhibits:
        rows = []
        for line in lines:
            if line["measured"]:
                texts = (line["row"], line["column"], line["published"] or "–", line["measured"])
                rows.append((*map(Cell, texts), Cell(line["standing"], remark=line["note"])))
        title = f"{lines[0]['paper']}, {lines[0]['exhibit']}: {lines[0]['title']}"
        parts += [f"### {escaped(title)}", table_lines(Table("", HEAD, tuple(rows)))]
        reasons = [line["note"] for line in lines if not line["measured"]]
        if reasons:
            parts.append(escaped(f"{len(reasons)} of {len(lines)} not measured: {reasons[0]}."))
    return "\n\n".join([*parts, summary(exhibits)]) + "\n"
