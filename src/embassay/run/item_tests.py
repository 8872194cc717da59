"""What items show beyond the verdict: which questions are missed, and how much of the exact search an index lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from embassay.core.formatting import counted
from embassay.core.result import SCREENED, Finding, Screening, Verdict
from embassay.core.types import Draws
from embassay.corpora.queries.made import SOURCE as MADE_QUERIES
from embassay.diagnostics.base import NEAREST
from embassay.reports.findings import templates
from embassay.run.items import ScoredTask
from embassay.stats.overlap import COMPARED, judged, overlaps

DECENT = 0.75
"""Where the first candidate is right on a smaller share of the items, many are missed because they are hard."""
LEAST_WITNESSES = 2
"""A single encoder that misses an item says nothing about its label."""


def misses(task: ScoredTask, verdict: Verdict) -> Iterator[Finding]:
    """Yield for each system how many questions it misses, and who finds them: the lexical baseline, or none.

    Which of them is to be used, and so which of these is said, is decided when the whole run is known.
    """
    figures = task.diagnostic.figures(task.scores) if task.corpus.documents else None
    columns = figures.headline() if figures else {}
    # A verdict may rank by something else than means over items.
    headline = {encoder: column for encoder, column in columns.items() if column.key.covers(verdict.key)}
    if not headline:
        return
    others = [scores.origin for scores in task.scores if not scores.origin.is_chance]
    found_by = {origin.encoder: headline[origin.encoder].value > 0 for origin in others}
    found_by_none = ~np.any(list(found_by.values()), axis=0)
    # "all-MiniLM-L6-v2,dim=128" -> "all-MiniLM-L6-v2": a model with another setting is no further witness.
    models = {origin.spec.split(",")[0] for origin in others}
    for name in dict.fromkeys((*verdict.candidates, *filter(None, [verdict.baseline]))):
        missed = headline[name].value == 0
        if not missed.any():
            continue
        by_none = int((missed & found_by_none).sum())
        found = ""
        if verdict.baseline and verdict.baseline != name:
            found = f"; {verdict.baseline} finds {int((missed & found_by[verdict.baseline]).sum()):,} of them"
        if by_none and len(models) >= LEAST_WITNESSES:
            found += f". No encoder finds {by_none:,}"
            # Nobody has labelled queries that a program made.
            if np.nanmean(headline[name].value) >= DECENT and task.corpus.source != MADE_QUERIES:
                found += ": check its label" if by_none == 1 else ": check their labels"
        questions = counted(int(missed.sum()), "question")
        answer = templates.MISSES.finding(verdict, encoder=name, missed=questions, found=found)
        yield replace(answer, value=float(missed.mean()))


INDEX = "index/"
"""How the names of scalars begin that say what an index was set to."""


def screenings_of(task: ScoredTask, draws: Draws) -> Iterator[Screening]:
    """Yield the screening of each encoder whose original is there; none for a diagnostic that lists no documents.

    No labels are used, so all questions count, each text once. Queries that a program made of texts of the documents
    are none that anybody asks: an index finds what is near a document more easily.
    """
    scores_of = {scores.origin.encoder: scores for scores in task.scores if NEAREST in scores.values}
    if not scores_of or task.corpus.source == MADE_QUERIES:
        return
    _, once = np.unique([sample.question for sample in task.corpus.samples], return_index=True)
    for scores in scores_of.values():
        origin = scores.origin
        original = scores_of.get("".join(origin.parts[:1]))
        if original is None or origin.step not in SCREENED:
            continue
        listed, exact = scores.values[NEAREST][once], original.values[NEAREST][once]
        # A retriever may be asked for fewer documents than are compared.
        values = overlaps(listed, exact, min(COMPARED, int(scores.scalars.get("depth", COMPARED))))
        defined = np.isfinite(values)
        index_settings = [
            f"{name.removeprefix(INDEX)}={int(number)}"
            for name, number in scores.scalars.items()
            if name.startswith(INDEX)
        ]
        if defined.any():
            yield Screening(
                corpus=origin.corpus,
                encoder=origin.encoder,
                base=original.origin.encoder,
                step=origin.step,
                settings=", ".join(index_settings),
                **judged(values[defined], draws),
            )
