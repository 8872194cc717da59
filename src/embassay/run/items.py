"""Single items of a run as a data frame: the outcome of each encoder on each item, with texts where they may be shown.

The frame is made from the item scores when it is needed. A run in memory holds the scores; those of a run on disk are
read from its folder, and the corpora are read again for their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import InputError, SourceError, SpecError, UnknownNameError
from embassay.core.result import Example
from embassay.core.store.paths import output_path
from embassay.core.types import AnyCorpus, Corpus, ItemScores
from embassay.run.cuts import limited, load_cuts
from embassay.run.examples import ScoredTask, examples_of_items
from embassay.run.plan import joined_task
from embassay.run.resolve import NamedDiagnostic, load_diagnostic
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.record import RunRecord, RunSettings
from embassay.run.specs import Spec

if TYPE_CHECKING:
    from polars import DataFrame

Value = str | float | int | bool | None
"""A cell of an item frame."""


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

        names = [task.name for task in self.tasks if task.diagnostic.shows_items]
        if diagnostic not in names:
            raise UnknownNameError("diagnostic with items", diagnostic, names)
        rows: list[dict[str, Value]] = []
        for task in self.tasks:
            if task.name == diagnostic:
                rows += self._rows(task)
        # Corpora and encoders may have different columns, in the order in which they are first seen.
        names_of_columns = dict.fromkeys(chain.from_iterable(rows))
        columns = {name: [row.get(name) for row in rows] for name in names_of_columns}
        # The first rows of a column may be empty, so polars has to look at all of them for its type.
        return polars.DataFrame(columns, strict=False)

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
        all_items = np.arange(len(scores.item))
        for example in examples_of_items(task, all_items):
            # The record of an item comes before those of the encoders.
            if example.kind == "item":
                texts = example.texts if self.has_texts else {}
            else:
                yield _row(example, texts, int(units[example.item]))


def _row(example: Example, texts: Mapping[str, str], unit: int) -> dict[str, Value]:
    """Return the record of an encoder on an item as a row.

    Parameters
    ----------
    texts
        The texts of the item by name, passages by their reference; empty if texts may not be shown.
    """
    row: dict[str, Value] = {
        "diagnostic": example.diagnostic,
        "corpus": example.corpus,
        "encoder": example.encoder,
        "item": example.item,
        "unit": unit,
        "subset": example.subset,
        "correct": example.correct,
        "margin": example.margin,
    }
    for name, text in texts.items():
        # A passage is named by its reference, such as "doc#3"; the row has only those that the labels refer to.
        if "#" not in name:
            row[f"text_{name}"] = text
    for name, label in example.labels.items():
        row[f"label_{name}"] = label
        if label in texts:
            row[f"text_{name}"] = texts[label]
    for name, value in example.values.items():
        row[f"value_{name}"] = value
    return row


def items_in(folder: RunFolder, corpora: Sequence[str | AnyCorpus] = ()) -> Items:
    """Return the items of a run on disk.

    Parameters
    ----------
    corpora
        The corpora of the run, where they cannot be read again from their sources.
    """
    record = folder.record()
    has_texts = "settings" not in record or record["settings"].get("texts", True)
    return Items(lambda: list(_read_tasks(folder, record, corpora)), has_texts, folder=folder.path)


def _read_tasks(folder: RunFolder, record: RunRecord, corpora: Sequence[str | AnyCorpus]) -> Iterator[ScoredTask]:
    """Yield the tasks of a run with the scores in its folder.

    Raises
    ------
    SourceError
        If the corpora cannot be read again or have changed, or if there are no scores.
    """
    corpus_of = read_corpora(folder.path, record, corpora)
    by_fingerprint = {corpus.fingerprint: corpus for corpus in corpus_of.values()}
    by_fingerprint |= {corpus.whole.fingerprint: corpus.whole for corpus in corpus_of.values() if corpus.is_cut}
    scores_of_task = _stored_scores(folder)
    for diagnostic, _version, options, key in record["settings"]["diagnostics"]:
        # The cuts of a corpus are one task.
        scores = scores_of_task.pop((diagnostic, corpus_of[key].name), None) if key in corpus_of else None
        if scores:
            fingerprints = dict.fromkeys(one.origin.corpus_fingerprint for one in scores)
            read = {fingerprint: by_fingerprint[fingerprint] for fingerprint in fingerprints}
            method = load_diagnostic(Spec(diagnostic, options=options)).method
            yield ScoredTask(diagnostic, method, read, tuple(scores), options)


def _stored_scores(folder: RunFolder) -> dict[tuple[str, str], list[ItemScores]]:
    """Return by diagnostic and corpus the stored scores of the candidates in a result, in its order.

    The folder may also hold scores of encoders that are no longer in the run. They are left out.
    """
    candidates = [encoder.name for encoder in results.read(folder.path / "result.json").encoders]
    scores_of_task: dict[tuple[str, str], list[ItemScores]] = {}
    for scores in folder.stored():
        origin = scores.origin
        if origin.encoder in candidates:
            scores_of_task.setdefault((origin.diagnostic, origin.corpus), []).append(scores)
    for task_scores in scores_of_task.values():
        task_scores.sort(key=lambda scores: candidates.index(scores.origin.encoder))
    return scores_of_task


def read_corpora(path: Path, record: RunRecord, corpora: Sequence[str | AnyCorpus] = ()) -> dict[str, AnyCorpus]:
    """Return the corpora of a run by name: those in ``corpora``, or else read again from their sources.

    Raises
    ------
    SourceError
        If a corpus cannot be read again, is missing, or has changed since the run.
    """
    if "settings" not in record or "sources" not in record:
        raise SourceError("scores of single items need the folder of a finished run", path)
    loaded = _load_again(path, record, corpora)
    corpus_of = {corpus.key: corpus for corpus in loaded}
    joining = joining_diagnostics(record["settings"])
    for name, (diagnostic, pair) in joining.items():
        if corpus_of.keys() >= set(pair):
            corpus_of[name] = joined_task(diagnostic, pair, loaded).corpus
    missing: list[str] = []
    for name, fingerprint in record["settings"]["corpora"]:
        if name not in corpus_of:
            needed = joining[name][1] if name in joining else (name,)
            missing += [member for member in needed if member not in corpus_of]
        elif corpus_of[name].fingerprint != fingerprint:
            raise SourceError(f"the corpus {name!r} is not the corpus of this run, or has changed since", path)
    if missing:
        named = ", ".join(dict.fromkeys(missing))
        raise SourceError(f"give the corpora that were made in Python as corpora=: {named}", path)
    return {name: corpus_of[name] for name, _ in record["settings"]["corpora"]}


def _load_again(path: Path, record: RunRecord, corpora: Sequence[str | AnyCorpus]) -> list[AnyCorpus]:
    """Return the given corpora, or else those of the sources of a run, with the limit of the run.

    Raises
    ------
    SourceError
        If a corpus cannot be read again.
    """
    sources = record["sources"]
    to_load: list[str | Spec | AnyCorpus] = list(corpora)
    if not to_load:
        to_load = [Spec(**spec) for spec in sources["corpora"]]
    loaded: list[AnyCorpus] = []
    for source in to_load:
        if isinstance(source, Corpus):
            loaded.append(source)
            continue
        try:
            loaded += load_cuts(source, follow_links=sources["follow_links"])
        except InputError as error:
            raise SourceError(f"its corpora cannot be read again; give them as corpora= ({error})", path) from None
    if sources["limit"] is None:
        return loaded
    return limited(loaded, sources["limit"], record["settings"]["seed"])


def joining_diagnostics(settings: RunSettings) -> dict[str, tuple[NamedDiagnostic, tuple[str, str]]]:
    """Return by corpus the diagnostic that made it of two others, and their names."""
    joining: dict[str, tuple[NamedDiagnostic, tuple[str, str]]] = {}
    for name, _version, options, corpus in settings["diagnostics"]:
        diagnostic = load_diagnostic(Spec(name, options=options))
        if pair := diagnostic.method.pair:
            joining[corpus] = (diagnostic, pair)
    return joining
