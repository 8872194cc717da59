"""What the items of a headline show beyond the verdict: who is not worse than the best, and what everyone misses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from embassay.corpora.queries.made import SOURCES as MADE_QUERIES
from embassay.diagnostics.base import DeclaresMetrics
from embassay.errors import begun
from embassay.findings import templates
from embassay.formatting import counted
from embassay.result import Finding, Verdict
from embassay.run.examples import ScoredTask
from embassay.stats.noninferiority import Headline
from embassay.stats.units import Ints
from embassay.types import Draws, is_chance

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
    if not isinstance(task.diagnostic, DeclaresMetrics):
        return None
    headline = task.diagnostic.figures(task.scores).headline()
    if headline is None or not headline.key.covers(verdict.key):
        return None
    return headline


def with_not_worse(verdict: Verdict, headline: Headline, draws: Draws) -> Verdict:
    """Return the verdict with who is shown not to be worse than the best, and than the reference."""
    if not verdict.best_set or verdict.leader != "Best":
        return verdict

    def not_worse(names: Iterable[str], than: str) -> tuple[str, ...]:
        others = [name for name in names if name != than]
        return tuple(name for name in others if headline.not_worse(name, than, draws).outcome == "not worse")

    # Those outside the best set, too: what is shown to be lower may still lose less than the margin.
    ranked = [name for name in verdict.candidates if name not in verdict.left_out]
    reference = verdict.opponent("reference").name
    settings: list[str] = []
    if reference in verdict.candidates and reference != verdict.best_set[0]:
        # "all-MiniLM-L6-v2,dim=128" -> "all-MiniLM-L6-v2": only settings of one model are compared as a choice.
        settings = [name for name in verdict.candidates if name.split(",")[0] == reference.split(",")[0]]
    return replace(
        verdict,
        margin=headline.margin,
        not_worse=not_worse(ranked, verdict.best_set[0]),
        not_worse_than_reference=not_worse(settings, reference),
    )


def misses(task: ScoredTask, verdict: Verdict, headline: Headline) -> Iterator[Finding]:
    """Yield how many questions the first candidate misses, and who finds them: the best lexical baseline, or nobody."""
    if not task.corpus.documents or not verdict.candidates:
        return
    first = verdict.candidates[0]
    missed = headline.values[first] == 0
    if not missed.any():
        return
    others = [scores.origin for scores in task.scores if not is_chance(scores.origin.spec)]
    found_by = {origin.encoder: headline.values[origin.encoder] > 0 for origin in others}
    baseline = verdict.opponent("baseline").name
    nobody = missed & ~np.any(list(found_by.values()), axis=0)
    counts = {"missed": int(missed.sum()), "items": len(missed), "found by nobody": int(nobody.sum())}
    found = ""
    if baseline and baseline != first:
        counts["found by the baseline"] = int((missed & found_by[baseline]).sum())
        found = f"; {baseline} finds {counts['found by the baseline']:,} of them"
    # "all-MiniLM-L6-v2,dim=128" -> "all-MiniLM-L6-v2": a model with another setting is no further witness.
    models = {origin.spec.split(",")[0] for origin in others}
    if counts["found by nobody"] and len(models) >= LEAST_WITNESSES:
        found += f"; nobody finds {counts['found by nobody']:,}"
        # Nobody has labelled queries that a program made.
        if np.nanmean(headline.values[first]) >= DECENT and task.corpus.source not in MADE_QUERIES.values():
            found += ": check its label" if counts["found by nobody"] == 1 else ": check their labels"
    answer = templates.FAILS_ON.finding(
        verdict,
        encoder=first,
        missed=f"{counts['missed']:,} of {counted(counts['items'], 'question')}",
        found=found,
    )
    yield replace(answer, value=counts["missed"] / counts["items"], counts=counts)


def changed_by_steps(task: ScoredTask, verdict: Verdict, headline: Headline, *, texts: bool) -> Iterator[Finding]:
    """Yield which questions a set-up answers better, and which worse, than the best encoder that it is built on.

    Parameters
    ----------
    texts
        Whether texts may be shown; the questions are named by their ids otherwise.
    """
    for opponent in verdict.opponents:
        if opponent.role != "part":
            continue
        for difference in opponent.differences:
            name = difference.candidate
            gaps = headline.values[name] - headline.values[opponent.name]
            # Undefined gaps are neither.
            if not np.any(np.nan_to_num(gaps)):
                continue
            changed = {}
            for change, is_changed in (("rescued", gaps > 0), ("broken", gaps < 0)):
                places = np.flatnonzero(is_changed)
                changed[change] = counted(len(places), "question")
                if len(places):
                    changed[change] += f" ({named_questions(task, headline, places, texts=texts)})"
            yield templates.RESCUED.finding(verdict, encoder=name, opponent=opponent.name, **changed)


def named_questions(task: ScoredTask, headline: Headline, chosen: Ints, *, texts: bool) -> str:
    """Name the first of some questions by their texts, or by their ids.

    Parameters
    ----------
    chosen
        Their places among the items of the headline.
    """
    places = chosen if headline.places is None else headline.places[chosen]
    ids = [str(task.scores[0].item[place]) for place in places[:MAX_NAMED]]
    named = f"ids {', '.join(ids)}"
    if texts:
        questions = [task.corpus.shown(item)["question"] for item in ids]
        named = ", ".join(f'"{begun(question, LONGEST)}"' for question in questions)
    if len(chosen) > MAX_NAMED:
        named += f" and {len(chosen) - MAX_NAMED:,} more"
    return named
