"""The item values of a finished run: a column for each metric and encoder, all that commands on finished runs read.

A run writes them once, into ``values.npz``. So no diagnostic is loaded, and no score computed again, to compare runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.core.arrays import Floats, Ints, Texts
from embassay.core.errors import InputError, SourceError
from embassay.core.layout import Format
from embassay.core.metric_key import MetricKey
from embassay.core.store.arrays import read_arrays, write_arrays

FILE = "values.npz"


@dataclass(frozen=True, eq=False)
class ItemColumn:
    """One metric of one encoder, item by item.

    Attributes
    ----------
    key
        The metric, with diagnostic and corpus.
    encoder, fingerprint
        The label of the encoder, and its own fingerprint.
    is_candidate, is_base
        Whether the user named it and its vectors are not random; whether the effective number of items is estimated
        from it, see :class:`~embassay.stats.families.Roles`.
    version, options
        Of the diagnostic; the options are those that affect scores.
    corpus_fingerprint, documents
        The fingerprint of the corpus, and a hash of the documents that are searched.
    stream
        The names of the random streams of the metric in its run.
    heading, format, better, low, high, margin, is_headline, kind, is_bounded, correlation
        As the diagnostic declares them.
    item
        (n,) ids.
    content, text
        (n,) a hash of each item, the same in all runs, whatever its id, and one of its texts alone, without case and
        white space. An item that is none of the corpus has no content, and its id for a text.
    unit, unit_labels
        (n,) the label set of each item, and (m, 2) each label set with each of its labels.
    value
        (n,) what the metric is the mean of, or correlates; NaN is undefined.
    against, fold
        (n,) what a correlation is with, and the fold of each item in a mean over folds; empty for other metrics.
    """

    key: MetricKey
    encoder: str
    fingerprint: str
    is_candidate: bool
    is_base: bool
    version: str
    options: str
    corpus_fingerprint: str
    documents: str
    stream: tuple[str, ...]
    heading: str
    format: Format
    better: Literal["higher", "lower", "neither"]
    low: float | None
    high: float | None
    margin: float | None
    is_headline: bool
    kind: str
    is_bounded: bool
    correlation: str
    item: Texts
    content: Texts
    text: Texts
    unit: Ints
    unit_labels: Ints
    value: Floats
    against: Floats
    fold: Ints

    @property
    def task(self) -> tuple[str, str]:
        """Diagnostic and corpus, by their labels."""
        return self.key.diagnostic, self.key.corpus

    @property
    def of_shares(self) -> bool:
        """Whether the values are yes and no, or shares of them."""
        return self.kind in ("share", "mean over folds")

    @property
    def defined(self) -> int:
        """How many items have a value."""
        return int(np.count_nonzero(~np.isnan(self.value)))

    def of_items(self, places: Ints) -> ItemColumn:
        """Return the column with some items only, in the order of their places."""
        arrays = {name: getattr(self, name) for name in ARRAYS if name != "unit_labels"}
        return replace(self, **{name: array[places] for name, array in arrays.items() if len(array)})


ARRAYS = tuple(field.name for field in fields(ItemColumn) if field.type in ("Texts", "Ints", "Floats"))


def write_columns(folder: Path, columns: Iterable[ItemColumn]) -> None:
    """Write columns into a run's folder; equal arrays, such as the items of a corpus, are written once.

    Raises
    ------
    OutputError
        If the folder cannot be written to.
    """
    arrays: dict[str, NDArray[Any]] = {}
    names = dict[object, str]()
    index = []
    for column in columns:
        record: dict[str, object] = {**vars(column)}
        for name in ARRAYS:
            array = getattr(column, name)
            stored_as = names.setdefault((array.tobytes(), array.dtype.str, array.shape), f"a{len(names)}")
            arrays[stored_as] = array
            record[name] = stored_as
        index.append(record)
    write_arrays(folder / FILE, {"index": np.array(json.dumps(index, default=vars)), **arrays})


def read_columns(folder: Path) -> tuple[ItemColumn, ...]:
    """Return the columns of a run.

    Raises
    ------
    SourceError
        If they are missing or damaged.
    """
    arrays = read_arrays(folder / FILE)
    columns = []
    try:
        for record in json.loads(str(arrays["index"])):
            record |= {name: arrays[record[name]] for name in ARRAYS}
            record |= {"key": MetricKey(**record["key"]), "stream": tuple(record["stream"])}
            columns.append(ItemColumn(**record))
    except (KeyError, TypeError, ValueError):
        raise SourceError(
            "the item values are missing or damaged: repeat the run's command, or, for Git LFS, git lfs pull",
            folder / FILE,
        ) from None
    return tuple(columns)


def paired(old: ItemColumn, new: ItemColumn) -> tuple[ItemColumn, ItemColumn, list[str]]:
    """Return two columns with their common items, in the order of the old one, and with the same units.

    Items are matched by content, whatever their ids. Where the corpora differ, items with the same content count once.

    Returns
    -------
    The columns, and in a sentence how their corpora differ; nothing where they are the same.

    Raises
    ------
    InputError
        If the columns cannot be compared, or no item is common.
    """
    for name in ("version", "options"):
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            raise InputError(f"the diagnostic's {name} changed (old: {before or 'default'}, new: {after or 'default'})")
    is_same = old.corpus_fingerprint == new.corpus_fingerprint
    if is_same and np.array_equal(old.item, new.item):
        return old, new, []
    if not (old.content.all() and new.content.all()):
        raise InputError("the corpora differ, and this diagnostic does not score the items of a corpus one by one")
    _, in_old, in_new = np.intersect1d(old.content, new.content, return_indices=True)
    common, order = len(in_old), np.argsort(in_old)
    if not common:
        raise InputError("the corpora have no item in common")
    note = (
        f"{' on '.join(old.task)}: the corpus differs (old: {old.corpus_fingerprint}, new: {new.corpus_fingerprint}); "
        f"compared on {common:,} common items (left out: {len(old.item) - common:,} of old, "
        f"{len(new.item) - common:,} of new)"
    )
    if old.documents != new.documents:
        note += "; the documents differ or are cut in another way, and a difference may come from that"
    old, new = old.of_items(in_old[order]), new.of_items(in_new[order])
    # An item that only one run has may join two units, so the run with fewer units of these items has the right ones.
    coarser = min(old, new, key=lambda column: len(np.unique(column.unit)))
    units: dict[str, Any] = {"unit": coarser.unit, "unit_labels": coarser.unit_labels}
    return replace(old, **units), replace(new, **units), [] if is_same else [note]
