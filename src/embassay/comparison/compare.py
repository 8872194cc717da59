"""Runs side by side, from other machines, months and versions; nothing is encoded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embassay.comparison.differences import Change, ColumnPair, differences
from embassay.comparison.runs import StoredRun, read_run
from embassay.core.columns import paired
from embassay.core.errors import InputError, SourceError, SpecError, UnknownNameError
from embassay.core.result import Result, record_of
from embassay.core.types import Draws

PROPERTIES = ("spec", "revision", "dim", "parameters", "max_tokens", "similarity", "prompts", "price")
"""The fields of an encoder's record that may explain a difference."""
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
    notes
        What does not match between the runs, and what is not compared.
    """

    runs: tuple[str, ...]
    differences: tuple[Change, ...] = field(repr=False)
    facts: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...]


EncoderPair = tuple[str, tuple[StoredRun, str], tuple[StoredRun, str]]
"""What is shown, and an old and a new encoder: the run and the label in it."""


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

    Examples
    --------
    >>> before = ea.assay("m=bow", "handbook", "retrieval", baselines=False)
    >>> after = ea.assay("m=hashing,dim=8", "handbook", "retrieval", baselines=False)
    >>> len(ea.compare([before, after]).differences) > 0
    True
    """
    if isinstance(runs, (str, Path, Result)) or len(runs) < 2:
        raise SpecError("compare takes a list of two runs or more")
    stored = [read_run(run, name) for run, name in zip(runs, _names(runs), strict=True)]
    encoders = list(_pairs(stored, mapping or {})) or list(_against_reference(stored))
    tasks = [task for task in stored[0].tasks if all(task in run.tasks for run in stored)]
    pairs, notes, refused = list[ColumnPair](), list(_notes_on_settings(stored)), list[str]()
    headlines = {
        (run.name, column.task, column.encoder): column
        for run in stored
        for column in run.columns
        if column.is_headline
    }
    for task in tasks:
        for name, *sides in encoders:
            old, new = (headlines.get((run.name, task, label)) for run, label in sides)
            if old and new:
                try:
                    old, new, differs = paired(old, new)
                    notes += differs
                    pairs.append(ColumnPair(old, new, name, new.heading, new.margin or 0.0))
                except InputError as error:
                    refused.append(f"{' on '.join(task)} is not compared: {error}")
    if not tasks or (refused and not pairs):
        has = [f"{run.name} has {', '.join(map(' on '.join, run.tasks))}" for run in stored]
        raise SourceError(f"these runs have nothing in common: {'; '.join([*has, *refused])}", stored[-1].path)
    others = {f"{' on '.join(task)} is not compared" for run in stored for task in run.tasks if task not in tasks}
    notes += [*refused, *(f"{one}: not all of these runs have it" for one in sorted(others))]
    last = stored[-1].result
    changes = differences(pairs, Draws(last.seed, last.resamples), stored[-1].texts if texts else {})
    facts = [fact for one in encoders for fact in _facts(*one)]
    names = tuple(run.name for run in stored)
    return RunComparison(names, changes, tuple(facts), tuple(dict.fromkeys(notes)))


def _names(runs: Sequence[str | Path | Result]) -> list[str]:
    """Return a name for each run: its folder's, with its place where another one has the same; ``result 2``."""
    names = ["result" if isinstance(run, Result) else Path(run).expanduser().resolve().name for run in runs]
    return [name if names.count(name) == 1 else f"{name} {number}" for number, name in enumerate(names, start=1)]


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
    holders: dict[str, list[StoredRun]] = {}
    for run in runs:
        for record in run.result.encoders:
            holders.setdefault(record.name, []).append(run)
    for label in (*mapping, *mapping.values()):
        if label not in holders:
            raise UnknownNameError("label in --map", label, holders)
    for label, (first, *_) in holders.items():
        new_label = mapping.get(label, label)
        later = [run for run in holders[new_label] if runs.index(run) > runs.index(first)]
        if label in mapping and not later:
            raise SpecError(f"--map {label}={new_label}: no run after {first.name} has {new_label!r}")
        for run in later if label in mapping or label in candidates else ():
            name = label if new_label == label else f"{label} → {new_label}"
            shown = name if len(later) == 1 else f"{name} ({first.name} → {run.name})"
            yield shown, (first, label), (run, new_label)


def _against_reference(runs: Sequence[StoredRun]) -> Iterator[EncoderPair]:
    """Yield the reference of the first run with each other candidate of all runs."""
    first = runs[0]
    references = [verdict.reference for verdict in first.result.verdicts if verdict.reference] or first.candidates
    others = [(run, label) for run in runs for label in run.candidates if label not in references[:1]]
    for run, label in others if references else ():
        yield f"{references[0]} → {label}", (first, references[0]), (run, label)


def _facts(name: str, *sides: tuple[StoredRun, str]) -> Iterator[str]:
    """Yield what differs between the encoders of a pair, other than scores."""
    old, new = (record_of(run.result.encoders, label) for run, label in sides)
    for fact in PROPERTIES:
        before, after = getattr(old, fact), getattr(new, fact)
        if before != after:
            texts = ["none" if value is None else str(value) for value in (before, after)]
            yield f"{name}: {fact.replace('_', ' ')} {' → '.join(texts)}"


def _notes_on_settings(runs: Sequence[StoredRun]) -> Iterator[str]:
    """Yield which settings and versions of the runs differ, and what failed, one sentence each."""
    for run in runs:
        yield from (f"{run.name}: failed: {failure.sentence}" for failure in run.result.failed)
    of_runs = [_settings(run) for run in runs]
    for name in of_runs[0]:
        values = [settings[name] for settings in of_runs]
        if len({*values}) > 1:
            yield f"{name}: {', '.join(f'{run.name} {value}' for run, value in zip(runs, values, strict=True))}"


def _settings(run: StoredRun) -> dict[str, object]:
    """Return the settings of a run and its versions; a result in memory has no record of versions."""
    packages = run.record.get("packages", {})
    return {
        "seed": run.result.seed,
        "resamples": run.result.resamples,
        "embassay": run.record.get("embassay", "unknown"),
        **{name: packages.get(name, "not installed") for name in PACKAGES},
    }
