"""The figures of the report as PDF, for LaTeX."""

from __future__ import annotations

from pathlib import Path

from embassay.outputs import latex
from embassay.outputs.citations import citations_of, references
from embassay.outputs.figures import drawn
from embassay.outputs.formats import Export, Written, encoded, write_files
from embassay.run.finished import FinishedRun

HOLDS = "figure"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Draw the figures."""
    figures, contents = drawn(finished, "pdf")
    texts = {
        "figures.tex": "\n".join(map(latex.figure, figures)),
        "all.tex": latex.document(["figures"]),
        "references.bib": references(finished.result, citations_of(finished.result)),
    }
    return Export({**contents, **encoded(texts)}, len(figures))
