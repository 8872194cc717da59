"""What the items of a headline show beyond the verdict: which questions are missed, and what set-ups change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from embassay.core.errors import begun
from embassay.core.formatting import counted
from embassay.core.result import Finding, Verdict
from embassay.corpora.queries.made import SOURCES as MADE_QUERIES
from embassay.diagnostics.metrics.scoreboard import roles_of
from embassay.diagnostics.metrics.verdict import Headline
from embassay.reports.findings import templates
from embassay.run.examples import ScoredTask
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
        by_none = missed & found_by_none
        counts = {"missed": int(missed.sum()), "items": len(missed), "found by none": int(by_none.sum())}
        found = ""
        if verdict.baseline and verdict.baseline != name:
            counts["found by the baseline"] = int((missed & found_by[verdict.baseline]).sum())
            found = f"; {verdict.baseline} finds {counts['found by the baseline']:,} of them"
        if counts["found by none"] and len(models) >= LEAST_WITNESSES:
            found += f". No encoder finds {counts['found by none']:,}"
            # Nobody has labelled queries that a program made.
            if np.nanmean(headline.values[name]) >= DECENT and task.corpus.source not in MADE_QUERIES.values():
                found += ": check its label" if counts["found by none"] == 1 else ": check their labels"
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
        if not bases:
            continue
        base = max(bases, key=lambda label: np.nan_to_num(headline.values[label]).mean())
        gaps = headline.values[name] - headline.values[base]
        # Undefined gaps are neither.
        if not np.any(np.nan_to_num(gaps)):
            continue
        changed = {}
        for change, is_changed in (("rescued", gaps > 0), ("broken", gaps < 0)):
            places = np.flatnonzero(is_changed)
            changed[change] = counted(len(places), "question")
            if len(places):
                changed[change] += f" ({named_questions(task, headline, places, texts=texts)})"
        yield templates.RESCUED.finding(verdict, encoder=name, opponent=base, **changed)


def named_questions(task: ScoredTask, headline: Headline, chosen: Ints, *, texts: bool) -> str:
    """Name the first of some questions by their texts, or by their ids.

    Parameters
    ----------
    chosen
        Their places among the items of the headline.
    """
    places = headline.places[chosen]
    ids = [str(task.scores[0].item[place]) for place in places[:MAX_NAMED]]
    named = f"ids {', '.join(ids)}"
    if texts:
        questions = [task.corpus.shown(item)["question"] for item in ids]
        named = ", ".join(f'"{begun(question, LONGEST)}"' for question in questions)
    if len(chosen) > MAX_NAMED:
        named += f" and {len(chosen) - MAX_NAMED:,} more"
    return named
