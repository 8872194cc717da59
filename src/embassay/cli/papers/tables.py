"""All exhibits: which there are, their cells from a folder or computed, and the forms they are written in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from embassay._version import __version__
from embassay.cli.papers import composition, heros, localization, retrieval, semantoneg
from embassay.cli.papers.bench import DATA, Bench
from embassay.cli.papers.exhibit import DIFFERS, NOT_AVAILABLE, REPRODUCED, PaperExhibit, PaperFigure
from embassay.core.errors import UnknownNameError
from embassay.core.store.canonical import write
from embassay.reports.tables import Cell, Table
from embassay.run.outputs import exhibits, markdown
from embassay.run.outputs.kinds import latex

Form = Literal["text", "csv", "json", "latex", "markdown"]
PAPERS = {
    "composition": composition,
    "localization": localization,
    "heros": heros,
    "retrieval": retrieval,
    "semantoneg": semantoneg,
}
HEAD = ("row", "column", "published", "here", "standing")


@dataclass(frozen=True)
class Shown:
    """The cells of an exhibit, and what they were computed from.

    Attributes
    ----------
    data, weights
        The SHA-256 of files of data by path, and of weights by model; those that are at hand.
    """

    paper: str
    name: str
    title: str
    version: str
    data: dict[str, str]
    weights: dict[str, str]
    cells: list[PaperFigure]

    @property
    def at_hand(self) -> list[PaperFigure]:
        """The cells in which something is measured."""
        return [cell for cell in self.cells if cell.measured]

    def count(self, standing: str) -> int:
        """Return how many cells have a standing."""
        return sum(cell.standing == standing for cell in self.cells)


def papers(chosen: str) -> list[str]:
    """Return the paper that is named, or all five.

    Raises
    ------
    UnknownNameError
        If there is no such paper.
    """
    if not chosen:
        return list(PAPERS)
    if chosen not in PAPERS:
        raise UnknownNameError("paper", chosen, PAPERS)
    return [chosen]


def listed(chosen: str) -> Iterator[tuple[str, PaperExhibit]]:
    """Yield the exhibits of a paper, or of all, with the paper's short name."""
    for paper in papers(chosen):
        for exhibit in PAPERS[paper].EXHIBITS:
            yield paper, exhibit


def reproduced(bench: Bench, chosen: str, out: Path, begin: Callable[[str, PaperExhibit], None]) -> Iterator[Shown]:
    """Yield each exhibit of a paper, or of all; those that an earlier call finished are read from the folder.

    An exhibit is computed again where data, weights or the version of this package have changed.

    Parameters
    ----------
    out
        The folder of the results, a JSON file for each exhibit.
    begin
        Called with an exhibit that is about to be computed.
    """
    for paper, exhibit in listed(chosen):
        data = bench.data_hashes(tuple(exhibit.data))
        weights = {name: bench.weights(name) for name in exhibit.models if bench.weights(name)}
        head: dict[str, Any] = {
            "paper": paper,
            "name": exhibit.name,
            "title": exhibit.title,
            "version": __version__,
            "data": data,
            "weights": weights,
        }
        path = out / f"{paper}-{exhibit.name.replace(' ', '-')}.json"
        cells = _finished(path, head)
        if cells is None:
            begin(paper, exhibit)
            cells = list(exhibit.cells(bench))
            content = head | {"cells": [asdict(cell) for cell in cells]}
            write(path, json.dumps(content, ensure_ascii=False, indent=1).encode())
        yield Shown(**head, cells=cells)


def _finished(path: Path, head: dict[str, Any]) -> list[PaperFigure] | None:
    """Return the cells of an exhibit that was finished with the same inputs; None if it was not."""
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        cells = [PaperFigure(**cell) for cell in content.pop("cells")]
    except (ValueError, KeyError, TypeError):
        return None
    return cells if content == head else None


def table(shown: Shown) -> Table:
    """Return the cells in which something is measured as a table; the others are counted below it."""
    rows = []
    for cell in shown.at_hand:
        texts = (cell.row, cell.column, cell.published or "–", cell.measured)
        rows.append((*map(Cell, texts), Cell(cell.standing, remark=cell.note)))
    return Table(f"{shown.paper}, {shown.name}: {shown.title}", HEAD, tuple(rows), _without(shown))


def _without(shown: Shown) -> str:
    """Say how many figures cannot be measured, and why the first of them cannot."""
    without = [cell for cell in shown.cells if not cell.measured]
    if not without:
        return ""
    more = f"{len(without)} of {len(shown.cells)} not measured" if shown.at_hand else "not measured"
    return f"{more}: {without[0].note}"


def summary(shown: Sequence[Shown]) -> str:
    """Return how many figures are reproduced, differ and cannot be had."""
    counts = [f"{sum(one.count(standing) for one in shown)} {standing}" for standing in (REPRODUCED, DIFFERS)]
    missing = sum(one.count(NOT_AVAILABLE) for one in shown)
    elsewhere = sum(cell.standing == NOT_AVAILABLE for one in shown for cell in one.at_hand)
    return f"{', '.join(counts)}, {missing} {NOT_AVAILABLE} ({elsewhere} of them measured on what is at hand)"


def written(shown: Sequence[Shown], form: Form) -> str:
    """Return all exhibits as JSON, CSV, LaTeX or Markdown."""
    if form == "json":
        return json.dumps([asdict(one) for one in shown], ensure_ascii=False, indent=1) + "\n"
    if form == "csv":
        from polars import DataFrame

        lines = [
            {"paper": one.paper, "exhibit": one.name, **asdict(cell), "version": one.version}
            | {"data": _hashes(one.data), "weights": _hashes(one.weights)}
            for one in shown
            for cell in one.cells
        ]
        return DataFrame(lines).write_csv()
    tables = [table(one) for one in shown]
    if form == "latex":
        parts = []
        for one, content in zip(shown, tables, strict=True):
            name = exhibits.file_name(f"{one.paper} {one.name}", set())
            caption = f"{content.title}. {content.note}".strip()
            parts.append(latex.table(name, caption, content))
        return "\n".join(parts)
    sections = []
    for content in tables:
        drawn = [f"### {markdown.escaped(content.title)}"]
        if content.rows:
            drawn.append(markdown.table_lines(content))
        if content.note:
            drawn.append(markdown.escaped(f"{content.note}."))
        sections.append("\n\n".join(drawn))
    return "\n\n".join([*sections, markdown.escaped(f"{summary(shown)}.")]) + "\n"


def _hashes(files: dict[str, str]) -> str:
    return " ".join(f"{name}@{sha[:16]}" for name, sha in files.items())


def needs(exhibit: PaperExhibit) -> str:
    """Return what an exhibit is computed from and how long that takes."""
    places = [f"{name} ({DATA[name].path})" for name in exhibit.data]
    models = list(exhibit.models)
    if len(models) > 4:
        models = [*models[:3], f"and {len(models) - 3} more"]
    parts = [", ".join(places), ", ".join(models)]
    parts.append(f"about {exhibit.minutes} min" if exhibit.minutes else "seconds")
    return "; ".join(part for part in parts if part)
