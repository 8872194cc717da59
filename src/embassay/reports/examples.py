"""The browser of items: its data as JSON, what is said about the sample, and a short table for pages without scripts.

``examples.js`` draws it. Texts come from data and may hold anything: they are made visible here, and are nothing but
text there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from embassay.formatting import DASH, counted, rounded_down, visible
from embassay.layout import ExampleColumn, Examples
from embassay.reports.tables import Cell, Scope, Table
from embassay.result import CorpusRecord, Example

STATIC = 5
"""Items of the table that is shown where scripts are off."""
DIGITS = 3
"""Decimals of the numbers in the data, as many as are shown."""
SPACES = re.compile(r"[ \t\r\n\u00a0\u2009\u202f\u3000]+")
JOINERS = re.compile("([\u200c\u200d]+)")
"""Invisible characters that some scripts and emoji cannot be written without; they change no direction."""
WORDS = {True: "right", False: "wrong", None: "undecided"}
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
    table
        The first items, for pages without scripts.
    """

    note: str
    statement: str
    licence: str
    data: Mapping[str, object]
    table: Table


@dataclass(frozen=True)
class Item:
    """An item with the outcome of each encoder."""

    record: Example
    outcomes: Mapping[str, Example]

    @property
    def is_decided(self) -> bool:
        """Whether some encoder is right or wrong about the item."""
        return any(outcome.correct is not None for outcome in self.outcomes.values())

    @property
    def has_margin(self) -> bool:
        """Whether the margin of some encoder is known."""
        return any(outcome.margin is not None for outcome in self.outcomes.values())


def browser(scope: Scope, part: Examples) -> Browser | None:
    """Return the browser of the items of a diagnostic on a corpus; None if there are none."""
    items = _items(scope)
    if not items:
        return None
    corpus = next(corpus for corpus in scope.result.corpora if corpus.name == scope.corpus)
    licence = ""
    if any(item.record.texts for item in items):
        licence = _licence(corpus)
    writer = _Writer(scope, part, single=corpus.passages == corpus.documents)
    return Browser(
        note=_note(part, items),
        statement=_statement(scope, items, corpus),
        licence=licence,
        data=writer.data(items),
        table=_static(scope, part, items),
    )


def _note(part: Examples, items: Sequence[Item]) -> str:
    """Return the note of the part, with what the margin is where some item has one."""
    if part.margin and any(item.has_margin for item in items):
        return f"{part.note} Margin: {part.margin}."
    return part.note


def _items(scope: Scope) -> list[Item]:
    """Return the items of a scope in their order."""
    records: dict[str, Example] = {}
    outcomes: dict[str, dict[str, Example]] = {}
    for example in scope.result.examples:
        if (example.diagnostic, example.corpus) != (scope.diagnostic, scope.corpus):
            continue
        if example.kind == "item":
            records[example.item] = example
        elif example.kind == "outcome":
            outcomes.setdefault(example.item, {})[example.encoder] = example
    return [Item(record, outcomes.get(name, {})) for name, record in records.items()]


def _statement(scope: Scope, items: Sequence[Item], corpus: CorpusRecord) -> str:
    """Say how many items are shown, how they were drawn, and who counts as "all"."""
    decided = any(item.is_decided for item in items)
    sentences = [f"All {counted(len(items), 'item')}."]
    if len(items) < corpus.items:
        strata = []
        if decided:
            strata.append("by who misses them")
        if any(item.record.subset for item in items):
            strata.append("by subset")
        drawn = f"{len(items):,} of {counted(corpus.items, 'item')}, drawn with seed {scope.result.seed}"
        if strata:
            drawn += f", stratified {' and '.join(strata)}: shares among them are not those of the corpus"
        sentences = [f"{drawn}. A run with --examples all shows every item."]
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


def shown_text(text: str) -> str:
    """Return a text as it is shown: on one line, with control characters and changes of direction as escapes."""
    one_line = SPACES.sub(" ", text).strip()
    shown = ""
    for piece in JOINERS.split(one_line):
        if JOINERS.fullmatch(piece):
            shown += piece
        else:
            shown += visible(piece)
    return shown


class _Writer:
    """Writes the data of a browser; every distinct text is written once and referred to by its index."""

    def __init__(self, scope: Scope, part: Examples, single: bool):
        """Start without texts; ``single`` says that every document has one passage."""
        self.scope = scope
        self.part = part
        self.single = single
        self.text_indices: dict[str, int] = {}
        self.passage_indices: dict[tuple[int, int], int] = {}

    def data(self, items: Sequence[Item]) -> dict[str, object]:
        """Return the data of a browser."""
        encoders = []
        for name in self.scope.encoders:
            threshold = None
            if self.part.threshold is not None:
                row = self.scope.row_of(name, self.part.threshold)
                if row is not None and row.value is not None:
                    threshold = rounded_down(row.value)
            encoders.append(
                {
                    "name": shown_text(name),
                    "baseline": self.scope.is_baseline(name),
                    "threshold": threshold,
                }
            )
        written = [self._item(item) for item in items]
        columns = []
        for column in self.part.columns:
            several = len(column.names) > 1
            columns.append(
                {"heading": column.heading, "format": column.format, "several": several, "passages": column.passages}
            )
        return {
            "title": self.part.title,
            "prefix": self.part.prefix,
            "encoders": encoders,
            "columns": columns,
            "texts": [label for _, label in self.part.texts],
            "items": written,
            # Written last: the items number them.
            "passages": list(self.passage_indices),
            "strings": list(self.text_indices),
        }

    def _item(self, item: Item) -> list[object]:
        """Return id, subset, heading, texts (label, text, names of what is right) and outcomes.

        Texts and names are given by their index; −1 where there is no text or no name.
        """
        record = item.record
        texts = []
        for place, (name, _) in enumerate(self.part.texts):
            names = _labels(record.labels, name)
            if name not in record.texts and not names:
                continue
            text, right_names = -1, -1
            if name in record.texts:
                text = self._text_index(record.texts[name])
            if names:
                right_names = self._text_index(", ".join(names))
            texts.append([place, text, right_names])
        right = set(_labels(record.labels, "right"))
        outcomes = list[list[object] | None]()
        for name in self.scope.encoders:
            outcome = item.outcomes.get(name)
            if outcome is None:
                outcomes.append(None)
            else:
                outcomes.append(self._outcome(outcome, record.texts, right))
        heading = record.texts.get(self.part.heading, "")
        return [
            self._text_index(record.item),
            self._text_index(record.subset),
            self._text_index(heading),
            texts,
            outcomes,
        ]

    def _outcome(self, outcome: Example, texts: Mapping[str, str], right: set[str]) -> list[object]:
        """Return correct (1, 0 or null), the margin, and a cell for each column: a number, or a list of entries."""
        cells: list[object] = []
        for column in self.part.columns:
            entries = []
            for name in column.names:
                label, value = outcome.labels.get(name), outcome.values.get(name)
                if label is not None or value is not None:
                    entries.append(self._entry(column, label, value, texts, right))
            # A number alone is written without the lists around it.
            is_one_number = len(entries) == 1 and len(entries[0]) == 1
            if is_one_number:
                cells.append(entries[0][0])
            else:
                cells.append(entries)
        correct = None
        if outcome.correct is not None:
            correct = int(outcome.correct)
        return [correct, _rounded(outcome.margin), cells]

    def _entry(
        self, column: ExampleColumn, label: str | None, value: float | None, texts: Mapping[str, str], right: set[str]
    ) -> list[object]:
        """Return one entry of a cell: a value, a value with a label, or a value with a passage.

        Parameters
        ----------
        label
            In a column of passages, the reference of a passage (``document#number``).
        texts
            The texts of the item, those of passages by their reference.
        right
            The ids of the right documents.

        Returns
        -------
        ``[value]``, ``[value, index of the label]`` or ``[value, index of the passage]``, with a 1 at the end where the
        passage is of a right document.
        """
        entry: list[object] = [_rounded(value)]
        if label is None:
            return entry
        if not column.passages:
            entry.append(self._text_index(label))
            return entry
        document, _, passage = label.rpartition("#")
        # On a corpus that varies, the setting follows: ``doc#3 (passages=100)``.
        passage, _, setting = passage.partition(" ")
        entry.append(self._passage(document, passage, setting, texts.get(label)))
        if document in right:
            entry.append(1)
        return entry

    def _passage(self, document: str, passage: str, setting: str, text: str | None) -> int:
        """Return the index of a passage, which has a name and perhaps a text."""
        name = document
        # A hostile result may hold a number with thousands of digits, which is slow to read.
        if passage.isdecimal() and (setting or not self.single):
            name = f"{document}, passage {int(passage[:9]) + 1}"
            if setting:
                name += f" {setting}"
        text_index = -1
        if text is not None:
            text_index = self._text_index(text)
        return self.passage_indices.setdefault((self._text_index(name), text_index), len(self.passage_indices))

    def _text_index(self, text: str) -> int:
        """Return the index of a text among the distinct texts."""
        return self.text_indices.setdefault(shown_text(text), len(self.text_indices))


def _labels(labels: Mapping[str, str], name: str) -> list[str]:
    """Return the labels of a name, which may be numbered: ``right`` or ``right1``, ``right2`` …"""
    if name in labels:
        return [labels[name]]
    numbered = list[str]()
    for number in count(1):
        label = labels.get(f"{name}{number}")
        if label is None:
            break
        numbered.append(label)
    return numbered


def _rounded(value: float | None) -> float | None:
    if value is None:
        return None
    return round(value, DIGITS)


def _static(scope: Scope, part: Examples, items: Sequence[Item]) -> Table:
    """Return the first items with who is right."""
    decided = any(item.is_decided for item in items)
    rows = []
    for item in items[:STATIC]:
        heading = item.record.texts.get(part.heading) or item.record.item
        cells = [Cell(shown_text(heading))]
        for name in scope.encoders:
            outcome = item.outcomes.get(name)
            word = DASH
            # Some diagnostics call no item right or wrong: there "undecided" would say nothing.
            if outcome is not None and decided:
                word = WORDS[outcome.correct]
            cells.append(Cell(word))
        rows.append(tuple(cells))
    return Table(part.title, ("item", *map(shown_text, scope.encoders)), tuple(rows))
