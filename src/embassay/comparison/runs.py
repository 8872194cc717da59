"""Finished runs: result, record, item values, and the texts of their items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from embassay.core.columns import ItemColumn, read_columns
from embassay.core.errors import SourceError, SpecError
from embassay.core.metric_key import MetricKey
from embassay.core.result import Result
from embassay.core.store.paths import source_path
from embassay.core.types import is_chance
from embassay.run.columns import columns_of
from embassay.run.items import Items
from embassay.run.runs import results
from embassay.run.runs.folder import RunFolder
from embassay.run.runs.items import Texts, read_texts, texts_of
from embassay.run.runs.record import RunRecord


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A finished run.

    Attributes
    ----------
    name
        What the run is called in messages and tables.
    record
        The content of ``run.json``; empty for a result in memory.
    columns
        The item values of its metrics.
    load_texts
        Returns the texts of its items.
    """

    name: str
    path: Path
    result: Result
    record: RunRecord = field(repr=False)
    columns: tuple[ItemColumn, ...] = field(repr=False)
    load_texts: Callable[[], Texts] = field(repr=False)

    @property
    def tasks(self) -> list[tuple[str, str]]:
        """Diagnostics and corpora of which the run has rows."""
        return list(dict.fromkeys((row.diagnostic, row.corpus) for row in self.result.rows))

    @property
    def candidates(self) -> list[str]:
        """The labels of the encoders that the user named, except those with random vectors."""
        return [one.name for one in self.result.encoders if not one.baseline and not is_chance(one.spec)]

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The first text of each item, such as its question, by the hash of the item's content."""
        return {content: next(iter(texts.values()), "") for content, texts in self.load_texts().items()}

    @cached_property
    def column_of(self) -> Mapping[tuple[MetricKey, str], ItemColumn]:
        """The columns by metric and label of the encoder."""
        return {(column.key, column.encoder): column for column in self.columns}


def read_run(path: str | Path | Result, name: str = "", *, may_have_failed: bool = False) -> StoredRun:
    """Read a finished run.

    Parameters
    ----------
    path
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
    if isinstance(path, Result):
        items = path.items
        if not isinstance(items, Items):
            raise SpecError("this result has no item scores; pass the run's folder")
        if items.folder is None:
            corpora = [task.corpus for task in items.tasks] if items.has_texts else []
            return StoredRun(
                name or "result", Path(), path, {}, tuple(columns_of(items.tasks)), lambda: texts_of(corpora)
            )
        path = items.folder
    path = source_path(path)
    if path.name in ("result.json", "run.json") and path.is_file():
        path = path.parent
    if not path.exists():
        raise SourceError("no such folder", path)
    if not (path / "result.json").is_file():
        raise SourceError("not a finished run: there is no result.json in this folder", path)
    record = RunFolder(path).record()
    if "settings" not in record:
        raise SourceError("run.json is missing or damaged; repeat the run's command", path)
    if record.get("state") == "running":
        raise SourceError("this run did not finish; repeat the command to continue it", path)
    result = results.read(path / "result.json")
    if not result.rows and not (may_have_failed and result.failed):
        raise SourceError("nothing was scored in this run", path)
    return StoredRun(name or path.resolve().name, path, result, record, read_columns(path), lambda: read_texts(path))
