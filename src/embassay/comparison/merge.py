"""Several runs as one: their encoders side by side on the common items, summarised again.

An encoder that two runs have under one label is one encoder where its scores are the same on all common items.
Otherwise it stands twice in the merged result, with the name of the run behind its label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from embassay.comparison.runs import Common, CommonTask, StoredRun, TaskName
from embassay.core.errors import SpecError
from embassay.core.result import CorpusRecord, EncoderRecord, Result
from embassay.core.types import Draws, ItemScores
from embassay.diagnostics.base import DeclaresMetrics
from embassay.run.execute import joined, without_best
from embassay.run.runs.results import rounded
from embassay.stats.units import Floats

Place = tuple[str, str]
"""The name of a run and the label of an encoder in it."""


@dataclass(frozen=True)
class MergedRuns:
    """Several runs as one.

    Attributes
    ----------
    result
        The result of all encoders on the common items.
    tasks
        Diagnostics and corpora that all runs have.
    scores
        By task, then by the label in the merged result.
    labels
        The label in the merged result of each encoder of each run.
    records
        What is known of each encoder, by run and label.
    """

    result: Result
    tasks: tuple[CommonTask, ...]
    scores: Mapping[TaskName, Mapping[str, ItemScores]] = field(repr=False)
    labels: Mapping[Place, str]
    records: Mapping[Place, EncoderRecord] = field(repr=False)
    draws: Draws


def merge(runs: Sequence[StoredRun], common: Common) -> MergedRuns:
    """Summarise the encoders of several runs on their common items.

    Seed and number of resamples are those of the last run. The reference is that of the first run, so that all
    differences are the new value less the old one.
    """
    labels = merged_labels(runs, common.tasks)
    reference = _reference(runs[0], labels)
    records = {(run.name, record.name): record for run in runs for record in run.result.encoders}
    # The encoders that were asked for in some run.
    candidates = {labels[place] for place, record in records.items() if not record.baseline}
    encoders: dict[str, EncoderRecord] = {}
    for (run_name, label), record in records.items():
        name = labels[run_name, label]
        parts = tuple(labels.get((run_name, part), part) for part in record.parts)
        # Of an encoder of several runs the last record stays, at the place of the first.
        encoders[name] = replace(record, name=name, parts=parts, baseline=name not in candidates)
    scores: dict[TaskName, dict[str, ItemScores]] = {}
    for task in common.tasks:
        scores_of_task: dict[str, ItemScores] = {}
        for run in runs:
            for label, scores_of_encoder in task.scores[run.name].items():
                name = labels[run.name, label]
                origin = replace(
                    scores_of_encoder.origin,
                    encoder=name,
                    parts=encoders[name].parts,
                    corpus_fingerprint=task.fingerprint,
                    baseline=encoders[name].baseline,
                    reference=name == reference,
                )
                # An encoder of several runs has the same scores in all of them.
                scores_of_task.setdefault(name, replace(scores_of_encoder, origin=origin))
        scores[task.name] = scores_of_task
    last = runs[-1].result
    draws = Draws(last.seed, last.resamples)
    head = Result(draws.seed, draws.resamples, tuple(encoders.values()), _corpora(last, common.tasks, scores))
    results = [_summarised(task, list(scores[task.name].values()), last, draws) for task in common.tasks]
    merged_corpora = {corpus.name for corpus in head.corpora}
    screenings = {}
    for run in runs:
        for one in run.result.screenings:
            if one.corpus in merged_corpora:
                encoder, base = labels[run.name, one.encoder], labels[run.name, one.base]
                # Of the questions and documents of its run, whatever the runs have in common.
                screenings[one.corpus, encoder] = replace(one, encoder=encoder, base=base)
    screened = Result(draws.seed, draws.resamples, screenings=tuple(screenings.values()))
    return MergedRuns(joined(head, [*results, screened]), common.tasks, scores, labels, records, draws)


def merged_labels(runs: Sequence[StoredRun], tasks: Sequence[CommonTask]) -> dict[Place, str]:
    """Return the label in the merged result of each encoder of each run.

    Raises
    ------
    SpecError
        If a label would stand for two encoders.
    """
    places_of_label: dict[str, list[Place]] = {}
    for run in runs:
        for label in run.encoders:
            places_of_label.setdefault(label, []).append((run.name, label))
    merged: dict[Place, str] = {}
    for label, places in places_of_label.items():
        # For each place the first one at which the same encoder stands; it may be the place itself.
        first_places: dict[Place, Place] = {}
        for place in places:
            same = [first for first in first_places.values() if all(_is_same(task, first, place) for task in tasks)]
            first_places[place] = same[0] if same else place
        has_several = len(set(first_places.values())) > 1
        for place, (first_run, _) in first_places.items():
            merged[place] = f"{label} ({first_run})" if has_several else label
    for (_, label), name in merged.items():
        if name != label and name in places_of_label:
            raise SpecError(f"{name!r} is the label of another encoder of these runs; rename it, or the run's folder")
    return merged


def _is_same(task: CommonTask, one: Place, other: Place) -> bool:
    """Return whether the encoder at one place scores the common items of a task as the one at another place does."""
    scores, other_scores = (task.scores[run].get(label) for run, label in (one, other))
    if scores is None or other_scores is None:
        # Where it failed in both runs, this task does not tell the two apart.
        return scores is None and other_scores is None
    return has_same_scores(task, scores, other_scores)


def has_same_scores(task: CommonTask, scores: ItemScores, other_scores: ItemScores) -> bool:
    """Return whether two encoders score the common items of a task in the same way.

    Some stored values depend on the rest of the corpus, such as the similarity of a question to random documents. So
    for the same encoder only the values that it is ranked by count.
    """
    if scores.digest == other_scores.digest:
        return True
    if scores.origin.encoder_fingerprint != other_scores.origin.encoder_fingerprint:
        return False
    values = _headline_values(task, scores)
    other_values = _headline_values(task, other_scores)
    if values is None or other_values is None:
        return False
    return np.array_equal(values, other_values, equal_nan=True)


def _headline_values(task: CommonTask, scores: ItemScores) -> Floats | None:
    """Return the (n,) values of the headline; None where there is none."""
    if not isinstance(task.method, DeclaresMetrics):
        return None
    headline = task.method.figures([scores]).headline()
    if headline is None:
        return None
    return headline.values[scores.origin.encoder]


def _reference(run: StoredRun, labels: Mapping[Place, str]) -> str | None:
    """Return the merged label of a run's reference: the encoder that was named, or the first candidate."""
    all_scores = [scores for task in run.tasks.values() for scores in task.scores.values()]
    named = {scores.origin.encoder for scores in all_scores if scores.origin.reference}
    for record in run.result.encoders:
        if record.name in named or not (named or record.baseline):
            return labels[run.name, record.name]
    return None


def _summarised(task: CommonTask, scores: Sequence[ItemScores], last: Result, draws: Draws) -> Result:
    """Return the result of one task; ``last`` is that of the last run."""
    part = rounded(task.method.summarise(scores, draws))
    for record in last.corpora:
        # No best encoder is named on built-in corpora.
        if record.name == task.corpus and record.builtin:
            part = replace(part, verdicts=tuple(map(without_best, part.verdicts)))
    return part


def _corpora(
    last: Result, tasks: Sequence[CommonTask], scores: Mapping[TaskName, Mapping[str, ItemScores]]
) -> tuple[CorpusRecord, ...]:
    """Return the corpora of the tasks; a record describes the common items where some are left out."""
    records = {record.name: record for record in last.corpora}
    corpora: dict[str, CorpusRecord] = {}
    for task in tasks:
        record = records[task.corpus]
        if any(task.left_out.values()):
            unit = next(iter(scores[task.name].values())).unit
            _, sizes = np.unique(unit, return_counts=True)
            # The effective number of units (Kish): fewer where their sizes differ.
            effective_units = float(sizes.sum() ** 2 / (sizes @ sizes))
            record = replace(
                record,
                fingerprint=task.fingerprint,
                items=task.count,
                units=len(sizes),
                effective_units=effective_units,
            )
        corpora.setdefault(task.corpus, record)
    return tuple(corpora.values())
