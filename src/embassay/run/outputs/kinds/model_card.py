"""Each candidate's figures for its README.md on the hub."""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import OutputError
from embassay.reports.layouts import layouts
from embassay.run.finished import FinishedRun
from embassay.run.outputs.exhibits import file_name
from embassay.run.outputs.formats import Export, Written, encoded, write_files
from embassay.run.outputs.model_card import cards

HOLDS = "model card"


def write(finished: FinishedRun, place: Path) -> Written:
    """Write the files, after all of them are made."""
    return write_files(finished, place, export)


def export(finished: FinishedRun) -> Export:
    """Make a model card for each candidate of a run.

    Raises
    ------
    OutputError
        If no candidate has a figure that a model card can hold.
    """
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
    return Export(encoded({f"{file_name([label], taken)}.md": text for label, text in texts.items()}), notes=notes)
