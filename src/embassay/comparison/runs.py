"""Finished runs, and the items that several of them have in common.

A run keeps the scores of each encoder on each item (``scores/``) and a hash of each item (``items/``). Two runs are
compared on the items that both have: the same content, whatever their ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from embassay.core.errors import InputError, SourceError, SpecError
from embassay.core.result import Result
from embassay.core.store.paths import source_path
from embassay.core.types import Diagnostic, ItemScores, content_hash
from embassay.diagnostics.base import DeclaresMetrics
from embassay.diagnostics.metrics.summary import Figures
from embassay.run.items import Items
from embassay.run.resolve import load_diagnostic
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.items import CorpusItems, StoredItem
from embassay.run.runs.record import RunRecord
from embassay.run.specs import Spec
from embassay.stats.units import Ints, merged_units

TaskName = tuple[str, str]
"""Diagnostic and corpus, by their labels."""


@dataclass(frozen=True)
class StoredTask:
    """One diagnostic on one corpus in a finished run.

    Attributes
    ----------
    options
        The options of the diagnostic, as they were given.
    version
        Of the diagnostic.
    fingerprint
        Of the corpus.
    scores
        By the label of the encoder, in the order of the run.
    items
        The items of the corpus by their ids; empty where the run has no list of them.
    reduced
        Whether only the scores are kept that a check reads.
    documents
        A hash of the documents that are searched; empty where there are none.
    """

    diagnostic: str
    corpus: str
    options: Mapping[str, object]
    version: str
    fingerprint: str
    scores: Mapping[str, ItemScores]
    items: Mapping[str, StoredItem]
    reduced: bool = False
    documents: str = ""

    @property
    def name(self) -> TaskName:
        """Diagnostic and corpus."""
        return self.diagnostic, self.corpus

    @property
    def score_options(self) -> str:
        """The options that affect item scores, in canonical form."""
        return self.some_scores.origin.options

    @property
    def some_scores(self) -> ItemScores:
        """The scores of some encoder: items and units are the same for all."""
        return next(iter(self.scores.values()))

    def with_only(self, labels: Container[str]) -> StoredTask:
        """Return the task with the scores of some encoders only."""
        return replace(self, scores={label: scores for label, scores in self.scores.items() if label in labels})


@dataclass(frozen=True)
class StoredRun:
    """A finished run, as its folder holds it.

    Attributes
    ----------
    name
        What the run is called in messages and tables.
    record
        The content of ``run.json``.
    """

    name: str
    path: Path
    result: Result
    record: RunRecord = field(repr=False)
    tasks: Mapping[TaskName, StoredTask] = field(repr=False)

    @property
    def encoders(self) -> tuple[str, ...]:
        """The labels of the encoders."""
        return tuple(record.name for record in self.result.encoders)


def read_run(path: str | Path | Result, name: str = "", *, may_have_failed: bool = False) -> StoredRun:
    """Read a finished run.

    Parameters
    ----------
    path
        The run's folder, or what ``embassay bless`` has made of it; or its result.
    name
        What the run is called; the name of its folder if empty.
    may_have_failed
        Whether a run in which everything failed is read as well; it has no tasks.

    Raises
    ------
    SourceError
        If it is not a finished run, or item scores are missing or damaged.
    """
    if isinstance(path, Result):
        return run_in_memory(path, name or "result")
    path = source_path(path)
    if path.name in ("result.json", "run.json") and path.is_file():
        path = path.parent
    folder = RunFolder(path)
    if not path.exists():
        raise SourceError("no such folder", path)
    if not (path / "result.json").is_file():
        raise SourceError("not a finished run: there is no result.json in this folder", path)
    record = folder.record()
    if "settings" not in record:
        raise SourceError("run.json is missing or damaged; repeat the run's command", path)
    if record.get("state") == "running":
        raise SourceError("this run did not finish; repeat the command to continue it", path)
    result = results.read(path / "result.json")
    stored_scores = folder.stored(any_version=True)
    tasks = {task.name: task for task in _tasks(record, result, stored_scores, folder.read_items(), path)}
    is_usable_failure = may_have_failed and result.failed
    if not tasks and not is_usable_failure:
        raise SourceError("nothing was scored in this run", path)
    return StoredRun(name or path.resolve().name, path, result, record, tasks)


def run_in_memory(result: Result, name: str) -> StoredRun:
    """Return the run that a result came from, with the item scores that it or its folder still has.

    Raises
    ------
    SpecError
        If it has none: it was read from a file.
    """
    if not isinstance(result.items, Items):
        raise SpecError("this result has no item scores; pass the run's folder")
    if result.items.folder is not None:
        return read_run(result.items.folder, name)
    tasks = {}
    for task in result.items.tasks:
        # All encoders of a task are scored by the same diagnostic on the same corpus.
        origin = task.scores[0].origin
        hashes = CorpusItems.of(task.corpus, texts=result.items.has_texts)
        stored = StoredTask(
            diagnostic=task.name,
            corpus=origin.corpus,
            options=task.options,
            version=origin.version,
            fingerprint=origin.corpus_fingerprint,
            scores={scores.origin.encoder: scores for scores in task.scores},
            items={item.id: item for item in hashes.items},
            documents=hashes.documents,
        )
        tasks[stored.name] = stored
    return StoredRun(name, Path(name), result, {}, tasks)


def _tasks(
    record: RunRecord, result: Result, stored: Iterable[ItemScores], items: Mapping[str, CorpusItems], path: Path
) -> Iterator[StoredTask]:
    """Yield the tasks of a run with their scores; a task that no encoder has scores for is left out.

    The variants of a corpus are one task, in which an encoder on another variant is another encoder.

    Parameters
    ----------
    stored
        All scores in the run's folder, also those of encoders that have failed since.
    items
        By the fingerprint of the corpus.

    Raises
    ------
    SourceError
        If the scores of an encoder that has rows in the result are missing, or the scores of
        a task are of different numbers of items.
    """
    settings = record["settings"]
    fingerprint_of = dict(settings["corpora"])
    fingerprints: dict[TaskName, list[str]] = {}
    methods = {}
    of_task: dict[TaskName, dict[str, ItemScores]] = {}
    for scores in stored:
        of_task.setdefault((scores.origin.diagnostic, scores.origin.corpus), {})[scores.origin.encoder] = scores
    with_rows = {(row.diagnostic, row.corpus, row.encoder): None for row in result.rows if row.encoder}
    for diagnostic, version, options, key in settings["diagnostics"]:
        if key not in fingerprint_of:
            raise SourceError("run.json is damaged; repeat the run's command", path)
        methods[diagnostic] = (version, options)
        for corpus in dict.fromkeys(name for of, name, _ in with_rows if of == diagnostic):
            if key == corpus or key.startswith(f"{corpus},"):
                fingerprints.setdefault((diagnostic, corpus), []).append(fingerprint_of[key])
    for (diagnostic, corpus), (first_fingerprint, *others) in fingerprints.items():
        kept = {}
        for record_of in result.encoders:
            label = record_of.name
            if (diagnostic, corpus, label) not in with_rows:
                continue
            one = of_task.get((diagnostic, corpus), {}).get(label)
            if one is None:
                raise _damaged(path, f"of {label} ({diagnostic} on {corpus})")
            origin = replace(one.origin, baseline=record_of.baseline, reference=label == settings["reference"])
            kept[label] = replace(one, origin=origin)
        if len({len(one.item) for one in kept.values()}) > 1 and not others:
            raise _damaged(path, f"of {diagnostic} on {corpus}")
        corpus_items = items.get(first_fingerprint)
        listed = corpus_items.items if corpus_items else ()
        version, options = methods[diagnostic]
        yield StoredTask(
            diagnostic=diagnostic,
            corpus=corpus,
            options=options,
            version=version,
            fingerprint=content_hash([first_fingerprint, *others]) if others else first_fingerprint,
            scores=kept,
            items={item.id: item for item in listed},
            # Only a baseline has reduced tasks: those whose scores were too large to be kept whole.
            reduced=[diagnostic, corpus] in record.get("reduced", []),
            documents=corpus_items.documents if corpus_items else "",
        )


def _damaged(path: Path, what: str) -> SourceError:
    """Return the error for scores that cannot be used: ``of e5 (retrieval on docs)``."""
    return SourceError(f"the item scores {what} are missing or damaged; repeat the run's command", path)


@dataclass(frozen=True)
class CommonTask:
    """A diagnostic on one corpus in several runs, reduced to the items that all of them have.

    Attributes
    ----------
    method
        The diagnostic, with the options of the last run.
    scores
        By run, then by encoder: scores of the same items in the same order, with the same units.
    items
        The (n,) items of the first run, or None where runs have no list of items; they are then of one corpus.
    left_out
        By run, how many of its items another run does not have.
    notes
        What does not match between the runs, one sentence each.
    """

    diagnostic: str
    corpus: str
    method: Diagnostic
    scores: Mapping[str, Mapping[str, ItemScores]] = field(repr=False)
    items: tuple[StoredItem, ...] | None = field(repr=False)
    left_out: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> TaskName:
        """Diagnostic and corpus."""
        return self.diagnostic, self.corpus

    @property
    def count(self) -> int:
        """The number of common items."""
        (some_scores, *_), *_ = (of_run.values() for of_run in self.scores.values())
        return len(some_scores.item)

    @cached_property
    def fingerprint(self) -> str:
        """That of the corpus; where corpora differ, a hash of all of them and of the common items."""
        all_scores = chain.from_iterable(of_run.values() for of_run in self.scores.values())
        fingerprints = list(dict.fromkeys(scores.origin.corpus_fingerprint for scores in all_scores))
        if len(fingerprints) == 1:
            return fingerprints[0]
        hashes = [item.hash for item in self.items or ()]
        return content_hash([fingerprints, hashes])


@dataclass(frozen=True)
class Common:
    """What several runs have in common.

    Attributes
    ----------
    tasks
        Diagnostics and corpora that all of the runs have.
    notes
        What cannot be compared and why, and what does not match, one sentence each.
    incomparable
        Why a task that all runs have cannot be compared.
    """

    tasks: tuple[CommonTask, ...]
    notes: tuple[str, ...]
    incomparable: Mapping[TaskName, str] = field(default_factory=dict)


def common_tasks(runs: Sequence[StoredRun], *, may_be_reduced: bool = False) -> Common:
    """Return the tasks that all runs have, on the items that all of them have.

    Parameters
    ----------
    runs
        Two or more, with distinct names; the oldest first.
    may_be_reduced
        Whether scores are enough that a baseline has reduced to what a check reads.

    Raises
    ------
    SourceError
        If the runs have nothing in common; the message names both sides.
    """
    tasks = []
    notes = []
    incomparable = {}
    all_names = dict.fromkeys(name for run in runs for name in run.tasks)
    for name in all_names:
        diagnostic, corpus = name
        title = f"{diagnostic} on {corpus}"
        without = [run.name for run in runs if name not in run.tasks]
        if without:
            notes.append(f"{title} is not compared: {', '.join(without)} does not have it")
            continue
        reduced = [run.name for run in runs if run.tasks[name].reduced]
        if reduced and not may_be_reduced:
            incomparable[name] = f"{', '.join(reduced)} holds only the scores that 'embassay check' reads"
            notes.append(f"{title} is not compared: {incomparable[name]}")
            continue
        try:
            task = _common_task({run.name: run.tasks[name] for run in runs})
        except InputError as error:
            incomparable[name] = str(error)
            notes.append(f"{title} is not compared: {error}")
            continue
        tasks.append(task)
        notes += task.notes
    if not tasks:
        sides = "; ".join(f"{run.name} has {_tasks_in_words(run)}" for run in runs)
        message = f"these runs have nothing in common: {sides}"
        # Which run lacks which task can be read from the sides; the reason why a shared task is refused cannot.
        if incomparable:
            message += f" ({'; '.join(notes)})"
        raise SourceError(message, runs[-1].path)
    return Common(tuple(tasks), tuple(notes), incomparable)


def _tasks_in_words(run: StoredRun) -> str:
    """Return the tasks of a run: ``retrieval on docs, isotropy on docs``."""
    return ", ".join(f"{diagnostic} on {corpus}" for diagnostic, corpus in run.tasks)


def _common_task(tasks: Mapping[str, StoredTask]) -> CommonTask:
    """Reduce a task of several runs to the common items.

    Parameters
    ----------
    tasks
        By the name of the run, the oldest first.

    Raises
    ------
    InputError
        If the scores cannot be compared, or no item is common.
    """
    # What changes the item scores must be the same in all runs.
    versions = {run: task.version for run, task in tasks.items()}
    if differ(versions):
        raise InputError(_all_sides("the diagnostic has another version", versions))
    score_options = {run: task.score_options or "the defaults" for run, task in tasks.items()}
    if differ(score_options):
        raise InputError(_all_sides("its options differ", score_options))

    last_run, last = list(tasks.items())[-1]
    title = f"{last.diagnostic} on {last.corpus}"
    notes = []
    options = {run: _as_text(task.options) for run, task in tasks.items()}
    if differ(options):
        notes.append(f"{title}: {_all_sides('its options differ', options)}; those of {last_run} are used")
    method = load_diagnostic(Spec(last.diagnostic, options=dict(last.options))).method
    fingerprints = {run: task.fingerprint for run, task in tasks.items()}
    if not differ(fingerprints):
        task = _same_corpus(tasks, method)
        return replace(task, notes=tuple(notes))

    task = _different_corpora(tasks, method)
    difference = _all_sides("the corpus differs", fingerprints)
    left_out = [f"{count:,} of {run}" for run, count in task.left_out.items() if count]
    note = f"{title}: {difference}; compared on {task.count:,} common items (left out: {', '.join(left_out) or 'none'})"
    if len({task.documents for task in tasks.values()}) > 1:
        note += "; the documents differ or are cut in another way, and a difference may come from that"
    return replace(task, notes=(*notes, note))


def _as_text(options: Mapping[str, object]) -> str:
    """Return options as users write them: ``k=5,psi=95``."""
    return ",".join(f"{name}={value}" for name, value in sorted(options.items())) or "the defaults"


def differ(values: Mapping[str, str]) -> bool:
    """Return whether the runs have different values."""
    return len(set(values.values())) > 1


def _all_sides(problem: str, values: Mapping[str, str]) -> str:
    """Return a problem with the value of each run."""
    sides = ", ".join(f"{run}: {value}" for run, value in values.items())
    return f"{problem} ({sides})"


def _same_corpus(tasks: Mapping[str, StoredTask], method: Diagnostic) -> CommonTask:
    """Return the task of runs on the same corpus: all items are common."""
    first = next(iter(tasks.values()))
    ids = [str(item) for item in first.some_scores.item]
    return CommonTask(
        diagnostic=first.diagnostic,
        corpus=first.corpus,
        method=method,
        scores={run: task.scores for run, task in tasks.items()},
        items=_listed_items(first.items, ids),
        left_out=dict.fromkeys(tasks, 0),
    )


def _different_corpora(tasks: Mapping[str, StoredTask], method: Diagnostic) -> CommonTask:
    """Return the task of runs on different corpora, reduced to the items with the same content.

    The items have the ids and the order of the first run. Two items are in one unit if they are in any run.
    """
    first_run, first = next(iter(tasks.items()))
    places_in = {run: places_by_content(run, task) for run, task in tasks.items()}
    in_all_runs = set(places_in[first_run]).intersection(*places_in.values())
    common_contents = [content for content in places_in[first_run] if content in in_all_runs]
    if not common_contents:
        raise InputError("the corpora have no item in common")

    # By run, (m,) where the m common items stand in its scores.
    rows: dict[str, Ints] = {}
    partitions = []
    for run, task in tasks.items():
        rows[run] = np.array([places_in[run][content] for content in common_contents], dtype=np.int64)
        partitions.append(task.some_scores.unit[rows[run]])
    unit = merged_units(partitions)
    ids = first.some_scores.item[rows[first_run]].tolist()

    scores: dict[str, dict[str, ItemScores]] = {}
    left_out = {}
    for run, task in tasks.items():
        scores[run] = {}
        for label, scores_of_encoder in task.scores.items():
            scores[run][label] = _only_rows(scores_of_encoder, rows[run], unit, ids)
        left_out[run] = len(task.some_scores.item) - len(common_contents)
    return CommonTask(
        diagnostic=first.diagnostic,
        corpus=first.corpus,
        method=method,
        scores=scores,
        items=_listed_items(first.items, ids),
        left_out=left_out,
    )


def _listed_items(items: Mapping[str, StoredItem], ids: Sequence[str]) -> tuple[StoredItem, ...] | None:
    """Return the items with these ids; None if some are not listed."""
    if any(item not in items for item in ids):
        return None
    return tuple(items[item] for item in ids)


def places_by_content(run: str, task: StoredTask) -> dict[tuple[str, int], int]:
    """Return the place of each item in the scores.

    Returns
    -------
    By the hash of the item's content and the number of earlier items with the same content. So where a corpus has a
    content twice, the second one of a run is matched with the second one of another.

    Raises
    ------
    InputError
        If the run has no list of items, or the items of the diagnostic are no items of the corpus.
    """
    if not task.items:
        raise InputError(f"the corpora differ, and {run} has no list of items; repeat its command with --overwrite")
    ids = [str(item) for item in task.some_scores.item]
    if any(item not in task.items for item in ids):
        raise InputError("the corpora differ, and this diagnostic does not score the items of a corpus one by one")
    earlier = Counter[str]()
    places = {}
    for place, item in enumerate(ids):
        content = task.items[item].hash
        places[content, earlier[content]] = place
        earlier[content] += 1
    return places


def _only_rows(scores: ItemScores, rows: Ints, unit: Ints, ids: Sequence[str]) -> ItemScores:
    """Return the scores of some items only.

    Parameters
    ----------
    rows
        (m,) the places of the items in the scores.
    unit, ids
        Their m units and ids, which are the same for all runs.
    """
    labels = {}
    for name, all_labels in scores.labels.items():
        # An array of strings is as wide as its longest one, which may have been left out. The digest depends on that.
        labels[name] = np.array(all_labels[rows].tolist(), dtype=np.str_)
    values = {name: all_values[rows] for name, all_values in scores.values.items()}
    return replace(scores, item=np.array(ids), unit=unit, labels=labels, values=values)


def figures_of(task: StoredTask) -> Figures[Any] | None:
    """Return the declared metrics of a task; None where its diagnostic declares none."""
    method = load_diagnostic(Spec(task.diagnostic, options=dict(task.options))).method
    return method.figures(list(task.scores.values())) if isinstance(method, DeclaresMetrics) else None
