"""What a repository commits as a baseline: the item values of a run's candidates and the main rows of its result.

A baseline is a run's folder without scores, report, texts, baselines that joined by themselves, names of folders and
times, except the day of the run, so that the same run gives the same bytes on every machine.
:func:`~embassay.comparison.runs.read_run` reads it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from embassay._version import __version__
from embassay.comparison.gate import (
    ANCHOR,
    Pages,
    check,
    default_margins,
    headlines_of,
    sampled_corpora,
)
from embassay.comparison.gate_words import shown_by_baseline
from embassay.comparison.runs import StoredRun, read_run
from embassay.core.columns import FILE as VALUES
from embassay.core.columns import write_columns
from embassay.core.errors import OutputError, SourceError
from embassay.core.formatting import counted
from embassay.core.result import Result, Row
from embassay.core.store.canonical import names_in
from embassay.core.store.paths import output_path
from embassay.run.runs.folder import RECORD, GateRecord, RunFolder

FEW = 20
"""With fewer items the loss that a test set can rule out is too large to be anybody's margin."""
FILES = (RECORD, "result.json", VALUES)
FOLDERS_OF_PATH = re.compile(
    r"(?<![\w/.])"  # no relative path and no URL
    r"(?:~/|[A-Za-z]:\\|/(?!/)|\\\\)"  # the start of an absolute path, also on Windows
    r"(?:[^,;\s\"']*[/\\])?"  # its folders
    r"(?=[^,;\s\"'/\\])"  # its last name, which is not part of the match
)
"""An absolute path without its last name; ``,`` and ``;`` end a path, because they separate the options of a spec."""


def bless(
    run: str | Path,
    out: str | Path,
    *,
    new_anchor: bool = False,
    margins: Mapping[str, float] | None = None,
    pages: Pages = "given",
) -> Path:
    """Write a finished run as a baseline, and return its folder.

    Only the encoders that the user named are kept.

    Parameters
    ----------
    run
        The run's folder.
    out
        Folder to write. A baseline in it is replaced; other files beside that baseline stay.
    new_anchor
        Whether the anchor goes. Otherwise the first baseline stays in the folder ``anchor``, and a check compares with
        it, too.
    margins
        By the name of a metric, the smallest loss that matters. By default that of a headline is the loss that the
        test set can rule out if it is a share, else the one that it declares.
    pages
        Whether the documents are all there are (``given``), or a sample of many more (``sampled``).

    Raises
    ------
    SourceError
        If the run did not finish or failed in part, or has no candidate.
    OutputError
        If the folder has files but no baseline, or cannot be written.
    InputError
        If a headline has too few items for a margin of its own, or a margin cannot be used.
    """
    stored, folder = read_run(run), output_path(out)
    if stored.result.failed or not stored.candidates:
        reasons = [failure.sentence for failure in stored.result.failed] or ["it has no encoder that the user named"]
        raise SourceError(
            f"a baseline needs a complete run; this one failed in part ({'; '.join(reasons)})", stored.path
        )
    if names_in(folder) and not RunFolder(folder).record().get("gate"):
        raise OutputError(f"{folder}: is not empty and not a baseline; choose another folder with -o")
    gate = _gate(stored, margins or {}, pages)
    anchor = folder / ANCHOR
    try:
        if new_anchor and anchor.is_dir():
            shutil.rmtree(anchor)
        elif (folder / RECORD).is_file() and not anchor.is_dir():
            # The baseline in the folder is the first one.
            anchor.mkdir()
            for name in FILES:
                shutil.copy2(folder / name, anchor / name)
        folder.mkdir(parents=True, exist_ok=True)
        files = RunFolder(folder)
        files.write_result(_main_result(stored))
        write_columns(folder, [column for column in stored.columns if column.is_candidate])
        day, _, _ = stored.record.get("time", "").partition("T")
        files.write_record({"state": "finished", "embassay": __version__, "time": day, "gate": gate})
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror}") from None
    return folder


def what_a_baseline_shows(folder: Path) -> Iterator[str]:
    """Yield which loss a check can rule out for each headline, and which margins of the user are out of reach.

    Parameters
    ----------
    folder
        That of the baseline.
    """
    run = read_run(folder)
    gate = run.record["gate"]
    sampled, margins = sampled_corpora(run, gate["pages"]), default_margins(run, gate["pages"])
    for column in headlines_of(run):
        yield shown_by_baseline(column, margins[column.task], sampled=column.key.corpus in sampled)
    if gate["margins"]:
        yield from check(folder, folder).notes


def _gate(run: StoredRun, margins: Mapping[str, float], pages: Pages) -> GateRecord:
    """Return what a baseline fixes for its checks.

    Raises
    ------
    InputError
        If a headline has too few items for a margin of its own, or a margin cannot be used.
    """
    if margins:
        # A check of the run against itself refuses what no check could use.
        check(run.path, run.path, margins=margins, pages=pages)
    for column in headlines_of(run):
        key, items = column.key, column.defined
        if items < FEW and not margins:
            raise SourceError(
                f"{key.short} on {key.corpus} has {counted(items, 'item')}, under {FEW}: say what you can "
                f"afford to lose, for example --margin {key.short}=0.3 for 30 points",
                run.path,
            )
    return {"pages": pages, "margins": dict(margins)}


def _main_result(run: StoredRun) -> Result:
    """Return the encoders, corpora and main rows of a result, for the candidates only; no verdict."""
    result, labels = run.result, run.candidates
    encoders = [replace(one, spec=without_folders(one.spec)) for one in result.encoders if one.name in labels]
    corpora = [replace(corpus, source=without_folders(corpus.source)) for corpus in result.corpora]
    rows, tasks = list[Row](), set[tuple[str, ...]]()
    for row in result.rows:
        task = (row.encoder, row.diagnostic, row.corpus)
        # Of each encoder in a task at least one row is kept: a run that lacks it is refused.
        if row.encoder in labels and (row.subset == "all" or task not in tasks):
            rows.append(row)
        tasks.add(task)
    return Result(result.seed, result.resamples, encoders=tuple(encoders), corpora=tuple(corpora), rows=tuple(rows))


def without_folders(text: str) -> str:
    """Return a spec or source with only the last name of each absolute path: ``st:/home/me/model`` → ``st:model``."""
    return FOLDERS_OF_PATH.sub("", text)
