"""How much of what the exact search of its original finds each index, and each cheaper copy of a model, lists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from embassay.core.result import SCREENED, Screening
from embassay.core.types import Draws, ItemScores
from embassay.corpora.queries.made import SOURCES as MADE_QUERIES
from embassay.diagnostics.base import NEAREST
from embassay.run.examples import ScoredTask
from embassay.stats.overlap import COMPARED, changed_tops, judged, overlaps

INDEX = "index/"
"""How the names of scalars begin that say what an index was set to."""
ENOUGH = f"{INDEX}enough"
"""The one that says how many of its lists are to be searched, if it searches fewer."""


def screenings_of(task: ScoredTask, draws: Draws) -> Iterator[Screening]:
    """Yield the screening of each encoder whose original is there; none for a diagnostic that lists no documents.

    No labels are used, so all questions count, each text once. Queries that a program made of texts of the documents
    are none that anybody asks: an index finds what is near a document more easily.
    """
    scores_of = {scores.origin.encoder: scores for scores in task.scores if NEAREST in scores.values}
    if not scores_of or task.corpus.source in MADE_QUERIES.values():
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
        if not defined.any():
            continue
        enough = scores.scalars.get(ENOUGH)
        yield Screening(
            corpus=origin.corpus,
            encoder=origin.encoder,
            base=original.origin.encoder,
            step=origin.step,
            settings=", ".join(f"{name}={number}" for name, number in settings_of(scores).items()),
            recommended=f"probes={enough:g}" if enough else "",
            **judged(values[defined], changed_tops(listed, exact)[defined], draws),
        )


def settings_of(scores: ItemScores) -> dict[str, int]:
    """Return by name the numbers that an index was set to."""
    settings = {name: n for name, n in scores.scalars.items() if name.startswith(INDEX) and name != ENOUGH}
    return {name.removeprefix(INDEX): int(number) for name, number in settings.items()}
