"""Paraphrase groups of your own: a table of sentences with the group of each, or of pairs that are paraphrases or not.

CSV, TSV, JSON lines or Parquet. A table of sentences has a sentence (``sentence``, ``text``), a group (``group``,
``label``, ``group_id``, ``cluster``) and perhaps an ``id``; set other names with ``sentence=``, ``group=`` and
``id=``. A table of pairs has ``first=``, ``second=`` and ``label=``: its groups are the connected components of
the pairs whose label is 1, true or yes. Equal sentences count as one sentence.
"""

from __future__ import annotations

from pathlib import Path

from embassay.core.errors import SpecError, quoted
from embassay.core.formatting import counted
from embassay.core.samples.shapes import Grouped, closure
from embassay.core.tables.records import FIRST, SECOND, Selection, columns_in, read_table, recognised_pair
from embassay.core.tables.rows import Key, Stripped, TableRow, YesNo, column
from embassay.core.types import Corpus
from embassay.corpora.groups.large_groups import corpus_of

SHAPE = "groups"
PRIORITY = 20
"""Tried after the loaders of specific formats, because a table with the right columns may be anything."""
TOLD_BY = frozenset({"sentence", "group", "label"})
"""Options that only this loader has; other loaders share the others."""
SENTENCE = ("sentence", "text")
GROUP = ("group", "label", "group_id", "cluster")
"""Column names that are recognised, tried in this order."""


class SentenceRow(TableRow):
    """A sentence and its group."""

    sentence: Stripped = column(*SENTENCE)
    group: Key = column(*GROUP)
    id: Key = ""


class LabelledPair(TableRow):
    """Two sentences, and whether they are paraphrases."""

    first: Stripped = column(*FIRST)
    second: Stripped = column(*SECOND)
    label: YesNo


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
    first: str = "",
    second: str = "",
    label: str = "",
) -> Corpus[Grouped]:
    """Read a table of sentences and groups, or of pairs.

    Parameters
    ----------
    source
        Path of a CSV, TSV, JSON lines or Parquet file.
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
    if not of_sentences and recognised_pair(table.names):
        of_pairs = of_pairs or set(SENTENCE).isdisjoint(table.names)
    if of_pairs:
        samples, notes = _of_pairs(table.select(LabelledPair, first=first, second=second, label=label))
    else:
        samples, notes = _of_sentences(table.select(SentenceRow, sentence=sentence, group=group, id=id))
    return corpus_of(name, path, samples, notes=notes)


def _of_sentences(selection: Selection[SentenceRow]) -> tuple[list[Grouped], list[str]]:
    """Return the sentences of a table in its order, each once, and notes."""
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
    return list(samples.values()), notes


def _of_pairs(selection: Selection[LabelledPair]) -> tuple[list[Grouped], list[str]]:
    """Return the sentences of the pairs that are paraphrases, in order of appearance, and notes."""
    rows = list(selection)
    # Sentences are numbered in order of appearance; those of pairs that are not paraphrases get no number.
    number_of: dict[str, int] = {}
    paraphrases = []
    for row in rows:
        if row.label:
            first, second = (number_of.setdefault(text, len(number_of)) for text in (row.first, row.second))
            paraphrases.append((first, second))
    groups = closure(paraphrases)
    samples = [Grouped(str(number), text, str(groups[number])) for text, number in number_of.items()]
    return samples, [selection.note, f"{counted(len(rows), 'pair')}, {len(paraphrases):,} of them paraphrases"]
