"""What the five papers print, each figure beside the one that is measured here.

Comes in: ``core/data/papers/PAPER.json``, and the data and weights on this machine. Goes out: a line of texts for each
figure, with its standing. An exhibit has ``columns``, and ``rows`` with the texts that the paper prints. A cell has the
settings of its exhibit, of its row (``settings`` of the paper) and of its column; the column's override the row's, and
those the exhibit's:

* ``data``: its name in ``data.json``, or that of a built-in corpus; ``diagnostic``;
* ``metric``, with ``{psi}`` for the ``psi`` of the row; ``part``: the low or high end of its interval; ``of``: the
  label of its encoder;
* ``weights``: a file or folder of the models, called as the row by default, empty if nobody can have them; ``spec``:
  how ``-e`` takes it, with ``{}`` for its path;
* ``factor`` to the unit of the paper; ``digits`` of what is not printed; ``within``: the difference of equal figures;
* ``known``: why figures differ; ``not_comparable``: why they are not compared; ``not_printed``: why there is none;
* ``measure``: the function below that measures the cell, ``figure`` by default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import correlation
from typing import Any

from embassay.core.errors import InputError
from embassay.core.result import Result
from embassay.core.types import content_hash, sha256_of
from embassay.diagnostics.published import published
from embassay.models.neural.locations import BUNDLED_FILES, BUNDLED_MODEL, find_offline
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus
from embassay.run.runs.folder import RunFolder

REPRODUCED, DIFFERS, NOT_AVAILABLE = "reproduced", "differs", "not available"
WEIGHTS = {
    BUNDLED_MODEL: BUNDLED_FILES["model.safetensors"],
    "all-mpnet-base-v2": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
}
"""The SHA-256 of the publisher's weights by the papers' name of the model; those of other models are not checked."""
MODEL = "model"
"""The label of the only encoder of a run."""
Settings = Mapping[str, Any]
Value = float | str | None
"""A measured value, in the unit of the paper; None if it is undefined."""
Line = dict[str, str]
"""A figure: paper, exhibit, title, row, column, published, measured, standing, note."""


sha256 = cache(sha256_of)
"""The hash of a file, which many cells ask for."""


class MissingError(InputError):
    """Data or weights are not on this machine; the message says where they are looked for."""


@dataclass(frozen=True)
class Bench:
    """Data and weights on this machine, and the folder of the scores, which a later call reads again."""

    data: Path
    models: Path
    out: Path

    def corpus(self, name: str) -> str:
        """Return data as ``-c`` takes them; the name of a built-in corpus as it is.

        Raises
        ------
        MissingError
            If they are not in the folder, or are another version than the papers'.
        """
        data = published("data").get(name)
        if data is None:
            return name
        path = self.data / data["path"]
        for file, known in data["files"].items():
            if not (path / file).exists():
                raise MissingError(f"{name} is not available (--data FOLDER with {data['path']}; {data['origin']})")
            if known and not sha256(path / file).startswith(known):
                raise MissingError(f"{name}: {path / file} is of another version: its SHA-256 is not {known}…")
        return str(data["spec"].format(path))

    def encoder(self, cell: Settings) -> str:
        """Return the spec of the encoder of a cell.

        Raises
        ------
        MissingError
            If its weights are not on this machine, or are not those that their name says.
        """
        spec, name = cell.get("spec", "{}"), cell.get("weights", cell["row"])
        if "{}" not in spec:
            return str(spec)
        if not name:
            raise MissingError("the weights cannot be had")
        path = self.models / name
        if not path.exists():
            model = find_offline(name, "")
            if model is None:
                raise MissingError(f"the weights are not available (--models FOLDER with {name})")
            path = model.folder
        known, weights = WEIGHTS.get(name), path / "model.safetensors"
        if known and not (weights.is_file() and sha256(weights) == known):
            raise MissingError(f"{path} does not hold the weights of {name}: their SHA-256 is not {known[:16]}…")
        return str(spec.format(path))


@cache
def result_of(spec: str, corpus: str, diagnostic: str, out: Path) -> Result:
    """Return the result of a run, whose scores are kept in a folder of their own; several cells share it."""
    encoder = f"{MODEL}={spec}"
    request = RunRequest(encoder, corpus, [diagnostic], baselines=False, quiet=True, examples=0, cache="default")
    outcome = execute(prepare(request), RunFolder(out / content_hash([encoder, corpus, diagnostic])))
    outcome.check()
    return outcome.result


def cells(paper: str, exhibit: Settings) -> Iterator[Settings]:
    """Yield the cells of an exhibit, row by row."""
    settings = published(paper)["settings"]
    for row, texts in exhibit["rows"].items():
        # A row of a drawing has no texts; one that lacks a column has None there.
        printed = texts or [""] * len(exhibit["columns"])
        for text, (column, of_column) in zip(printed, exhibit["columns"].items(), strict=True):
            if text is not None:
                place = {"paper": paper, "row": row, "column": column, "published": text}
                yield {**exhibit, **settings.get(row, {}), **of_column, **place}


def figures(paper: str, exhibit: Settings, bench: Bench) -> Iterator[Line]:
    """Yield the figures of an exhibit."""
    for cell in cells(paper, exhibit):
        try:
            measured, standing, note = compared(cell, MEASURES[cell.get("measure", "figure")](cell, bench))
        except MissingError as error:
            measured, standing, note = "", NOT_AVAILABLE, str(error)
        of_paper = {name: cell[name] for name in ("paper", "exhibit", "title", "row", "column", "published")}
        yield of_paper | {"measured": measured, "standing": standing, "note": note}


def compared(cell: Settings, value: Value) -> tuple[str, str, str]:
    """Return a value in the digits of the paper, its standing, and the reason of the standing."""
    printed = cell["published"]
    digits = len(printed.partition(".")[2]) if printed else cell.get("digits", 0)
    measured = f"{value:.{digits}f}" if isinstance(value, float) else value or ""
    why_not = cell.get("not_comparable") if printed else cell["not_printed"]
    if why_not or not measured:
        return measured, NOT_AVAILABLE, why_not or "undefined here"
    within = cell.get("within", 0)
    # Sums of decimals are not exact: 98.37 + .25 is not below 98.62.
    if measured == printed or abs(float(measured) - float(printed)) <= within + 1e-9:
        return measured, REPRODUCED, cell.get("agrees", f"within {within:g}" if within else "equal digits")
    return measured, DIFFERS, cell.get("known", "unexplained")


# --- how a cell is measured -----------------------------------------------------------------------------------


def figure(cell: Settings, bench: Bench) -> Value:
    """Return a figure of a run, or the number of dimensions of its encoder."""
    result = result_of(bench.encoder(cell), bench.corpus(cell["data"]), cell["diagnostic"], bench.out)
    if cell["metric"] == "dimensions":
        return str(result.encoders[0].dim)
    row = result.figure(cell["metric"].replace("{psi}", cell.get("psi", "")), cell.get("of", MODEL))
    value = getattr(row, cell.get("part", "value"))
    return None if value is None else float(value * cell.get("factor", 1))


def pearson(cell: Settings, bench: Bench) -> Value:
    """Return the correlation over models of two columns, by their places, that the table of a row prints."""
    (table,) = (each for each in published(cell["paper"])["exhibits"] if each["exhibit"] == cell["row"])
    rows = [[float(texts[place]) for place in cell["places"]] for texts in table["rows"].values()]
    return correlation(*zip(*rows, strict=True))


def entry(cell: Settings, bench: Bench) -> Value:
    """Return the printed answer to an input if an entry of the input has it as the right option."""
    entries = load_corpus(bench.corpus(cell["data"])).samples
    is_there = any((each.input, each.paraphrase) == (cell["row"], cell["published"]) for each in entries)
    return cell["published"] if is_there else None


def count(cell: Settings, bench: Bench) -> Value:
    """Return a number of a corpus: of its audit, of inputs with a word, or of adjectives."""
    corpus = load_corpus(bench.corpus(cell["data"]))
    if "audit" in cell:
        number = getattr(corpus.audit(), cell["audit"])
    elif "word" in cell:
        number = sum(cell["word"] in re.findall(r"\w+", sample.input.lower()) for sample in corpus.samples)
    else:
        number = len({word for sample in corpus.samples for word in sample.pair.split("–")})
    return str(number)


MEASURES: Mapping[str, Callable[[Settings, Bench], Value]] = {
    measure.__name__: measure for measure in (figure, pearson, entry, count)
}
