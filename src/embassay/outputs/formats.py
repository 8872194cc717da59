"""What ``embassay report`` writes from the folder of a finished run.

``html`` and ``md`` are a file; all other formats are a folder of files. Everything is made before the first file is
written.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from embassay.errors import EmbassayError, MissingExtraError, OutputError, SourceError, reason_of
from embassay.outputs.citations import citations_of, references
from embassay.outputs.items import without_items, write_items
from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun, draw, finished_run
from embassay.run.items import Items, items_in
from embassay.run.progress import Bar
from embassay.run.record import latencies, measured_times
from embassay.store.canonical import write, write_with
from embassay.store.files import default_folder
from embassay.store.paths import output_path

LOG = logging.getLogger(__name__)
Content = bytes | Callable[[BinaryIO], object]
"""The content of a file, or what writes it."""


@dataclass(frozen=True)
class Export:
    """The files of an export, before they are written.

    Attributes
    ----------
    contents
        By the name of the file.
    count
        How many tables or figures there are; 0 where the files are counted.
    notes
        What was left out, and what a reader of the files must know.
    is_partial
        Whether an encoder is missing because its figures could not be made.
    """

    contents: Mapping[str, Content]
    count: int = 0
    notes: Sequence[str] = ()
    is_partial: bool = False


@dataclass(frozen=True)
class Written:
    """The file, or the folder of files, that an export has written; ``count`` and so on as in ``Export``."""

    path: Path
    count: int = 1
    notes: Sequence[str] = ()
    is_partial: bool = False


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
    finished, path = _run_and_path(run, out, "html", "report.html", is_folder=False)
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
    from embassay.outputs.markdown import MARKER, render

    finished, path = _run_and_path(run, out, "md", "report.md", is_folder=False)
    # Another Markdown file, such as a README.md, must not be lost.
    if path.exists() and not path.read_bytes().startswith(MARKER.encode()):
        raise OutputError(f"{path}: exists and is not a report of Embassay; name another file with -o")
    record = finished.record
    with drawn_from(run):
        pages = layouts(finished.result)
        text = render(finished.result, pages, measured_times(record), record.get("notes", ()), latencies(record))
    write(path, text.encode("utf-8", "replace"))
    return Written(path)


def latex(finished: FinishedRun) -> Export:
    """Make the tables of a run: a file for each, a document that shows all, and the references."""
    from embassay.outputs import latex
    from embassay.outputs.exhibits import exhibits, tables_of

    result = finished.result
    citations = citations_of(result)
    tables = exhibits(result, layouts(result), citations, tables_of)
    texts = {f"{table.name}.tex": latex.table(table) for table in tables}
    texts["all.tex"] = latex.document([table.name for table in tables])
    texts["references.bib"] = references(result, citations)
    return Export(_encoded(texts), len(tables))


def figures(finished: FinishedRun, style: Literal["svg", "pdf"]) -> Export:
    """Draw the figures of a run: a file for each, and their captions; for PDF as LaTeX.

    Raises
    ------
    MissingExtraError
        If the extra ``charts`` is not installed.
    OutputError
        If the run has no figure.
    """
    if importlib.util.find_spec("vl_convert") is None:
        raise MissingExtraError(f"--format {style}", "charts")
    import vl_convert

    from embassay.outputs import latex
    from embassay.outputs.exhibits import exhibits, figures_of, print_spec

    result = finished.result
    citations = citations_of(result)
    drawn = exhibits(result, layouts(result), citations, figures_of)
    if not drawn:
        raise OutputError("this run has no figures to draw; its tables are written by --format latex")
    contents = dict[str, Content]()
    with Bar().counting("figures", len(drawn)) as advance:
        for figure in drawn:
            spec = print_spec(figure.content)
            if style == "pdf":
                drawing = vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[])
            else:
                drawing = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]).encode("utf-8")
            contents[f"{figure.name}.{style}"] = drawing
            advance(1)
    if style == "pdf":
        texts = {
            "figures.tex": "\n".join(map(latex.figure, drawn)),
            "all.tex": latex.document(["figures"]),
            "references.bib": references(result, citations),
        }
    else:
        captions = [f"{figure.name}.svg\n    {figure.caption}\n" for figure in drawn]
        texts = {"captions.txt": "\n".join(captions)}
    return Export({**contents, **_encoded(texts)}, len(drawn))


def csv(finished: FinishedRun) -> Export:
    """Make the CSV files of the records of a run's result."""
    from embassay.outputs.spreadsheet import files

    return Export(files(finished.result))


def model_cards(finished: FinishedRun) -> Export:
    """Make a model card for each candidate of a run.

    Raises
    ------
    OutputError
        If no candidate has a figure that a model card can hold.
    """
    from embassay.outputs.exhibits import file_name
    from embassay.outputs.model_card import cards

    result = finished.result
    texts = cards(result, layouts(result))
    builtin = [corpus.name for corpus in result.corpora if corpus.builtin]
    if not texts:
        reason = "no candidate has a headline figure"
        if builtin and len(builtin) == len(result.corpora):
            reason = "this run has built-in corpora only, which are for trying things out; assay your own with -c"
        raise OutputError(f"no model card can be written: {reason}")
    notes = []
    if builtin:
        notes.append(f"left out: figures on built-in corpora, which are for trying things out ({', '.join(builtin)})")
    unranked = [verdict.diagnostic for verdict in result.verdicts if not verdict.metric]
    if unranked:
        notes.append(f"left out: diagnostics that do not rank encoders ({', '.join(dict.fromkeys(unranked))})")
    taken = set[str]()
    return Export(_encoded({f"{file_name([label], taken)}.md": text for label, text in texts.items()}), notes=notes)


def trec(finished: FinishedRun) -> Export:
    """Make the right documents and the rankings of a run's retrieval in the format of TREC.

    Raises
    ------
    OutputError
        If the run has no retrieval, or no encoder's vectors can be had.
    SourceError
        If a corpus of the run cannot be read again.
    """
    from embassay.outputs.exhibits import file_name
    from embassay.outputs.trec import make_rankings, qrels

    similarities = {encoder.name: encoder.similarity for encoder in finished.result.encoders}
    rankings, notes, left_out = make_rankings(_items(finished), similarities, default_folder())
    contents = dict[str, Content]()
    # Labels may have characters that file names cannot have.
    corpus_names, encoder_names = set[str](), set[str]()
    corpus_file = {}
    encoder_file = {}
    for ranking in rankings:
        corpus = ranking.corpus
        if corpus.name not in corpus_file:
            corpus_file[corpus.name] = file_name([corpus.name], corpus_names)
            contents[f"{corpus_file[corpus.name]}.qrels"] = qrels(corpus)
        if ranking.encoder not in encoder_file:
            encoder_file[ranking.encoder] = file_name([ranking.encoder], encoder_names)
        contents[f"{corpus_file[corpus.name]}.{encoder_file[ranking.encoder]}.run"] = ranking.write
    notes += [f"left out: {reason}" for reason in left_out]
    return Export(contents, notes=notes, is_partial=bool(left_out))


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
    finished, folder = _run_and_path(run, out, "parquet", "parquet", is_folder=True)
    items = _items(finished)
    files = write_items(items, folder, default_folder() if with_vectors else None)
    others = without_items(items)
    if not others:
        return Written(folder, len(files))
    note = f"left out: diagnostics that show no single items ({', '.join(others)})"
    return Written(folder, len(files), (note,))


def write_folder(run: Path, out: Path | None, style: str, make: Callable[[FinishedRun], Export]) -> Written:
    """Write the files of an export, after all of them are made.

    Parameters
    ----------
    style
        The name of the format, and of the default folder.
    make
        One of the functions above, or that of another package.
    """
    finished, folder = _run_and_path(run, out, style, style, is_folder=True)
    with drawn_from(run):
        export = make(finished)
    for name, content in export.contents.items():
        if callable(content):
            write_with(folder / name, content)
        else:
            write(folder / name, content)
    return Written(folder, export.count or len(export.contents), export.notes, export.is_partial)


def _run_and_path(run: Path, out: Path | None, style: str, name: str, *, is_folder: bool) -> tuple[FinishedRun, Path]:
    """Return the run, and the file or folder to write: by default one of this name in the folder of the run."""
    # A path that cannot be written is refused before the run is read.
    chosen = output_path(out) if out else None
    finished = finished_run(run)
    path = chosen or finished.folder.path / name
    if is_folder and path.exists() and not path.is_dir():
        raise OutputError(f"{path}: is a file; --format {style} writes a folder, name another one with -o")
    if path.is_dir() and not is_folder:
        raise OutputError(f"{path}: is a folder; --format {style} writes a file, name one with -o")
    return finished, path


def _encoded(texts: Mapping[str, str]) -> dict[str, Content]:
    """Return the contents of text files by name."""
    # A lone surrogate, which a label may contain, cannot be encoded.
    return {name: text.encode("utf-8", "replace") for name, text in texts.items()}


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
