"""Paraphrase groups of your own: a table of sentences with the group of each.

CSV, TSV, JSON lines or Parquet, with a sentence (``sentence``, ``text``), a group (``group``, ``label``, ``group_id``,
``cluster``) and perhaps an ``id``; set other names with ``sentence=``, ``group=`` and ``id=``. Equal sentences count as
one sentence. ``embassay build groups`` makes such a table from pairs that are paraphrases or not.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import quoted
from embassay.core.formatting import counted
from embassay.core.samples.shapes import Grouped
from embassay.core.tables.records import columns_in, read_table, recognised_pair
from embassay.core.tables.rows import Key, Stripped, TableRow, column
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import corpus_of

SHAPE = "groups"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
SPECIFIC_OPTIONS = frozenset({"sentence", "group"})
"""Options that only this loader has; other loaders share the others."""
SENTENCE = ("sentence", "text")
GROUP = ("group", "label", "group_id", "cluster")
"""Column names that are recognised, tried in this order."""


class GroupRow(TableRow):
    """A sentence and its group."""

    sentence: Stripped = column(*SENTENCE)
    group: Key = column(*GROUP)
    id: Key = ""


def recognises(head: str) -> bool:
    """Return whether the first line of a file names a sentence and its group, but not two sentences to compare."""
    names = columns_in(head)
    # A table of pairs may also have a column "label"; it is read as pairs.
    has_sentence = not names.isdisjoint(SENTENCE)
    has_group = not names.isdisjoint(GROUP)
    return has_sentence and has_group and not recognised_pair(names)


def load(
    source: str,
    name: str,
    *,
    sentence: str = "",
    group: str = "",
    id: str = "",  # noqa: A002 - an option's name
) -> Corpus[Grouped]:
    """Read a table of sentences and groups.

    Parameters
    ----------
    source
        Path of a CSV, TSV, JSON lines or Parquet file.
    sentence, group, id
        The column names, if they are not recognised by name; without an id, rows are numbered from 0.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty cells, repeated ids, a sentence in
        two groups, and a table without a group of three sentences.
    """
    path = Path(source)
    selection = read_table(path).select(GroupRow, sentence=sentence, group=group, id=id)
    # By text: the sample of the first row that has it.
    samples: dict[str, Grouped] = {}
    repeats = 0
    for row in selection:
        known = samples.setdefault(row.sentence, Grouped(row.key, row.sentence, row.group))
        repeats += known.id != row.key
        if known.group != row.group:
            raise row.error(f"the sentence is in group {quoted(known.group)} too; it can have one group", "group")
    notes = [selection.note]
    if repeats:
        notes.append(f"{counted(repeats, 'row')} left out: repeats a sentence of the same group")
    return corpus_of(name, path, list(samples.values()), notes)
