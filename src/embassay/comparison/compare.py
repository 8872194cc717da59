"""Runs side by side, from other machines, months and versions; nothing is encoded."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embassay.comparison.differences import Change, OverCorpora, Pair, differences, mismatch, over_corpora, paired
from embassay.comparison.runs import StoredRun, read_run
from embassay.core.errors import InputError, SourceError, SpecError, UnknownNameError
from embassay.core.result import EncoderRecord, Result, record_of
from embassay.core.types import Draws

PROPERTIES = {
    "spec": "spec",
    "fingerprint": "fingerprint",
    "revision": "revision",
    "dimension": "dim",
    "parameters": "parameters",
    "maximum tokens": "max_tokens",
    "similarity": "similarity",
    "prompts": "prompts",
    "price of a million tokens": "price",
}
"""What a result says of an encoder itself, and the fields that hold it."""
PACKAGES = ("torch", "transformers", "sentence-transformers", "numpy")


@dataclass(frozen=True)
class RunComparison:
    """Several runs side by side.

    Attributes
    ----------
    runs
        Their names, the oldest first.
    differences
        Of each pair of encoders on each diagnostic with a headline and each corpus: encoders that two runs have under
        one label, or that ``mapping`` pairs; where there are none, each candidate and the reference of the first run.
    facts
        Dimension, price and others that differ between the two encoders of a pair, one sentence each.
    summaries
        Of each pair and diagnostic that ran on several corpora.
    notes
        What does not match between the runs, and what is not compared.
    """

    runs: tuple[str, ...]
    differences: tuple[Change, ...] = field(repr=False)
    facts: tuple[str, ...] = field(repr=False)
    summaries: tuple[OverCorpora, ...] = field(repr=False)
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class EncoderPair:
    """An encoder of one run, and one of another that it is compared with, by their labels; ``name`` is shown."""

    name: str
    old_run: StoredRun
    old: str
    new_run: StoredRun
    new: str


def compare(
    runs: Sequence[str | Path | Result], mapping: Mapping[str, str] | None = None, *, texts: bool = True
) -> RunComparison:
    """Compare finished runs on the items that both of them have, as ``embassay compare`` does; nothing is encoded.

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
    The differences of each encoder before and after.

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
    encoders = list(_pairs(stored, mapping or {})) or list(_against_reference(stored))
    pairs, notes = list[Pair](), list[str]()
    compared = 0
    for task in dict.fromkeys(task for run in stored for task in run.tasks):
        title = " on ".join(task)
        without = [run.name for run in stored if task not in run.tasks]
        if without:
            notes.append(f"{title} is not compared: {', '.join(without)} does not have it")
            continue
        compared += 1
        for one in encoders:
            old, new = (
                next((one for one in run.columns if one.is_headline and (one.task, one.encoder) == (task, label)), None)
                for run, label in ((one.old_run, one.old), (one.new_run, one.new))
            )
            if old is None or new is None:
                continue
            try:
                notes += mismatch(old, new)
                pairs.append(Pair(*paired(old, new), one.name, new.heading, new.margin or 0.0))
            except InputError as error:
                notes.append(f"{title} is not compared: {error}")
    if not compared or (not pairs and any(" is not compared: " in note for note in notes)):
        sides = "; ".join(f"{run.name} has {', '.join(map(' on '.join, run.tasks))}" for run in stored)
        raise SourceError(f"these runs have nothing in common: {sides} ({'; '.join(notes)})", stored[-1].path)
    known_texts = {content: text for run in stored for content, text in run.texts.items()} if texts else {}
    last = stored[-1].result
    changes = differences(pairs, Draws(last.seed, last.resamples), known_texts)
    notes += [*_notes_on_labels(stored, encoders), *_notes_on_settings(stored)]
    return RunComparison(
        runs=tuple(run.name for run in stored),
        differences=changes,
        facts=tuple(fact for one in encoders for fact in _facts(one)),
        summaries=over_corpora(changes),
        notes=tuple(dict.fromkeys(notes)),
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
        parts.append((path.parent if path.suffix == ".json" else path).parts)
    if len(set(parts)) < len(parts):
        raise SpecError("a run is given twice")
    length = 1
    # "a/run" and "b/run" need two parts, "a" and "b" one.
    while len({path[-length:] for path in parts}) < len(parts):
        length += 1
    return ["/".join(path[-length:]) for path in parts]


def _pairs(runs: Sequence[StoredRun], mapping: Mapping[str, str]) -> Iterator[EncoderPair]:
    """Yield the encoders that several runs have under one label, and those that the mapping pairs.

    The first run that has the encoder is compared with each later one. Baselines are compared only where some run was
    asked for them, or the mapping names them.

    Raises
    ------
    SpecError
        For a label of the mapping that no run has, or no later one.
    """
    candidates = {label for run in runs for label in run.candidates}
    # By label the position of the first run that has it.
    first_run: dict[str, int] = {}
    for position, run in enumerate(runs):
        for record in run.result.encoders:
            first_run.setdefault(record.name, position)
    for label in (*mapping, *mapping.values()):
        if label not in first_run:
            raise UnknownNameError("label in --map", label, set(first_run))
    for label, position in first_run.items():
        old_run, new_label = runs[position], mapping.get(label, label)
        new_runs = [run for run in runs[position + 1 :] if new_label in {one.name for one in run.result.encoders}]
        if label in mapping and not new_runs:
            raise SpecError(f"--map {label}={new_label}: no run after {old_run.name} has {new_label!r}")
        for new_run in new_runs if label in mapping or label in candidates else ():
            name = label if new_label == label else f"{label} → {new_label}"
            if len(new_runs) > 1:
                name = f"{name} ({old_run.name} → {new_run.name})"
            yield EncoderPair(name, old_run, label, new_run, new_label)


def _against_reference(runs: Sequence[StoredRun]) -> Iterator[EncoderPair]:
    """Yield the reference of the first run with each other candidate of all runs."""
    first = runs[0]
    named = [verdict.reference for verdict in first.result.verdicts if verdict.reference]
    reference = next(iter([*named, *first.candidates]), "")
    for run in runs:
        for label in run.candidates:
            if reference and label != reference:
                yield EncoderPair(f"{reference} → {label}", first, reference, run, label)


def _facts(pair: EncoderPair) -> Iterator[str]:
    """Yield what differs between the encoders of a pair, other than scores."""
    old, new = record_of(pair.old_run.result.encoders, pair.old), record_of(pair.new_run.result.encoders, pair.new)
    for name in PROPERTIES:
        before, after = _property(old, name), _property(new, name)
        if before != after:
            yield f"{pair.name}: {name} {before} → {after}"


def _property(encoder: EncoderRecord, name: str) -> str:
    """Return a property of an encoder as text."""
    value = getattr(encoder, PROPERTIES[name])
    if isinstance(value, Mapping):
        value = ", ".join(f"{role}: {prompt!r}" for role, prompt in sorted(value.items()))
    if value is None or value == "":
        return "none"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _notes_on_labels(runs: Sequence[StoredRun], pairs: Sequence[EncoderPair]) -> Iterator[str]:
    """Yield how to pair an old encoder and a new one that are each in one run only."""
    first, last = runs[0].candidates, runs[-1].candidates
    old = [label for label in first if not any(label in run.candidates for run in runs[1:])]
    new = [label for label in last if not any(label in run.candidates for run in runs[:-1])]
    mapped = any((pair.old, pair.new) == (old[:1], new[:1]) for pair in pairs)
    # --map cannot name a setting: its name contains "=".
    if old and new and not mapped and "=" not in old[0] + new[0]:
        option = shlex.quote(f"{old[0]}={new[0]}")
        yield f"{old[0]} and {new[0]} are each in one run only; to compare them as before and after: --map {option}"


def _notes_on_settings(runs: Sequence[StoredRun]) -> Iterator[str]:
    """Yield which settings and versions of the runs differ, and what failed, one sentence each."""
    # A result in memory has no record.
    recorded = [run for run in runs if run.record]
    facts = {name: {run.name: str(getattr(run.result, name)) for run in runs} for name in ("seed", "resamples")}
    facts["version of embassay"] = {run.name: run.record.get("embassay", "unknown") for run in recorded}
    for package in PACKAGES:
        versions = {run.name: run.record.get("packages", {}).get(package, "not installed") for run in recorded}
        facts[f"version of {package}"] = versions
    for name, values in facts.items():
        if len(set(values.values())) > 1:
            used = f"; that of {runs[-1].name} is used" if name in ("seed", "resamples") else ""
            yield f"{name}: {', '.join(f'{run} {value}' for run, value in values.items())}{used}"
    for run in runs:
        yield from (f"{run.name}: failed: {failure.sentence}" for failure in run.result.failed)
