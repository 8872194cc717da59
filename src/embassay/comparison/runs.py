"""Finished runs: result, record, item values, and the texts of their items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from embassay.core.columns import ItemColumn, read_columns
from embassay.core.errors import SpecError
from embassay.core.result import Result
from embassay.run.finished import finished_run
from embassay.run.items import Items, columns_of
from embassay.run.runs.folder import RunRecord, read_texts, texts_of


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A finished run.

    Attributes
    ----------
    name
        What the run is called in messages and tables.
    path
        The run's folder; the empty path for a result in memory.
    record
        The content of ``run.json``; empty for a result in memory.
    columns
        The item values of its metrics.
    """

    name: str
    path: Path
    result: Result
    record: RunRecord = field(repr=False)
    columns: tuple[ItemColumn, ...] = field(repr=False)

    @property
    def tasks(self) -> list[tuple[str, str]]:
        """Diagnostics and corpora of which the run has rows."""
        return list(dict.fromkeys((row.diagnostic, row.corpus) for row in self.result.rows))

    @property
    def candidates(self) -> list[str]:
        """The labels of the encoders that the user named, except those with random vectors."""
        return [one.name for one in self.result.encoders if not one.baseline and not one.is_chance]

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The first text of each item, such as its question, by the hash of the item's content."""
        items = self.result.items
        if isinstance(items, Items) and items.folder is None and items.has_texts:
            return texts_of(task.corpus for task in items.tasks)
        return read_texts(self.path) if self.record else {}


def read_run(run: str | Path | Result, name: str = "", *, may_have_failed: bool = False) -> StoredRun:
    """Read a finished run.

    Parameters
    ----------
    run
        The run's folder, or what ``embassay bless`` has made of it; or its result.
    name
        What the run is called; the name of its folder if empty.
    may_have_failed
        Whether a run in which everything failed is read as well; it has no columns.

    Raises
    ------
    SourceError
        If it is not a finished run, or item values are missing or damaged.
    SpecError
        For a result that was read from a file, and so has no item values.
    """
    if isinstance(run, Result):
        if not isinstance(run.items, Items):
            raise SpecError("this result has no item scores; pass the run's folder")
        if run.items.folder is None:
            return StoredRun(name or "result", Path(), run, {}, tuple(columns_of(run.items.tasks)))
        run = run.items.folder
    finished = finished_run(Path(run), may_have_failed=may_have_failed)
    path = finished.folder.path
    return StoredRun(name or path.resolve().name, path, finished.result, finished.record, read_columns(path))
