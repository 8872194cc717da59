"""The browser of items: its data as JSON, and what is said about the sample.

``examples.js`` draws it. Texts come from data and may hold anything: the page makes them visible, and there they are
nothing but text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embassay.core.formatting import counted, rounded_down
from embassay.core.layout import ExampleColumn, Examples
from embassay.core.result import CorpusRecord, Example, record_of
from embassay.reports.tables import Scope

FREE = re.compile(r"(cc0|cc[- ]by(?![- a-z0-9.]*(nc|nd))|mit\b|apache|bsd|odc|odbl|pddl|public domain)", re.IGNORECASE)
"""How the names of licences begin under which texts may be passed on."""


@dataclass(frozen=True)
class Browser:
    """The examples of one diagnostic on one corpus.

    Attributes
    ----------
    note
        What is right, and what the margin is.
    statement
        How many items there are, and how they were drawn.
    licence
        What is to be said about passing the texts on; empty where there is nothing to say.
    data
        What ``examples.js`` draws.
    """

    note: str
    statement: str
    licence: str
    data: Mapping[str, object]


@dataclass(frozen=True)
class ShownItem:
    """An item with the outcome of each encoder."""

    record: Example
    outcomes: Mapping[str, Example]


def browser(scope: Scope, part: Examples) -> Browser | None:
    """Return the browser of the items of a diagnostic on a corpus; None if there are none."""
    items = _items(scope)
    if not items:
        return None
    corpus = record_of(scope.result.corpora, scope.corpus)
    note = part.note
    outcomes = [outcome for item in items for outcome in item.outcomes.values()]
    if part.margin and any(outcome.margin is not None for outcome in outcomes):
        note = f"{note} Margin: {part.margin}."
    licence = ""
    if any(item.record.texts for item in items):
        licence = _licence(corpus)
    return Browser(
        note=note,
        statement=_statement(scope, items, corpus),
        licence=licence,
        data=_data(scope, part, items, single=corpus.passages == corpus.documents),
    )


def _items(scope: Scope) -> list[ShownItem]:
    """Return the items of a scope in their order."""
    records: dict[str, Example] = {}
    outcomes: dict[str, dict[str, Example]] = {}
    for example in filter(scope.holds, scope.result.examples):
        if example.kind == "item":
            records[example.item] = example
        elif example.kind == "outcome":
            outcomes.setdefault(example.item, {})[example.encoder] = example
    return [ShownItem(record, outcomes.get(name, {})) for name, record in records.items()]


def _statement(scope: Scope, items: Sequence[ShownItem], corpus: CorpusRecord) -> str:
    """Say how many items are shown, how they were drawn, and who counts as "all"."""
    decided = any(outcome.correct is not None for item in items for outcome in item.outcomes.values())
    sentences = [f"All {counted(len(items), 'item')}."]
    if len(items) < corpus.items:
        drawn = f"{len(items):,} of {counted(corpus.items, 'item')}, drawn with seed {scope.result.seed}"
        strata = "stratified by subset and by who misses them: shares among them are not those of the corpus"
        sentences = [f"{drawn}, {strata}. A run with --examples all shows every item."]
    baselines = [scope.is_baseline(name) for name in scope.encoders]
    if decided and any(baselines) and not all(baselines):
        sentences.append("“Missed by all” ignores the baselines that were added automatically.")
    if not any(item.record.texts for item in items):
        sentences.append("The texts are left out.")
    return " ".join(sentences)


def _licence(corpus: CorpusRecord) -> str:
    """Say that texts may not be free to be passed on, where their licence does not allow it or is not known."""
    if FREE.match(corpus.licence):
        return ""
    if corpus.licence in ("", "unknown"):
        problem = "The licence of these texts is not known"
    else:
        problem = f"The licence of these texts ({corpus.licence}) may not allow you to pass them on"
    return f"{problem}: check it before you share this page. A run with --no-texts leaves them out."


def _data(scope: Scope, part: Examples, items: Sequence[ShownItem], single: bool) -> dict[str, object]:
    """Return what ``examples.js`` draws; the text of a passage is written once, and named by the items.

    Parameters
    ----------
    single
        Whether every document has one passage.
    """
    encoders = []
    for name in scope.encoders:
        record = record_of(scope.result.encoders, name)
        row = scope.row_of(name, part.threshold) if part.threshold else None
        threshold = None
        if row is not None and row.value is not None:
            threshold = rounded_down(row.value)
        encoders.append(
            {
                "name": name,
                "baseline": scope.is_baseline(name),
                "threshold": threshold,
                "part": record.parts[0] if record.step else "",
            }
        )
    columns = [
        {
            "heading": column.heading,
            "format": column.format,
            "several": len(column.names) > 1,
            "passages": column.passages,
        }
        for column in part.columns
    ]
    passages: dict[str, str] = {}
    written = [_item(scope, part, item, single, passages) for item in items]
    return {
        "title": part.title,
        "prefix": part.prefix,
        "encoders": encoders,
        "columns": columns,
        "items": written,
        "passages": passages,
    }


def _item(scope: Scope, part: Examples, item: ShownItem, single: bool, passages: dict[str, str]) -> dict[str, object]:
    """Return an item: its texts (label, text, what is right), and what each encoder made of it.

    That is whether it is right (1, 0 or null), its margin, and its cells: a number, or a list of entries.
    """
    record = item.record
    texts = []
    for name, label in part.texts:
        names = _labels(record.labels, name)
        if name in record.texts or names:
            texts.append([label, record.texts.get(name, ""), ", ".join(names)])
    right = _labels(record.labels, "right")
    outcomes = list[list[object] | None]()
    for encoder in scope.encoders:
        outcome = item.outcomes.get(encoder)
        if outcome is None:
            outcomes.append(None)
            continue
        cells: list[object] = []
        for column in part.columns:
            entries = _entries(outcome, column, record, right, single, passages)
            is_number = len(entries) == 1 and len(entries[0]) == 1
            cells.append(entries[0][0] if is_number else entries)
        correct = None if outcome.correct is None else int(outcome.correct)
        outcomes.append([correct, outcome.margin, cells])
    return {
        "id": record.item,
        "subset": record.subset,
        "heading": record.texts.get(part.heading, ""),
        "texts": texts,
        "outcomes": outcomes,
    }


def _entries(
    outcome: Example,
    column: ExampleColumn,
    record: Example,
    right: Sequence[str],
    single: bool,
    passages: dict[str, str],
) -> list[list[object]]:
    """Return the entries of a cell.

    Each is a value, with a label if it has one. The label of a passage is its name, under which its text is added to
    ``passages``; a 1 follows where it is of one of the ``right`` documents.
    """
    entries = []
    for name in column.names:
        label = outcome.labels.get(name)
        if label is None and name not in outcome.values:
            continue
        entry: list[object] = [outcome.values.get(name)]
        if label is not None and column.passages:
            document = label.rpartition("#")[0]
            passage = _passage_name(label, single)
            passages[passage] = record.texts.get(label, "")
            entry.append(passage)
            if document in right:
                entry.append(1)
        elif label is not None:
            entry.append(label)
        entries.append(entry)
    return entries


def _passage_name(reference: str, single: bool) -> str:
    """Return the name of a passage, whose reference is ``document#number``."""
    document, _, passage = reference.rpartition("#")
    # On a corpus that varies, the setting follows: ``doc#3 (passages=100)``.
    number, _, setting = passage.partition(" ")
    # A hostile result may hold a number with thousands of digits, which is slow to read.
    if not number.isdecimal() or (single and not setting):
        return document
    return f"{document}, passage {int(number[:9]) + 1} {setting}".rstrip()


def _labels(labels: Mapping[str, str], name: str) -> list[str]:
    """Return the labels of a name, which may be numbered: ``right`` or ``right1``, ``right2`` …"""
    names = [name, *(f"{name}{number}" for number in range(1, len(labels) + 1))]
    return [labels[one] for one in names if one in labels]
