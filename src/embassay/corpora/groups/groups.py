"""Paraphrase groups of your own: a table of sentences with the group of each, or of pairs that are paraphrases or not.

CSV, TSV, JSON lines or Parquet. A table of sentences has a sentence (``sentence``, ``text``), a group (``group``,
``label``, ``group_id``, ``cluster``) and perhaps an ``id``; set other names with ``sentence=``, ``group=`` and
``id=``. A table of pairs has ``first=``, ``second=`` and ``label=``: its groups are the connected components of
the pairs whose label is 1, true or yes. Equal sentences count as one sentence.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import SourceError, SpecError
from embassay.core.formatting import counted
from embassay.core.samples.groups import Grouped, closure
from embassay.core.tables.jsonl import Ids
from embassay.core.tables.records import FileTable, TableColumn, columns_in, read_table, recognised_pair
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import corpus_of

SHAPE = "groups"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
TOLD_BY = frozenset({"sentence", "group", "label"})
"""Options that only this loader has; other loaders share the others."""
SENTENCE = ("sentence", "text")
GROUP = ("group", "label", "group_id", "cluster")
ID = ("id",)
LABEL = ("label",)
"""Column names that are recognised, tried in this order."""


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
    licence: str = "",
    sentence: str = "",
    group: str = "",
    id: str = "",  # noqa: A002 - an option's name
    first: str = "",
    second: str = "",
    label: str = "",
) -> Corpus[Grouped]:
    """Read a table of sentences and groups, or of pairs.

    Parameters
    ----------
    source
        Path of a CSV, TSV, JSON lines or Parquet file.
    licence
        The licence of the file, as the user states it.
    sentence, group, id
        The column names of a table of sentences, if they are not recognised by name; without an id, rows are
        numbered from 0.
    first, second, label
        The column names of a table of pairs, likewise; its sentences are numbered from 0 in order, and a
        group is named after its first.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty cells, repeated ids, a sentence in
        two groups, a label that is neither yes nor no, and a table without a group of three sentences.
    SpecError
        For options of both kinds of table at once.
    """
    of_sentences, of_pairs = bool(sentence or group or id), bool(first or second or label)
    if of_sentences and of_pairs:
        raise SpecError(
            f"corpus {source!r}: sentence=, group= and id= are for a table of sentences; first=, second= and label= "
            "are for a table of pairs; use only one of the two sets"
        )
    path = Path(source)
    table = read_table(path)
    if not of_sentences and not of_pairs:
        of_pairs = bool(recognised_pair(table.names)) and set(SENTENCE).isdisjoint(table.names)
    if of_pairs:
        samples, notes = _of_pairs(table, first, second, label)
    else:
        samples, notes = _of_sentences(table, sentence, group, id)
    return corpus_of(name, "groups", path, samples, licence=licence, notes=notes)


def _of_sentences(table: FileTable, sentence: str, group: str, id_: str) -> tuple[list[Grouped], list[str]]:
    """Return the sentences of a table in its order, each once, and notes."""
    columns = table.select(
        sentence=TableColumn(SENTENCE, sentence, "of sentences", "sentence="),
        group=TableColumn(GROUP, group, "of groups", "group="),
        id=TableColumn(ID, id_),
    )
    notes = [f"columns: {columns.note}"]
    # By text: the sample of the first row that has it, and the line of that row.
    samples: dict[str, tuple[Grouped, int | None]] = {}
    ids = Ids(table.path, columns.names.get("id", "id"))
    rows = 0
    for row in columns.rows():
        row.require_values("sentence", "group")
        text, group_of_row = row.text("sentence").strip(), row.key("group").strip()
        name = ids.add(row.key("id", str(rows)).strip(), row.line)
        rows += 1
        first, line = samples.setdefault(text, (Grouped(name, text, group_of_row), row.line))
        if first.group != group_of_row:
            problem = f"sentence of group {group_of_row[:100]!r}, on line {line} of group {first.group[:100]!r}"
            raise row.error(f"{problem}; a sentence can have one group", "group")
    if not rows:
        raise SourceError("the table has no rows", table.path)
    repeats = rows - len(samples)
    if repeats:
        notes.append(f"{counted(repeats, 'row')} left out: repeats a sentence of the same group")
    return [sample for sample, _ in samples.values()], notes


def _of_pairs(table: FileTable, first: str, second: str, label: str) -> tuple[list[Grouped], list[str]]:
    """Return the sentences of the pairs that are paraphrases, in order of appearance, and notes."""
    pair = recognised_pair(table.names)
    columns = table.select(
        first=TableColumn(pair[:1], first, "of first sentences", "first="),
        second=TableColumn(pair[1:], second, "of second sentences", "second="),
        label=TableColumn(LABEL, label, "that says whether they are paraphrases", "label="),
    )
    # Sentences are numbered in order of appearance; those of pairs that are not paraphrases get no number.
    numbers: dict[str, int] = {}
    pairs: list[tuple[int, int]] = []
    rows = 0
    for row in columns.rows():
        rows += 1
        row.require_values("first", "second", "label")
        # Both texts are checked, also of pairs that are not paraphrases.
        texts = row.text("first").strip(), row.text("second").strip()
        if row.is_yes("label"):
            first_number, second_number = (numbers.setdefault(text, len(numbers)) for text in texts)
            pairs.append((first_number, second_number))
    if not rows:
        raise SourceError("the table has no rows", table.path)
    texts_by_number = list(numbers)
    groups = closure(pairs)
    samples = [Grouped(str(number), texts_by_number[number], str(group)) for number, group in groups.items()]
    return samples, [f"columns: {columns.note}", f"{counted(rows, 'pair')}, {len(pairs):,} of them paraphrases"]
