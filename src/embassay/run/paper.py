"""The tables and figures of a result as files for a paper: LaTeX, SVG or PDF."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from embassay.errors import MissingExtraError, OutputError
from embassay.layout import Layout
from embassay.result import Result
from embassay.run.citations import citations_of, references
from embassay.run.progress import Bar
from embassay.store.canonical import write

Style = Literal["latex", "svg", "pdf"]
"""Tables for LaTeX; figures for word processors and web pages; figures for LaTeX and printers."""


def write_files(result: Result, layouts: Mapping[str, Layout], style: Style, folder: Path) -> int:
    """Write the tables or the figures of a result into a folder, and return how many there are.

    Everything is made before the first file is written. Files of other names in the folder stay.

    Parameters
    ----------
    layouts
        The layout of each diagnostic in the result.

    Raises
    ------
    MissingExtraError
        For figures, if the extra ``charts`` is not installed.
    OutputError
        If the folder cannot be written to, or if the result has no figure.
    """
    citations = citations_of(result)
    if style == "latex":
        files, count = _tables(result, layouts, citations)
    else:
        files, count = _figures(result, layouts, citations, style)
    for name, content in files.items():
        write(folder / name, content)
    return count


def _tables(
    result: Result, layouts: Mapping[str, Layout], citations: Mapping[str, str]
) -> tuple[dict[str, bytes], int]:
    """Return the files by name and the number of tables: a file for each, a document that shows all, the references."""
    from embassay.reports import latex
    from embassay.reports.exhibits import printed_tables

    tables = list(printed_tables(result, layouts, citations))
    texts = {f"{table.name}.tex": latex.table(table) for table in tables}
    texts["all.tex"] = latex.document([table.name for table in tables])
    texts["references.bib"] = references(result, citations)
    return _encoded(texts), len(tables)


def _figures(
    result: Result, layouts: Mapping[str, Layout], citations: Mapping[str, str], style: Style
) -> tuple[dict[str, bytes], int]:
    """Return the files by name and the number of figures: a file for each, and their captions; for PDF as LaTeX."""
    if importlib.util.find_spec("vl_convert") is None:
        raise MissingExtraError(f"--format {style}", "charts")
    from embassay.reports import latex, printing
    from embassay.reports.exhibits import plain_caption, printed_figures

    figures = list(printed_figures(result, layouts, citations))
    if not figures:
        raise OutputError("this run has no figures to draw; its tables are written by --format latex")
    draw = printing.svg if style == "svg" else printing.pdf
    drawings = {}
    with Bar().counting("figures", len(figures)) as advance:
        for figure in figures:
            drawings[f"{figure.name}.{style}"] = draw(figure.spec)
            advance(1)
    texts = {}
    if style == "pdf":
        texts["figures.tex"] = "\n".join(latex.figure(figure) for figure in figures)
        texts["all.tex"] = latex.document(["figures"])
        texts["references.bib"] = references(result, citations)
    else:
        captions = [f"{figure.name}.svg\n    {plain_caption(figure.caption)}\n" for figure in figures]
        texts["captions.txt"] = "\n".join(captions)
    return {**drawings, **_encoded(texts)}, len(figures)


def _encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    """Return the contents of text files by name."""
    # A lone surrogate, which a label may contain, cannot be encoded.
    return {name: text.encode("utf-8", "replace") for name, text in texts.items()}
