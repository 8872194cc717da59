"""Single items of a run as a data frame: the outcome of each encoder on each item, with texts where they may be shown.

The frame is made from the item scores when it is needed. A run in memory holds the scores; those of a run on disk are
read from its folder, and the corpora are read again for their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import InputError, SourceError, SpecError, UnknownNameError
from embassay.core.store.paths import output_path
from embassay.core.types import AnyCorpus
from embassay.run.cuts import limited
from embassay.run.examples import ScoredTask, examples_of_items, scored_tasks
from embassay.run.plan import load_given_corpora
from embassay.run.resolve import CorpusInputs, load_diagnostic
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder, RunRecord
from embassay.run.specs import Spec

if TYPE_CHECKING:
    from polars import DataFrame

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

        shown = [task for task in self.tasks if task.diagnostic.shows_items]
        if diagnostic not in {task.name for task in shown}:
            raise UnknownNameError("diagnostic with items", diagnostic, [task.name for task in shown])
        rows = [row for task in shown if task.name == diagnostic for row in self._rows(task)]
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


def items_in(folder: RunFolder, corpora: Sequence[str | AnyCorpus] = ()) -> Items:
    """Return the items of a run on disk.

    Parameters
    ----------
    corpora
        The corpora of the run, where they cannot be read again from their sources.
    """
    record = folder.record()
    has_texts = "settings" not in record or record["settings"].get("texts", True)
    return Items(lambda: _read_tasks(folder, record, corpora), has_texts, folder=folder.path)


def _read_tasks(folder: RunFolder, record: RunRecord, corpora: Sequence[str | AnyCorpus]) -> list[ScoredTask]:
    """Return the tasks of a run that show single items, with the scores in its folder.

    Raises
    ------
    SourceError
        If the corpora cannot be read again or have changed, or if there are no scores.
    """
    if "settings" not in record or "sources" not in record:
        raise SourceError("scores of single items need the folder of a finished run", folder.path)
    settings, sources = record["settings"], record["sources"]
    try:
        originals: CorpusInputs = corpora or [Spec(**spec) for spec in sources["corpora"]]
        loaded = load_given_corpora(originals, follow_links=sources["follow_links"])
    except InputError as error:
        reason = f"its corpora cannot be read again; give them as corpora= ({error})"
        raise SourceError(reason, folder.path) from None
    loaded = limited(loaded, sources["limit"], settings["seed"])
    corpus_of = {corpus.key: corpus for corpus in loaded}
    diagnostics = {}
    for key, names in settings["diagnostics"].items():
        for name, options in names.items():
            method = load_diagnostic(Spec(name, options=options)).method
            if not method.shows_items:
                continue
            if key not in corpus_of:
                raise SourceError(f"give the corpora that were made in Python as corpora=: {key}", folder.path)
            if corpus_of[key].fingerprint != settings["corpora"][key]:
                raise SourceError(
                    f"the corpus {key!r} is not the corpus of this run, or has changed since", folder.path
                )
            diagnostics[name, corpus_of[key].name] = method
    # Some candidates read whole documents.
    of_content = {(one.name, one.fingerprint): one for one in (*(cut.whole for cut in loaded if cut.is_cut), *loaded)}
    scored = [(one, of_content.get((one.origin.corpus, one.origin.corpus_fingerprint))) for one in folder.stored()]
    # The folder may also hold scores of encoders and corpora that are no longer in the run.
    candidates = [encoder.name for encoder in results.read(folder.path / "result.json").encoders]
    in_run = [(one, corpus) for one, corpus in scored if corpus and one.origin.encoder in candidates]
    return scored_tasks(diagnostics, sorted(in_run, key=lambda one: candidates.index(one[0].origin.encoder)))
