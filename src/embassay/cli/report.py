"""``embassay report``: write a finished run again in one of several formats."""

from __future__ import annotations

from pathlib import Path

from embassay.cli.parameters import FAILED_IN_PART, FINE, Flag, Out
from embassay.core.errors import SpecError, say
from embassay.core.formatting import counted
from embassay.core.plugins import FORMATS


def report(
    run: Path,
    *,
    out: Out | None = None,
    format: str = "html",  # noqa: A002 - an option's name
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
        html or md: the report; latex: its tables for print; csv, parquet: values and items; for other
        tools: see 'embassay list formats'.
    with_vectors
        With parquet: add the vector of each item, where the cache has it.
    """
    from embassay.run.outputs.formats import write_again

    # Names of modules have no dash.
    name = format.replace("-", "_")
    kind = FORMATS.module(name)
    options = {}
    if with_vectors:
        if "with_vectors=False" not in FORMATS.options(name):
            raise SpecError("--with-vectors is for --format parquet")
        options["with_vectors"] = True
    export, place = write_again(run, out, name.replace("_", "-"), kind, **options)
    for note in export.notes:
        say(note)
    holds = getattr(kind, "HOLDS", "")
    what = counted(len(export.contents), holds) if holds else "report"
    say(f"{what}: {place}")
    return FAILED_IN_PART if export.is_partial else FINE
