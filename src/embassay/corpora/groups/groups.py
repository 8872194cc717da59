"""Paraphrase groups of your own: a table of sentences with the group of each, or of pairs that are paraphrases or not.

CSV, TSV, JSON lines or Parquet. A table of sentences has a sentence (``sentence``, ``text``), a group (``group``,
``label``, ``group_id``, ``cluster``) and perhaps an ``id``; other names are given with ``sentence=``, ``group=`` and
``id=``. A table of pairs is told by ``first=``, ``second=`` and ``label=``: its groups are the connected components of
the pairs whose label is 1, true or yes. The same sentence is one sentence, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embassay.corpora.groups.shared import corpus_of
from embassay.corpora.io.jsonl import Ids, counted, first_fields, key_field, text_field
from embassay.corpora.io.records import Table, read_table
from embassay.corpora.io.tables import first_line
from embassay.errors import SourceError, SpecError
from embassay.samples.groups import Grouped, closure
from embassay.types import Corpus

SHAPE = "groups"
PRIORITY = 20
"""Files of a particular form are told first: a table with the right columns may be anything."""
TOLD_BY = frozenset({"sentence", "group", "label"})
"""Options that tell a table of this form; the others are of other loaders too."""
SENTENCE = ("sentence", "text")
GROUP = ("group", "label", "group_id", "cluster")
ID = ("id",)
PAIRS = (("sentence1", "sentence2"), ("text1", "text2"), ("first", "second"), ("sentence_A", "sentence_B"))
LABEL = ("label",)
"""Columns that are known by name, tried in this order."""
YES, NO = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})
"""What a label may be, in letters of any case."""


def recognises(head: str) -> bool:
    """Say whether the first line of a file names a sentence and its group, and no two sentences to compare."""
    names = first_fields(head) or {cell.strip().strip('"') for cell in re.split("[\t,;]", first_line(head))}
    return bool(names & set(SENTENCE) and names & set(GROUP)) and not _couple(names)


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
        What the user says of the file.
    sentence, group, id
        The names of the columns of a table of sentences, where they are not known ones; without an id, rows are
        numbered from 0.
    first, second, label
        The names of the columns of a table of pairs, likewise; its sentences are numbered from 0 as they come, and a
        group is named after its first.

    Raises
    ------
    SourceError
        With file, line and column, for missing columns, ragged rows, empty cells, ids that stand twice, a sentence in
        two groups, a label that is neither yes nor no, and no group of three sentences.
    SpecError
        For options of both forms at once.
    """
    if (sentence or group or id) and (first or second or label):
        raise SpecError(
            f"corpus {source!r}: sentence=, group= and id= are of a table of sentences, first=, second= and label= "
            "of a table of pairs; give those of one"
        )
    path = Path(source)
    table = read_table(path)
    names = frozenset(table.names)
    if first or second or label or (_couple(names) and not (sentence or group or id or names & set(SENTENCE))):
        samples, notes = _of_pairs(table, first, second, label)
    else:
        samples, notes = _of_sentences(table, sentence, group, id)
    return corpus_of(name, "groups", path, samples, licence=licence, notes=notes)


def _couple(names: frozenset[str] | set[str]) -> tuple[str, ...]:
    """Return the two known columns of sentences to compare, none where they are not both there."""
    return next((couple for couple in PAIRS if names.issuperset(couple)), ())


def _of_sentences(table: Table, sentence: str, group: str, id_: str) -> tuple[list[Grouped], list[str]]:
    """Return the sentences of a table in its order, each once, and notes."""
    columns = {
        "sentence": table.column("of sentences", "sentence=", sentence, SENTENCE),
        "group": table.column("of groups", "group=", group, GROUP),
    }
    if key := table.perhaps(id_, [name for name in ID if name not in columns.values()]):
        columns["id"] = key
    told = _told(columns, table)
    samples, places = list[Grouped](), dict[str, tuple[str, int]]()
    ids, rows = Ids(table.path, columns.get("id", "id")), 0
    for line, row in table.rows(tuple(columns.values())):
        sample = _sample(row, columns, str(rows), table.path, line)
        ids.add(sample.id, line)
        rows += 1
        before, place = places.setdefault(sample.text, (sample.group, line))
        if before != sample.group:
            found = f"this sentence is of group {sample.group[:100]!r}, on line {place} of group {before[:100]!r}"
            raise SourceError(f"{found}; a sentence has one group", table.path, line, columns["group"])
        if place == line:
            samples.append(sample)
    if not rows:
        raise SourceError("the table has no rows", table.path)
    repeats = rows - len(samples)
    merged = f"{counted(repeats, 'row')} left out: the same sentence stood in the same group before"
    return samples, [told, *([merged] if repeats else [])]


def _sample(row: Mapping[str, Any], columns: Mapping[str, str], number: str, path: Path, line: int) -> Grouped:
    """Return the sentence of a row; ``number`` is its id where it has none."""
    _check_there(row, (columns["sentence"], columns["group"]), path, line)
    text = text_field(row[columns["sentence"]], path, line, columns["sentence"]).strip()
    group = key_field(row, columns["group"], "", path, line).strip()
    name = key_field(row, columns["id"], number, path, line).strip() if "id" in columns else number
    return Grouped(name, text, group)


def _of_pairs(table: Table, first: str, second: str, label: str) -> tuple[list[Grouped], list[str]]:
    """Return the sentences of the pairs that are paraphrases, in the order in which they come, and notes."""
    couple = _couple(frozenset(table.names)) or ("", "")
    columns = {
        "first": table.column("of first sentences", "first=", first, couple[:1]),
        "second": table.column("of second sentences", "second=", second, couple[1:]),
        "label": table.column("that says whether they are paraphrases", "label=", label, LABEL),
    }
    told = _told(columns, table)
    numbers, pairs, rows = dict[str, int](), list[tuple[int, int]](), 0
    for line, row in table.rows(tuple(columns.values())):
        rows += 1
        _check_there(row, tuple(columns.values()), table.path, line)
        a, b = (text_field(row[columns[side]], table.path, line, columns[side]).strip() for side in ("first", "second"))
        if _is_yes(row[columns["label"]], table.path, line, columns["label"]):
            pairs.append((numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))))
    if not rows:
        raise SourceError("the table has no rows", table.path)
    texts = list(numbers)
    samples = [Grouped(str(number), texts[number], str(group)) for number, group in closure(pairs).items()]
    return samples, [told, f"{counted(rows, 'pair')}, {len(pairs):,} of them paraphrases"]


def _check_there(row: Mapping[str, Any], names: tuple[str, ...], path: Path, line: int) -> None:
    """Raise SourceError for the first of the columns that a row has no value in."""
    for name in names:
        if row.get(name) is None:
            raise SourceError("missing", path, line, name)


def _is_yes(value: Any, path: Path, line: int, column: str) -> bool:
    """Return what a label says."""
    written = str(value).strip().lower()
    if written not in YES | NO:
        raise SourceError(f"must be 1, true or yes, or 0, false or no, is {str(value)[:100]!r}", path, line, column)
    return written in YES


def _told(columns: Mapping[str, str], table: Table) -> str:
    """Say which column is what, or raise SourceError where one is two things."""
    for what, name in columns.items():
        also = next((other for other, same in columns.items() if same == name and other != what), "")
        if also:
            raise SourceError(f"is both the {what} and the {also}", table.path, table.line, name)
    return f"columns: {', '.join(f'{what} {name}' for what, name in columns.items())}"
