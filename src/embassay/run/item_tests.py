"""What the items of a headline show beyond the verdict: which questions are missed, and what set-ups change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from embassay.core.errors import begun
from embassay.core.formatting import counted
from embassay.core.result import SCREENED, Finding, Screening, Verdict
from embassay.core.types import Draws, ItemScores
from embassay.corpora.queries.made import SOURCES as MADE_QUERIES
from embassay.diagnostics.base import NEAREST
from embassay.diagnostics.metrics.scoreboard import roles_of
from embassay.diagnostics.metrics.verdict import Headline
from embassay.reports.findings import templates
from embassay.run.items import ScoredTask
from embassay.stats.overlap import COMPARED, changed_tops, judged, overlaps
from embassay.stats.units import Ints

DECENT = 0.75
"""Where the first candidate is right on a smaller share of the items, many are missed because they are hard."""
LEAST_WITNESSES = 2
"""A single encoder that misses an item says nothing about its label."""
MAX_NAMED = 3
"""Questions that a finding names."""
LONGEST = 60
"""Characters of a question that it shows at most."""


def headline_of(task: ScoredTask, verdict: Verdict) -> Headline | None:
    """Return the item values that a verdict ranks candidates by; None where they are not means over items."""
    figures = task.diagnostic.figures(task.scores)
    headline = figures.headline() if figures else None
    if headline is None or not headline.key.covers(verdict.key):
        return None
    return headline


def misses(task: ScoredTask, verdict: Verdict, headline: Headline) -> Iterator[Finding]:
    """Yield for each system how many questions it misses, and who finds them: the lexical baseline, or none.

    Which of them is to be used, and so which of these is said, is decided when the whole run is known.
    """
    if not task.corpus.documents:
        return
    others = [scores.origin for scores in task.scores if not scores.origin.is_chance]
    found_by = {origin.encoder: headline.values[origin.encoder] > 0 for origin in others}
    found_by_none = ~np.any(list(found_by.values()), axis=0)
    # "all-MiniLM-L6-v2,dim=128" -> "all-MiniLM-L6-v2": a model with another setting is no further witness.
    models = {origin.spec.split(",")[0] for origin in others}
    for name in dict.fromkeys((*verdict.candidates, *filter(None, [verdict.baseline]))):
        missed = headline.values[name] == 0
        if not missed.any():
            continue
        by_none = int((missed & found_by_none).sum())
        counts = {"missed": int(missed.sum()), "items": len(missed), "found by none": by_none}
        found = ""
        if verdict.baseline and verdict.baseline != name:
            counts["found by the baseline"] = int((missed & found_by[verdict.baseline]).sum())
            found = f"; {verdict.baseline} finds {counts['found by the baseline']:,} of them"
        if by_none and len(models) >= LEAST_WITNESSES:
            found += f". No encoder finds {by_none:,}"
            # Nobody has labelled queries that a program made.
            if np.nanmean(headline.values[name]) >= DECENT and task.corpus.source not in MADE_QUERIES.values():
                found += ": check its label" if by_none == 1 else ": check their labels"
        questions = counted(counts["missed"], "question")
        answer = templates.MISSES.finding(verdict, encoder=name, missed=questions, found=found)
        yield replace(answer, value=counts["missed"] / counts["items"], counts=counts)


def changed_by_steps(task: ScoredTask, verdict: Verdict, headline: Headline, *, texts: bool) -> Iterator[Finding]:
    """Yield which questions a set-up answers better, and which worse, than the best of what it is derived from.

    Parameters
    ----------
    texts
        Whether texts may be shown; the questions are named by their ids otherwise.
    """
    steps = roles_of(task.scores).steps
    for name in verdict.candidates:
        step = steps.get(name)
        bases = [label for label in step.bases if label in headline.values] if step else []
        base = max(bases, key=lambda label: np.nan_to_num(headline.values[label]).mean(), default=name)
        # Undefined gaps are neither.
        gaps = np.nan_to_num(headline.values[name] - headline.values[base])
        if gaps.any():
            changed = {
                "rescued": named_questions(task, headline, np.flatnonzero(gaps > 0), texts=texts),
                "broken": named_questions(task, headline, np.flatnonzero(gaps < 0), texts=texts),
            }
            yield templates.RESCUED.finding(verdict, encoder=name, opponent=base, **changed)


def named_questions(task: ScoredTask, headline: Headline, chosen: Ints, *, texts: bool) -> str:
    """Return how many questions these are, and the first of them by their texts or ids.

    Parameters
    ----------
    chosen
        Their places among the items of the headline.
    """
    number = counted(len(chosen), "question")
    places = headline.places[chosen]
    ids = [str(task.scores[0].item[place]) for place in places[:MAX_NAMED]]
    if not ids:
        return number
    named = f"ids {', '.join(ids)}"
    if texts:
        named = ", ".join(f'"{begun(task.corpus.shown(item)["question"], LONGEST)}"' for item in ids)
    more = f" and {len(chosen) - MAX_NAMED:,} more" if len(chosen) > MAX_NAMED else ""
    return f"{number} ({named}{more})"


INDEX = "index/"
"""How the names of scalars begin that say what an index was set to."""


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
        if defined.any():
            yield Screening(
                corpus=origin.corpus,
                encoder=origin.encoder,
                base=original.origin.encoder,
                step=origin.step,
                settings=", ".join(f"{name}={number}" for name, number in settings_of(scores).items()),
                **judged(values[defined], changed_tops(listed, exact)[defined], draws),
            )


def settings_of(scores: ItemScores) -> dict[str, int]:
    """Return by name the numbers that an index was set to."""
    scalars = scores.scalars.items()
    return {name.removeprefix(INDEX): int(n) for name, n in scalars if name.startswith(INDEX)}
