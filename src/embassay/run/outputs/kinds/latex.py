"""The tables of the report for LaTeX: a file for each, a document that shows all, and the references."""

from __future__ import annotations

from pathlib import Path

from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun
from embassay.run.outputs import latex
from embassay.run.outputs.citations import citations_of, references
from embassay.run.outputs.exhibits import exhibits, tables_of
from embassay.run.outputs.formats import Export, Written, encoded, write_files

HOLDS = "table"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Make the tables."""
    result = finished.result
    citations = citations_of(result)
    tables = exhibits(result, layouts(result), citations, tables_of)
    texts = {f"{table.name}.tex": latex.table(table) for table in tables}
    texts["all.tex"] = latex.document([table.name for table in tables])
    texts["references.bib"] = references(result, citations)
    return Export(encoded(texts), len(tables))
