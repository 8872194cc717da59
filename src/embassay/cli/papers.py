"""What the five papers print, each figure beside the one that is measured here.

Comes in: ``core/data/papers/PAPER.json``, and the data and weights on this machine. Goes out: the figures with their
standing. An exhibit has ``columns``, and ``rows`` with the texts that the paper prints. A cell has the settings of its
exhibit, of its row (``settings`` of the paper) and of its column; the column's override the row's, and those the
exhibit's:

* ``data``: its name in ``data.json``; ``diagnostic``;
* ``metric``, with ``{psi}`` for the ``psi`` of the row; ``part``: the low or high end of its interval; ``of``: the
  label of its encoder;
* ``weights``: a file or folder of the models, called as the row by default, empty if nobody can have them; ``spec``:
  how ``-e`` takes it, with ``{}`` for its path;
* ``factor`` to the unit of the paper; ``digits`` of what is not printed; ``within``: the difference of equal figures;
* ``known``: why figures differ; ``not_comparable``: why they are not compared; ``not_printed``: why there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from embassay.core.errors import InputError
from embassay.core.result import Result
from embassay.core.store.hashes import sha256_of
from embassay.diagnostics.published import published
from embassay.models.neural.locations import BUNDLED_FILES, BUNDLED_MODEL, find_offline
from embassay.reports.tables import Cell, Table
from embassay.run.execute import execute
from embassay.run.outputs.markdown import escaped, table_lines
from embassay.run.plan import prepare
from embassay.run.request import RunRequest

REPRODUCED, DIFFERS, NOT_AVAILABLE = "reproduced", "differs", "not available"
WEIGHTS = {
    BUNDLED_MODEL: BUNDLED_FILES["model.safetensors"],
    "all-mpnet-base-v2": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
}
"""The SHA-256 of the publisher's weights by the papers' name of the model; those of other models are not checked."""
MODEL = "model"
"""The label of the only encoder of a run."""
HEAD = ("row", "column", "published", "here", "standing")
Settings = Mapping[str, Any]


class Figure(NamedTuple):
    """A figure that a paper prints or draws, what is measured here, its standing and the reason of the standing."""

    row: str
    column: str
    published: str
    measured: str
    standing: str
    note: str


def figures(paper: str, exhibit: Settings, data: Path, models: Path) -> Iterator[Figure]:
    """Yield the figures of an exhibit, row by row."""
    settings = published(paper)["settings"]
    for row, texts in exhibit["rows"].items():
        # A row of a drawing has no texts.
        printed = texts or [""] * len(exhibit["columns"])
        for text, (column, of_column) in zip(printed, exhibit["columns"].items(), strict=True):
            cell = {"weights": row, **exhibit, **settings.get(row, {}), **of_column}
            try:
                encoder, corpus = encoder_of(cell, models), corpus_of(cell["data"], data)
            except InputError as error:
                yield Figure(row, column, text, "", NOT_AVAILABLE, str(error))
            else:
                yield Figure(row, column, text, *compared(cell, text, measured(cell, encoder, corpus)))


sha256 = cache(sha256_of)
"""The hash of a file, which many cells ask for."""


def corpus_of(name: str, folder: Path) -> str:
    """Return data of the papers as ``-c`` takes them.

    Raises
    ------
    InputError
        If they are not in the folder, or are another version than the papers'.
    """
    data = published("data")[name]
    path = folder / data["path"]
    for file, known in data["files"].items():
        if not (path / file).exists():
            raise InputError(f"{name} is not available (--data FOLDER with {data['path']}; {data['origin']})")
        if known and not sha256(path / file).startswith(known):
            raise InputError(f"{name}: {path / file} is of another version: its SHA-256 is not {known}…")
    return str(data["spec"].format(path))


def encoder_of(cell: Settings, folder: Path) -> str:
    """Return the spec of the encoder of a cell.

    Raises
    ------
    InputError
        If its weights are not on this machine, or are not those of their name.
    """
    spec, name = cell.get("spec", "{}"), cell["weights"]
    if "{}" not in spec:
        return str(spec)
    if not name:
        raise InputError("the weights cannot be had")
    path = folder / name
    if not path.exists():
        model = find_offline(name, "")
        if model is None:
            raise InputError(f"the weights are not available (--models FOLDER with {name})")
        path = model.folder
    known, weights = WEIGHTS.get(name), path / "model.safetensors"
    if known and not (weights.is_file() and sha256(weights) == known):
        raise InputError(f"{path} does not hold the weights of {name}: their SHA-256 is not {known[:16]}…")
    return str(spec.format(path))


@cache
def result_of(spec: str, corpus: str, diagnostic: str) -> Result:
    """Return the result of a run; several cells share it."""
    request = RunRequest(
        f"{MODEL}={spec}", corpus, [diagnostic], baselines=False, quiet=True, examples=0, cache="default"
    )
    outcome = execute(prepare(request))
    outcome.check()
    return outcome.result


def measured(cell: Settings, encoder: str, corpus: str) -> float | None:
    """Return the value of a cell, or the dimensions of its encoder, in the unit of the paper; None if undefined."""
    result = result_of(encoder, corpus, cell["diagnostic"])
    if cell["metric"] == "dimensions":
        value = result.encoders[0].dim
    else:
        row = result.figure(cell["metric"].replace("{psi}", cell.get("psi", "")), cell.get("of", MODEL))
        value = getattr(row, cell.get("part", "value"))
    return None if value is None else float(value * cell.get("factor", 1))


def compared(cell: Settings, printed: str, value: float | None) -> tuple[str, str, str]:
    """Return a value in the digits of the paper, its standing, and the reason of the standing."""
    if value is None:
        return "", NOT_AVAILABLE, "undefined here"
    digits = len(printed.partition(".")[2]) if printed else cell["digits"]
    text = f"{value:.{digits}f}"
    why_not = cell.get("not_comparable") if printed else cell["not_printed"]
    if why_not:
        return text, NOT_AVAILABLE, why_not
    within = cell.get("within", 0)
    # Sums of decimals are not exact: 98.37 + .25 is not below 98.62.
    if abs(float(text) - float(printed)) <= within + 1e-9:
        return text, REPRODUCED, f"within {within:g}" if within else "equal digits"
    return text, DIFFERS, cell.get("known", "unexplained")


def written(title: str, figures: Sequence[Figure]) -> str:
    """Return an exhibit as Markdown: the figures that are measured; the others are counted below them."""
    rows, reasons = [], []
    for figure in figures:
        if figure.measured:
            texts = (figure.row, figure.column, figure.published or "–", figure.measured)
            rows.append((*map(Cell, texts), Cell(figure.standing, remark=figure.note)))
        else:
            reasons.append(figure.note)
    text = f"### {escaped(title)}\n\n{table_lines(Table('', HEAD, tuple(rows)))}\n\n"
    if reasons:
        text += escaped(f"{len(reasons)} of {len(figures)} not measured: {reasons[0]}.") + "\n\n"
    return text


def summary(figures: Iterable[Figure]) -> str:
    """Return how many figures are reproduced, differ and are not available."""
    counts = Counter(figure.standing for figure in figures)
    return f"{counts[REPRODUCED]} reproduced, {counts[DIFFERS]} differ, {counts[NOT_AVAILABLE]} not available.\n"
