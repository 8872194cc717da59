"""Runs side by side, from other machines, months and versions; nothing is encoded."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embassay.comparison.differences import (
    DifferencesSummary,
    EncoderPair,
    HeadlineChange,
    differences_of,
    summaries_of,
)
from embassay.comparison.merge import MergedRuns, merge
from embassay.comparison.runs import StoredRun, common_tasks, differ, read_run
from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.formatting import number
from embassay.core.result import EncoderRecord, Result, record_of


@dataclass(frozen=True)
class Fact:
    """Something about an encoder that is not the same before and after.

    Attributes
    ----------
    name
        What differs, for example ``dimension``.
    old, new
        As text.
    """

    pair: EncoderPair
    name: str
    old: str
    new: str


@dataclass(frozen=True)
class RunComparison:
    """Several runs side by side.

    Attributes
    ----------
    runs
        Their names, the oldest first.
    result
        All encoders on the common items; its verdicts name the best set over all runs.
    pairs
        Encoders that two runs have under one label, that are the same model under two labels, or that ``mapping``
        pairs; where there are none, each candidate and the reference of the first run.
    before_and_after
        Whether the pairs are an encoder before and after.
    differences
        Of each pair on each diagnostic with a headline and each corpus.
    facts
        Dimension, price and others that differ between the two encoders of a pair.
    summaries
        Of each pair and diagnostic that ran on several corpora.
    notes
        What does not match between the runs, and what is not compared.
    """

    runs: tuple[str, ...]
    result: Result = field(repr=False)
    pairs: tuple[EncoderPair, ...]
    before_and_after: bool
    differences: tuple[HeadlineChange, ...] = field(repr=False)
    facts: tuple[Fact, ...] = field(repr=False)
    summaries: tuple[DifferencesSummary, ...] = field(repr=False)
    notes: tuple[str, ...]


def compare(
    runs: Sequence[str | Path | Result], mapping: Mapping[str, str] | None = None, *, texts: bool = True
) -> RunComparison:
    """Compare finished runs on the items that all of them have, as ``embassay compare`` does; nothing is encoded.

    Parameters
    ----------
    runs
        Two or more, the oldest first: folders, or results of :func:`embassay.assay`.
    mapping
        New label by old label, for encoders that were renamed.
    texts
        Whether the items that flipped have their texts.

    Returns
    -------
    The differences of each encoder before and after; ``.result`` has all encoders on the common items.

    Raises
    ------
    SourceError
        If a run cannot be read, or the runs have nothing in common.
    SpecError
        For fewer than two runs, or an unknown label in the mapping.
    """
    if isinstance(runs, (str, Path, Result)) or len(runs) < 2:
        raise SpecError("compare takes a list of two runs or more")
    stored = [read_run(run, name) for run, name in zip(runs, names_of(runs), strict=True)]
    common = common_tasks(stored)
    merged = merge(stored, common)
    mapping = mapping or {}
    same_models = _same_models(stored, mapping)
    pairs = _pairs(stored, merged, {**mapping, **same_models})
    before_and_after = bool(pairs)
    if not pairs:
        pairs = _against_reference(merged)
    differences = differences_of(merged, pairs, texts=texts)
    facts: list[Fact] = []
    for pair in pairs:
        facts += _facts(pair, merged)
    # Where one old encoder is compared with one new one, that is what --map would do.
    is_one_pair = len(pairs) == 1
    before_and_after_pairs = pairs if before_and_after or is_one_pair else []
    notes = [*common.notes, *_notes_on_labels(stored, before_and_after_pairs, same_models), *_notes_on_settings(stored)]
    return RunComparison(
        runs=tuple(run.name for run in stored),
        result=merged.result,
        pairs=tuple(pairs),
        before_and_after=before_and_after,
        differences=differences,
        facts=tuple(facts),
        summaries=summaries_of(differences),
        notes=tuple(notes),
    )


def names_of(runs: Sequence[str | Path | Result]) -> list[str]:
    """Return a name for each run: its folder's, with as many parents as it takes to tell the runs apart.

    A result has its place: ``result 2``.

    Raises
    ------
    SpecError
        If a run is given twice.
    """
    parts: list[tuple[str, ...]] = []
    for place, run in enumerate(runs, start=1):
        if isinstance(run, Result):
            parts.append((f"result {place}",))
            continue
        path = Path(run).expanduser().resolve()
        # A run may be named by its result.json.
        folder = path.parent if path.suffix == ".json" else path
        parts.append(folder.parts)
    if len(set(parts)) < len(parts):
        raise SpecError("a run is given twice")
    # "a/run" and "b/run" need two parts, "a" and "b" one.
    length = 1
    endings = [path[-length:] for path in parts]
    while len(set(endings)) < len(parts):
        length += 1
        endings = [path[-length:] for path in parts]
    return ["/".join(ending) for ending in endings]


def _lone_candidates(runs: Sequence[StoredRun]) -> list[tuple[int, EncoderRecord]]:
    """Return the candidates whose label only one run has, with the position of that run."""
    runs_of_label = Counter(label for run in runs for label in run.encoders)
    records = [(position, record) for position, run in enumerate(runs) for record in run.result.encoders]
    return [(position, one) for position, one in records if runs_of_label[one.name] == 1 and not one.baseline]


def _same_models(runs: Sequence[StoredRun], mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the new label by the old one of each model that two runs have under different labels.

    Labels of the mapping, and labels that several runs have, are the user's choice and stay as they are.
    """
    candidates = _lone_candidates(runs)
    taken = {*mapping, *mapping.values()}
    same_models: dict[str, str] = {}
    for old_position, old in candidates:
        for new_position, new in candidates:
            is_later = new_position > old_position
            is_same_model = (new.fingerprint, new.setting) == (old.fingerprint, old.setting)
            if is_later and is_same_model and not taken & {old.name, new.name}:
                same_models[old.name] = new.name
                taken |= {old.name, new.name}
    return same_models


def _pairs(runs: Sequence[StoredRun], merged: MergedRuns, mapping: Mapping[str, str]) -> list[EncoderPair]:
    """Return the candidates that several runs have under one label, and those that the mapping pairs.

    The first run that has the encoder is compared with each later one.

    Parameters
    ----------
    mapping
        New label by old label, for encoders that were renamed or replaced.

    Raises
    ------
    SpecError
        For a label of the mapping that no run has, or no later one.
    """
    candidates = {record.name for record in merged.result.encoders if not record.baseline}
    # By label the position of the first run that has it.
    first_run: dict[str, int] = {}
    for position, run in enumerate(runs):
        for label in run.encoders:
            first_run.setdefault(label, position)
    for label in (*mapping, *mapping.values()):
        if label not in first_run:
            raise UnknownNameError("label in --map", label, set(first_run))

    pairs = []
    for label, position in first_run.items():
        old_run = runs[position]
        later_runs = runs[position + 1 :]
        new_label = mapping.get(label, label)
        new_runs = [run for run in later_runs if new_label in run.encoders]
        if label in mapping and not new_runs:
            raise SpecError(f"--map {label}={new_label}: no run after {old_run.name} has {new_label!r}")
        for new_run in new_runs:
            old = merged.labels[old_run.name, label]
            new = merged.labels[new_run.name, new_label]
            # Lexical baselines and random vectors are compared only where the mapping names them.
            is_candidate = new in candidates and not record_of(merged.result.encoders, new).is_chance
            if label not in mapping and not is_candidate:
                continue
            name = label if new_label == label else f"{label} → {new_label}"
            if len(new_runs) > 1:
                name = f"{name} ({old_run.name} → {new_run.name})"
            pairs.append(EncoderPair(name, old, new, old_run.name, new_run.name))
    return pairs


def _against_reference(merged: MergedRuns) -> list[EncoderPair]:
    """Return each candidate with the reference of the merged result."""
    for verdict in merged.result.verdicts:
        reference = verdict.reference
        if reference:
            others = [name for name in verdict.candidates if name != reference]
            return [EncoderPair(f"{reference} → {name}", reference, name) for name in others]
    return []


def _facts(pair: EncoderPair, merged: MergedRuns) -> list[Fact]:
    """Return what differs between the encoders of a pair, other than scores."""
    old = _properties(_record(merged, pair.old, pair.old_run))
    new = _properties(_record(merged, pair.new, pair.new_run))
    return [Fact(pair, name, old[name], new[name]) for name in old if old[name] != new[name]]


def _record(merged: MergedRuns, label: str, run: str) -> EncoderRecord:
    """Return what a run knows of an encoder of the merged result; the first run that has it if ``run`` is empty."""
    records: dict[str, EncoderRecord] = {}
    for (run_of_record, own_label), record in merged.records.items():
        if merged.labels[run_of_record, own_label] == label:
            records.setdefault(run_of_record, record)
    return records.get(run) or next(iter(records.values()))


def _properties(encoder: EncoderRecord) -> dict[str, str]:
    """Return what a result says of an encoder itself: a text by the name of the property."""
    prompts = [f"{role}: {prompt!r}" for role, prompt in sorted(encoder.prompts.items())]
    price = "unknown"
    if encoder.price is not None:
        price = f"{encoder.price:g}"
    return {
        "spec": encoder.spec,
        "fingerprint": encoder.fingerprint,
        "revision": encoder.revision or "none",
        "dimension": number(encoder.dim, "count"),
        "parameters": number(encoder.parameters, "count"),
        "maximum tokens": number(encoder.max_tokens, "count"),
        "similarity": encoder.similarity,
        "prompts": ", ".join(prompts) or "none",
        "price of a million tokens": price,
    }


def _notes_on_labels(
    runs: Sequence[StoredRun], pairs: Sequence[EncoderPair], same_models: Mapping[str, str]
) -> list[str]:
    """Return which labels are paired because they name one model, and how to pair an old and a new one that are not.

    Parameters
    ----------
    pairs
        Those of encoders before and after.
    """
    notes = [f"{old} and {new} are one model under two labels" for old, new in same_models.items()]
    paired = {label for pair in pairs for label in (pair.old, pair.new)}
    old_labels, new_labels = [], []
    for position, record in _lone_candidates(runs):
        # --map cannot name a setting: its name contains "=".
        if record.name in paired or record.setting:
            continue
        if position == 0:
            old_labels.append(record.name)
        elif position == len(runs) - 1:
            new_labels.append(record.name)
    if old_labels and new_labels:
        old, new = old_labels[0], new_labels[0]
        option = shlex.quote(f"{old}={new}")
        notes.append(f"{old} and {new} are each in one run only; to compare them as before and after: --map {option}")
    return notes


def _notes_on_settings(runs: Sequence[StoredRun]) -> list[str]:
    """Return which settings and versions of the runs differ, one sentence each."""
    last = runs[-1]
    notes = []
    for name in ("seed", "resamples"):
        values = {run.name: str(getattr(run.result, name)) for run in runs}
        if differ(values):
            notes.append(f"{name}: {_listed(values)}; that of {last.name} is used")
    # A result in memory has no record.
    recorded = [run for run in runs if run.record]
    versions = {run.name: str(run.record.get("embassay", "unknown")) for run in recorded}
    if differ(versions):
        notes.append(f"version of embassay: {_listed(versions)}")
    for package in ("torch", "transformers", "sentence-transformers", "numpy"):
        versions = {}
        for run in recorded:
            packages = run.record.get("packages") or {}
            versions[run.name] = packages.get(package, "not installed")
        if differ(versions):
            notes.append(f"version of {package}: {_listed(versions)}")
    for run in runs:
        notes += [f"{run.name}: failed: {failure.sentence}" for failure in run.result.failed]
    return notes


def _listed(values: Mapping[str, str]) -> str:
    """Return the value of each run: ``old 0, new 1``."""
    return ", ".join(f"{name} {value}" for name, value in values.items())
