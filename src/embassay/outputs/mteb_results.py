"""The figures of a finished run as mteb's results, in a folder that mteb reads.

    cache = mteb.ResultCache("RUN/mteb")
    cache.load_results(models=…, tasks=…)      results/MODEL/REVISION/TASK.json

A task is called like that of :func:`embassay.integrations.mteb.mteb_task` with the language ``und-Zyyy``: a run does
not know the language of its texts. mteb has no field for intervals, and a run no time for a single task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from importlib.util import find_spec

from embassay.errors import MissingExtraError, OutputError, SourceError
from embassay.outputs.formats import Content, Export
from embassay.outputs.mteb_names import model_meta, pin_of, valid_name
from embassay.result import EncoderRecord, Result, Verdict, record_of
from embassay.run.finished import FinishedRun
from embassay.store.runs.record import RunRecord
from embassay.types import Draws

LANGUAGE = "und-Zyyy"
"""Undetermined, in the notation of ISO 639-3 and ISO 15924."""
SPLIT, SUBSET = "test", "default"


def task_results(finished: FinishedRun) -> Export:
    """Make the files of the results, by their path.

    Every candidate has a result for each diagnostic and corpus that ranks encoders; its main score is the headline.

    Raises
    ------
    MissingExtraError
        If mteb is not installed.
    OutputError
        If no candidate has a headline figure.
    SourceError
        If the run's record does not say which diagnostics ran.
    """
    if find_spec("mteb") is None:
        raise MissingExtraError("--format mteb", "mteb")
    result, record = finished.result, finished.record
    contents: dict[str, Content] = {}
    undefined = []
    for encoder in result.encoders:
        if encoder.baseline:
            continue
        model = f"embassay__{valid_name(encoder.name)}"
        folder = f"results/{model}/{valid_name(encoder.fingerprint) or 'no_revision_available'}"
        for verdict in result.verdicts:
            if not verdict.metric or encoder.name not in verdict.candidates:
                continue
            scores, main_score = _scores(result, verdict, encoder.name)
            if main_score not in scores:
                undefined.append(f"{encoder.name}: {verdict.diagnostic} on {verdict.corpus} is undefined")
                continue
            task = _task_name(result, record, verdict, main_score)
            contents[f"{folder}/{task}.json"] = _task_result(result, record, verdict, task, scores, main_score)
            contents[f"{folder}/model_meta.json"] = _model_meta(encoder)
    if not contents:
        raise OutputError("no mteb result can be written: no candidate has a headline figure")
    notes = [f"left out: {reason}" for reason in undefined]
    unranked = dict.fromkeys(verdict.diagnostic for verdict in result.verdicts if not verdict.metric)
    if unranked:
        notes.append(f"left out: diagnostics that do not rank encoders ({', '.join(unranked)})")
    return Export(contents, notes=notes)


def _scores(result: Result, verdict: Verdict, encoder: str) -> tuple[dict[str, float], str]:
    """Return the defined figures of an encoder by name, and the name of the headline."""
    headline = result.headline(verdict).get(encoder)
    scores = dict[str, float]()
    main_score = ""
    for row in result.rows:
        if (row.diagnostic, row.corpus, row.encoder) != (verdict.diagnostic, verdict.corpus, encoder):
            continue
        # Only another similarity function than the headline's is part of a name.
        name = row.key.slug(verdict.similarity_function or row.similarity_function)
        if row == headline:
            main_score = name
        if row.value is not None:
            scores.setdefault(name, row.value)
    return scores, main_score


def _task_name(result: Result, record: RunRecord, verdict: Verdict, main_score: str) -> str:
    """Return the name of a task: ``Embassay.retrieval.docs.`` and a hash.

    The hash is of everything but the model that the scores depend on, so equal names mean comparable scores.
    """
    try:
        tasks = record["settings"]["diagnostics"]
        by_place = {(diagnostic, corpus): (version, options) for diagnostic, version, options, corpus in tasks}
        diagnostic_version, options = by_place[verdict.diagnostic, verdict.corpus]
    except KeyError:
        raise SourceError("run.json is missing or damaged; repeat the run's command", "run.json") from None
    fingerprints = {corpus.name: corpus.fingerprint for corpus in result.corpora}
    hash_of_settings = pin_of(
        verdict.diagnostic,
        diagnostic_version,
        options,
        fingerprints[verdict.corpus],
        Draws(result.seed, result.resamples),
        str(record.get("embassay", "")),
        main_score,
        LANGUAGE,
    )
    name = valid_name(f"Embassay.{verdict.diagnostic}.{verdict.corpus}")
    return f"{name}.{hash_of_settings}"


def _task_result(
    result: Result, record: RunRecord, verdict: Verdict, task: str, scores: Mapping[str, float], main_score: str
) -> bytes:
    """Return one result as mteb writes it."""
    from mteb.results import TaskResult

    fingerprint = record_of(result.corpora, verdict.corpus).fingerprint
    of_subset = {**scores, "main_score": scores[main_score], "hf_subset": SUBSET, "languages": [LANGUAGE]}
    task_result = TaskResult(
        task_name=task,
        dataset_revision=fingerprint,
        mteb_version=version("mteb"),
        scores={SPLIT: [of_subset]},
        evaluation_time=None,
        date=_date(record),
    )
    text: str = task_result.model_dump_json(indent=2)
    return text.encode("utf-8")


def _date(record: RunRecord) -> datetime | None:
    try:
        return datetime.fromisoformat(record.get("time", ""))
    except (TypeError, ValueError):
        # The record may have been edited; mteb does not need a date.
        return None


def _model_meta(encoder: EncoderRecord) -> bytes:
    """Return what mteb keeps about a model."""
    facts = {"n_parameters": encoder.parameters, "embed_dim": encoder.dim, "max_tokens": encoder.max_tokens}
    meta = model_meta(encoder.name, encoder.fingerprint, encoder.similarity, facts)
    return json.dumps(meta.to_dict(), indent=2, default=str).encode("utf-8")
