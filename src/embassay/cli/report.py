"""``embassay report``: write a finished run again in one of several formats."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from embassay.cli.parameters import FAILED_IN_PART, FINE, Flag, Out
from embassay.errors import SpecError, say
from embassay.formatting import counted

if TYPE_CHECKING:
    from embassay.outputs.formats import Written

Format = Literal["html", "md", "latex", "svg", "pdf", "csv", "parquet", "model-card", "mteb", "trec"]
COUNTED: dict[str, str] = {
    "latex": "table",
    "svg": "figure",
    "pdf": "figure",
    "csv": "file",
    "parquet": "file",
    "model-card": "model card",
    "mteb": "file",
    "trec": "file",
}
"""What a folder of each format holds."""


def report(
    run: Path,
    *,
    out: Out | None = None,
    format: Format = "html",  # noqa: A002 - an option's name
    with_vectors: Flag = False,
) -> int:
    """Write the report of a run again, or what it measured in the format of another tool.

    Parameters
    ----------
    run
        The run's folder.
    out
        File to write for html and md, folder for the other formats; in the run's folder by default.
    format
        html or md: the report; latex: its tables; svg or pdf: its figures for print (extra charts); csv: all figures;
        parquet: what each encoder made of each item; model-card: each encoder's figures for its README.md; mteb: task
        results (extra mteb); trec: qrels and run files of retrieval.
    with_vectors
        With parquet: add the vector of each item, where the cache has it.
    """
    if with_vectors and format != "parquet":
        raise SpecError("--with-vectors is for --format parquet")
    written = _write(run, out, format, with_vectors)
    for note in written.notes:
        say(note)
    what = "report"
    if format in COUNTED:
        what = counted(written.count, COUNTED[format])
    say(f"{what}: {written.path}")
    if written.is_partial:
        return FAILED_IN_PART
    return FINE


def _write(run: Path, out: Path | None, style: Format, with_vectors: bool) -> Written:
    """Write a run in a format; return where, and how many tables, figures or files there are."""
    from embassay.outputs import formats as exports

    match style:
        case "html":
            return exports.write_page(run, out)
        case "md":
            return exports.write_markdown(run, out)
        case "parquet":
            return exports.write_items_again(run, out, with_vectors=with_vectors)
        case "latex":
            make = exports.latex
        case "svg" | "pdf":
            make = partial(exports.figures, style=style)
        case "csv":
            make = exports.csv
        case "model-card":
            make = exports.model_cards
        case "trec":
            make = exports.trec
        case "mteb":
            from embassay.outputs.mteb_results import task_results

            make = task_results
    return exports.write_folder(run, out, style, make)
