"""What ``embassay report`` writes from the folder of a finished run.

Every function takes the run's folder (or the ``result.json`` in it) and where to write: a file for ``html`` and ``md``,
a folder for all other formats. Everything is made before the first file is written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from embassay.errors import EmbassayError, OutputError, SourceError, reason_of
from embassay.layout import Layout
from embassay.result import Result
from embassay.run.item_files import without_items, write_items
from embassay.run.items import Items, items_in
from embassay.run.pages import layouts
from embassay.run.paper import Style, write_files
from embassay.run.record import latencies, measured_times, trust
from embassay.store import results
from embassay.store.canonical import write, write_with
from embassay.store.files import default_folder
from embassay.store.paths import output_path, source_path
from embassay.store.run_record import RunRecord
from embassay.store.runs import RunFolder

LOG = logging.getLogger(__name__)
MakeContents = Callable[[Result, RunRecord], tuple[Mapping[str, bytes], Sequence[str]]]
"""Takes the result and the record of a run; returns the contents of the files to write by their names, and notes."""


@dataclass(frozen=True)
class FinishedRun:
    """The folder of a run, and what it holds."""

    folder: RunFolder
    result: Result
    record: RunRecord


@dataclass(frozen=True)
class Written:
    """What an export has written.

    Attributes
    ----------
    path
        The file, or the folder of the files.
    count
        How many files, tables or figures there are.
    notes
        What was left out, and what a reader of the files must know.
    is_partial
        Whether an encoder is missing because its figures could not be made.
    """

    path: Path
    count: int = 1
    notes: tuple[str, ...] = ()
    is_partial: bool = False


def finished_run(run: Path) -> FinishedRun:
    """Read a run that has finished.

    Raises
    ------
    SourceError
        If the folder holds no run, the run did not finish, nothing was scored in it, or its result cannot be read.
    """
    run = source_path(run)
    if run.is_dir():
        path = run
        result_file = run / "result.json"
        if not result_file.exists() and not (run / "run.json").exists():
            raise SourceError("not a run folder: it has neither run.json nor result.json", run)
    elif run.is_file():
        path = run.parent
        result_file = run
    else:
        # Reading it says that there is no such file.
        path = result_file = run
    folder = RunFolder(path)
    record = folder.record()
    if record.get("state") == "running":
        raise SourceError("this run did not finish; repeat the command to continue it", run)
    result = results.read(result_file)
    if not result.rows:
        reasons = ["nothing was scored in this run"]
        reasons += [f"failed: {failure.sentence}" for failure in result.failed]
        raise SourceError("; ".join(reasons), run)
    return FinishedRun(folder, result, record)


def draw(path: Path, result: Result, pages: Mapping[str, Layout], record: RunRecord) -> None:
    """Write the page of a result."""
    from embassay.reports.page import render

    page = render(result, pages, measured_times(record), trust(record), record.get("notes", ()), latencies(record))
    write(path, page.encode("utf-8", "replace"))


@contextmanager
def drawn_from(run: Path) -> Iterator[None]:
    """Turn an unexpected error into one message: in an edited result, parts that belong together may not fit."""
    try:
        yield
    except (EmbassayError, OSError):
        raise
    except Exception as error:
        LOG.debug("a result cannot be drawn", exc_info=True)
        reason = f"cannot be drawn ({reason_of(error)}); if its files were edited, repeat the run's command"
        raise SourceError(reason, run) from None


def write_page(run: Path, out: Path | None = None) -> Written:
    """Write the HTML report of a run again; by default ``report.html`` in its folder."""
    chosen = output_path(out) if out else None
    finished = finished_run(run)
    path = chosen or finished.folder.report
    _check_file(path, "html")
    with drawn_from(run):
        draw(path, finished.result, layouts(finished.result), finished.record)
    return Written(path)


def write_markdown(run: Path, out: Path | None = None) -> Written:
    """Write the report of a run as Markdown; by default ``report.md`` in its folder.

    Raises
    ------
    OutputError
        If the file exists and is not such a report.
    """
    from embassay.reports.markdown import MARKER, render

    chosen = output_path(out) if out else None
    finished = finished_run(run)
    path = chosen or finished.folder.path / "report.md"
    _check_file(path, "md")
    # Another Markdown file, such as a README.md, must not be lost.
    if path.exists() and not _starts_with(path, MARKER.encode()):
        raise OutputError(f"{path}: exists and is not a report of Embassay; name another file with -o")
    record = finished.record
    with drawn_from(run):
        pages = layouts(finished.result)
        text = render(finished.result, pages, measured_times(record), record.get("notes", ()), latencies(record))
    write(path, text.encode("utf-8", "replace"))
    return Written(path)


def write_for_paper(run: Path, style: Style, out: Path | None = None) -> Written:
    """Write the tables (``latex``) or figures (``svg``, ``pdf``) of a run; ``count`` is how many there are.

    Raises
    ------
    MissingExtraError
        For figures, if the extra ``charts`` is not installed.
    """
    finished, folder = _run_and_folder(run, out, style)
    return Written(folder, write_files(finished.result, layouts(finished.result), style, folder))


def write_csv(run: Path, out: Path | None = None) -> Written:
    """Write the records of a run's result as CSV files."""
    from embassay.reports.spreadsheet import files

    finished, folder = _run_and_folder(run, out, "csv")
    contents = files(finished.result)
    for name, content in contents.items():
        write(folder / name, content)
    return Written(folder, len(contents))


def write_model_cards(run: Path, out: Path | None = None) -> Written:
    """Write a model card for each candidate of a run.

    Raises
    ------
    OutputError
        If no candidate has a figure that a model card can hold.
    """
    from embassay.reports.exhibits import FileNames
    from embassay.reports.model_card import cards

    finished, folder = _run_and_folder(run, out, "model-card")
    result = finished.result
    texts = cards(result, layouts(result))
    builtin = [corpus.name for corpus in result.corpora if corpus.builtin]
    if not texts:
        reason = "no candidate has a headline figure"
        if builtin and len(builtin) == len(result.corpora):
            reason = "this run has built-in corpora only, which are for trying things out; assay your own with -c"
        raise OutputError(f"no model card can be written: {reason}")
    names = FileNames()
    for encoder, text in texts.items():
        write(folder / f"{names.name(encoder)}.md", text.encode("utf-8", "replace"))
    notes = []
    if builtin:
        notes.append(f"left out: figures on built-in corpora, which are for trying things out ({', '.join(builtin)})")
    unranked = [verdict.diagnostic for verdict in result.verdicts if not verdict.quantity]
    if unranked:
        notes.append(f"left out: diagnostics that do not rank encoders ({', '.join(dict.fromkeys(unranked))})")
    return Written(folder, len(texts), tuple(notes))


def write_trec(run: Path, out: Path | None = None) -> Written:
    """Write the right documents and the rankings of a run's retrieval in the format of TREC.

    Raises
    ------
    OutputError
        If the run has no retrieval, or no encoder's vectors can be had.
    SourceError
        If a corpus of the run cannot be read again.
    """
    from embassay.reports.exhibits import FileNames
    from embassay.run.trec import make_rankings, qrels

    finished, folder = _run_and_folder(run, out, "trec")
    similarities = {}
    for encoder in finished.result.encoders:
        similarities[encoder.name] = encoder.similarity
    made = make_rankings(_items(finished), similarities, default_folder())

    # Labels may have characters that file names cannot have.
    corpora = {ranking.corpus.name: ranking.corpus for ranking in made.rankings}
    encoders = dict.fromkeys(ranking.encoder for ranking in made.rankings)
    corpus_names = FileNames()
    encoder_names = FileNames()
    file_name_of_corpus = {name: corpus_names.name(name) for name in corpora}
    file_name_of_encoder = {label: encoder_names.name(label) for label in encoders}

    for name, corpus in corpora.items():
        write(folder / f"{file_name_of_corpus[name]}.qrels", qrels(corpus))
    for ranking in made.rankings:
        corpus_part = file_name_of_corpus[ranking.corpus.name]
        encoder_part = file_name_of_encoder[ranking.encoder]
        write_with(folder / f"{corpus_part}.{encoder_part}.run", ranking.write)
    left_out = [f"left out: {reason}" for reason in made.left_out]
    notes = (*made.notes, *left_out)
    return Written(folder, len(corpora) + len(made.rankings), notes, is_partial=bool(left_out))


def write_items_again(run: Path, out: Path | None = None, *, with_vectors: bool = False) -> Written:
    """Write the single items of a run as Parquet files.

    Parameters
    ----------
    with_vectors
        Whether the vectors in the user's cache are added.

    Raises
    ------
    OutputError
        If no diagnostic of the run shows single items.
    SourceError
        If a corpus of the run cannot be read again.
    """
    finished, folder = _run_and_folder(run, out, "parquet")
    items = _items(finished)
    files = write_items(items, folder, default_folder() if with_vectors else None)
    others = without_items(items)
    if not others:
        return Written(folder, len(files))
    note = f"left out: diagnostics that show no single items ({', '.join(others)})"
    return Written(folder, len(files), (note,))


def write_contents(run: Path, out: Path | None, style: str, make: MakeContents) -> Written:
    """Write the files of an export that is defined in another package.

    Parameters
    ----------
    style
        The name of the format, and of the default folder.
    make
        Returns the contents of the files by their paths in the folder, and notes.
    """
    finished, folder = _run_and_folder(run, out, style)
    contents, notes = make(finished.result, finished.record)
    for name, content in contents.items():
        write(folder / name, content)
    return Written(folder, len(contents), tuple(notes))


def _run_and_folder(run: Path, out: Path | None, style: str) -> tuple[FinishedRun, Path]:
    """Return the run, and the folder to write: by default a folder in that of the run, named after the format."""
    # A path that cannot be written is refused before the run is read.
    chosen = output_path(out) if out else None
    finished = finished_run(run)
    folder = chosen or finished.folder.path / style
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; --format {style} writes a folder, name another one with -o")
    return finished, folder


def _items(finished: FinishedRun) -> Items:
    """Return the single items of a run.

    Raises
    ------
    SourceError
        If its folder has no scores that this version can read, or a corpus cannot be read again.
    """
    items = items_in(finished.folder)
    if not items.tasks:
        place = finished.folder.path / "scores"
        raise SourceError("no scores of this version of Embassay are here; repeat the run's command", place)
    return items


def _starts_with(path: Path, beginning: bytes) -> bool:
    """Return whether a regular file starts with these bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(beginning)) == beginning


def _check_file(path: Path, style: str) -> None:
    """Raise OutputError if the path of a file that is to be written is that of a folder."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; --format {style} writes a file, name one with -o")
