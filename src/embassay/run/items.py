"""Single items of a run: those that a result shows, the values of its metrics, and all of them as a data frame.

A result shows a sample of items, which depends on the seed and is the same for all encoders. Frames are made from the
item scores when they are needed. A run in memory holds the scores; those of a run on disk are read from its folder, and
the corpora are read again for their texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.arrays import Ints
from embassay.core.columns import ItemColumn
from embassay.core.errors import InputError, SourceError, SpecError, UnknownNameError
from embassay.core.grouping import grouped
from embassay.core.randomness import generator
from embassay.core.result import Example, Result
from embassay.core.store.paths import output_path
from embassay.core.types import AnyCorpus, ItemScores
from embassay.diagnostics.base import BaseDiagnostic, Outcomes
from embassay.run.cuts import limited
from embassay.run.plan import Task, load_given_corpora
from embassay.run.resolve import CorpusInputs, load_diagnostic
from embassay.run.runs.folder import RunFolder, documents_hash, item_hash, text_hash
from embassay.run.specs import Spec

if TYPE_CHECKING:
    from polars import DataFrame


@dataclass(frozen=True)
class ScoredTask:
    """One diagnostic on one corpus, with the scores of all encoders.

    Attributes
    ----------
    corpora
        By its fingerprint, each corpus that candidates were scored on: one, or the cuts of one.
    scores
        The scores of all candidates, those of one encoder next to each other.
    """

    name: str
    diagnostic: BaseDiagnostic
    corpora: Mapping[str, AnyCorpus]
    scores: tuple[ItemScores, ...]

    @property
    def corpus(self) -> AnyCorpus:
        """The first of the corpora; all have the same items where items are samples."""
        return next(iter(self.corpora.values()))


def scored_tasks(tasks: Iterable[Task], scores: Iterable[ItemScores]) -> list[ScoredTask]:
    """Return each diagnostic on each corpus, whose cuts are one task, with all its scores; none without scores.

    Parameters
    ----------
    scores
        In the order of the candidates.
    """
    scores_of = grouped(scores, lambda one: (one.origin.diagnostic, one.origin.corpus))
    scored = []
    for (name, corpus), cuts in grouped(tasks, lambda task: (task.name, task.corpus.name)).items():
        if of_this := scores_of.get((name, corpus)):
            of_content = {task.corpus.fingerprint: task.corpus for task in cuts}
            fingerprints = [one.origin.corpus_fingerprint for one in of_this]
            corpora = {fingerprint: of_content[fingerprint] for fingerprint in fingerprints}
            scored.append(ScoredTask(name, cuts[0].diagnostic, corpora, tuple(of_this)))
    return scored


def examples_of(task: ScoredTask, most: int | None, seed: int) -> tuple[Example, ...]:
    """Return the records of a sample of items; none where the diagnostic shows no items.

    Parameters
    ----------
    most
        At most this many items; None for all.
    """
    if not task.diagnostic.shows_items or most == 0:
        return ()
    outcomes = task.diagnostic.outcomes(task.scores)
    items = sample_items(outcomes, most, seed, task.name, task.corpus.fingerprint)
    return tuple(examples_of_items(task, items))


def examples_of_items(task: ScoredTask, items: Ints) -> Iterator[Example]:
    """Yield for each item its own record, and after it those of the encoders.

    Parameters
    ----------
    items
        (m,) their indices.
    """
    # Each cut has a record of every item. They become one, with the passages of all cuts.
    records: dict[str, list[Example]] = {}
    for fingerprint, corpus in task.corpora.items():
        scores = [one for one in task.scores if one.origin.corpus_fingerprint == fingerprint]
        for example in task.diagnostic.examples(corpus, scores, items):
            if len(task.corpora) > 1:
                example = with_setting_in_references(example, corpus.cut)
            of_item = records.setdefault(example.item, [])
            if example.kind == "item" and of_item:
                of_item[0] = replace(of_item[0], texts={**example.texts, **of_item[0].texts})
            else:
                of_item.append(example)
    yield from chain.from_iterable(records.values())


def with_setting_in_references(example: Example, setting: str) -> Example:
    """Return an example whose references to passages name the setting: ``doc#3`` becomes ``doc#3 (passages=100)``.

    Passage 3 of a document is another text in each cut. Only references to passages have a number sign.
    """

    def named(reference: str) -> str:
        return f"{reference} ({setting})" if setting and "#" in reference else reference

    texts = {named(name): text for name, text in example.texts.items()}
    labels = {name: named(label) for name, label in example.labels.items()}
    return replace(example, texts=texts, labels=labels)


def sample_items(outcomes: Outcomes, most: int | None, seed: int, *purpose: str) -> Ints:
    """Draw at most ``most`` items, stratified by who misses them and by subset.

    The items of a subset that all encoders miss, that some miss and that none misses take turns with those of the other
    subsets. This way the failures of a good encoder are in the sample, but shares in the sample are not those of the
    corpus.

    Parameters
    ----------
    most
        None for all items.
    purpose
        What the sample is for: the same names and seed give the same sample.

    Returns
    -------
    (m,) indices of the items, ascending.
    """
    number = len(outcomes.subset)
    if most is None or number <= most:
        return np.arange(number)
    misses = (outcomes.correct == 0).sum(axis=0)
    # 0: none misses the item, 1: some, 2: all.
    missed_by = np.sign(misses) + (misses == len(outcomes.correct))
    items = generator(seed, "examples", *purpose).permutation(number)
    turns = []
    taken = Counter[tuple[str, int]]()
    for item in items.tolist():
        stratum = (str(outcomes.subset[item]), int(missed_by[item]))
        turns.append(taken[stratum])
        taken[stratum] += 1
    # Of the items with the same turn, those that were drawn first.
    return np.sort(items[np.argsort(turns, kind="stable")][:most])


def columns_of(tasks: Iterable[ScoredTask]) -> Iterator[ItemColumn]:
    """Yield the item values of each declared metric and encoder; a diagnostic that declares no metrics has none."""
    for task in tasks:
        if figures := task.diagnostic.figures(task.scores):
            contents = {sample.id: (item_hash(sample), text_hash(sample)) for sample in task.corpus.samples}
            yield from figures.columns(contents, documents_hash(task.corpus))


Value = str | float | int | bool | None
"""A cell of an item frame."""
PLACE = ("diagnostic", "corpus", "encoder", "item")
OUTCOME = ("subset", "correct", "margin")


@dataclass(frozen=True)
class Items:
    """The items of a run.

    Attributes
    ----------
    read_tasks
        Returns the scored tasks of the run; called once, when the first frame is made.
    has_texts
        Whether texts may be shown: not in a run with ``--no-texts``.
    write_run
        Writes the run into a folder, and replaces another run there if the second argument is true.
    folder
        Where the run is, if it is on disk.
    """

    read_tasks: Callable[[], Sequence[ScoredTask]]
    has_texts: bool = True
    write_run: Callable[[Path, bool], None] | None = None
    folder: Path | None = None

    @cached_property
    def tasks(self) -> Sequence[ScoredTask]:
        """The scored tasks of the run."""
        return self.read_tasks()

    def frame(self, diagnostic: str) -> DataFrame:
        """Return one row for each item and encoder; see :meth:`embassay.Result.scores`.

        Raises
        ------
        UnknownNameError
            If the run has no such diagnostic, or if it shows no single items.
        """
        import polars

        shown = grouped(filter(lambda task: task.diagnostic.shows_items, self.tasks), lambda task: task.name)
        if diagnostic not in shown:
            raise UnknownNameError("diagnostic with items", diagnostic, shown)
        rows = list(chain.from_iterable(map(self._rows, shown[diagnostic])))
        # Corpora and encoders may have different columns, and the first rows of a column may be empty.
        return polars.DataFrame(rows, strict=False, infer_schema_length=None)

    def save(self, folder: str | Path, *, overwrite: bool) -> Path:
        """Write the run into a folder and return its path; see :meth:`embassay.Result.save`."""
        if self.write_run is None:
            raise SpecError(f"this result was read from {self.folder}; copy that folder")
        path = output_path(folder)
        self.write_run(path, overwrite)
        return path

    def _rows(self, task: ScoredTask) -> Iterator[dict[str, Value]]:
        """Yield one row for each item and encoder of a task."""
        scores = task.scores[0]
        units = dict(zip(scores.item.astype(str).tolist(), scores.unit.tolist(), strict=True))
        texts: Mapping[str, str] = {}
        for example in examples_of_items(task, np.arange(len(scores.item))):
            # The record of an item comes before those of the encoders.
            if example.kind == "item":
                texts = example.texts if self.has_texts else {}
                continue
            row: dict[str, Value] = {name: getattr(example, name) for name in PLACE}
            row["unit"] = int(units[example.item])
            row |= {name: getattr(example, name) for name in OUTCOME}
            # A passage is named by its reference, such as "doc#3"; the row has only those that the labels refer to.
            row |= {f"text_{name}": text for name, text in texts.items() if "#" not in name}
            for name, label in example.labels.items():
                row[f"label_{name}"] = label
                if label in texts:
                    row[f"text_{name}"] = texts[label]
            yield row | {f"value_{name}": value for name, value in example.values.items()}


def items_in(folder: RunFolder, result: Result, corpora: Sequence[str | AnyCorpus] = ()) -> Items:
    """Return the items of a run on disk.

    Parameters
    ----------
    result
        That of the run.
    corpora
        The corpora of the run, where they cannot be read again from their sources.
    """
    settings = folder.record().get("settings")
    has_texts = settings is None or settings.get("texts", True)
    return Items(lambda: _read_tasks(folder, result, corpora), has_texts, folder=folder.path)


def _read_tasks(folder: RunFolder, result: Result, corpora: Sequence[str | AnyCorpus]) -> list[ScoredTask]:
    """Return the tasks of a run that show single items, with the scores in its folder.

    Raises
    ------
    SourceError
        If the corpora cannot be read again or have changed, or if there are no scores.
    """
    record = folder.record()
    settings, sources = record.get("settings"), record.get("sources")
    if settings is None or sources is None:
        raise SourceError("scores of single items need the folder of a finished run", folder.path)
    try:
        originals: CorpusInputs = corpora or [Spec(**spec) for spec in sources["corpora"]]
        loaded = load_given_corpora(originals, follow_links=sources["follow_links"])
    except InputError as error:
        reason = f"its corpora cannot be read again; give them as corpora= ({error})"
        raise SourceError(reason, folder.path) from None
    loaded = limited(loaded, sources["limit"], settings["seed"])
    corpus_of = {corpus.key: corpus for corpus in loaded}
    tasks = []
    for key, options_of in settings["diagnostics"].items():
        for name, options in options_of.items():
            method = load_diagnostic(Spec(name, options=options)).method
            if not method.shows_items:
                continue
            corpus = corpus_of.get(key)
            if corpus is None or corpus.fingerprint != settings["corpora"][key]:
                reason = f"the corpus {key!r} has changed since this run, or is missing; give it as corpora="
                raise SourceError(reason, folder.path)
            tasks.append(Task(name, method, corpus, options))
    # The folder may also hold scores of encoders that are no longer in the run.
    scores_of = grouped(folder.stored(), lambda scores: scores.origin.encoder)
    stored = chain.from_iterable(scores_of.get(encoder.name, ()) for encoder in result.encoders)
    return scored_tasks(tasks, stored)
