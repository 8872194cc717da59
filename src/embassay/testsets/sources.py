"""The sources of a test set: sentences from texts and tables, and documents.

Texts that are not sentences are read too; :func:`usable` rejects and counts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import SourceError
from embassay.core.tables.records import read_table
from embassay.core.tables.rows import Key, Stripped, TableRow, column
from embassay.core.tables.texts import read_text
from embassay.corpora.io.documents import SourceDocument
from embassay.testsets.base import Reasons

TABLES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet")
"""Suffixes of tables. Other files are texts with one sentence per line, unless the user names a column."""


def given(texts: Sequence[str | SourceDocument]) -> tuple[SourceDocument, ...]:
    """Return documents that are passed in Python; texts are numbered from 1."""
    documents = list[SourceDocument]()
    for number, item in enumerate(texts, 1):
        documents.append(SourceDocument(str(number), item) if isinstance(item, str) else item)
    return tuple(documents)


# --- The sentences that a test set is built from ---

SENTENCE = ("sentence", "text", "original", "input", "question")
"""Column names that are recognised, in order of preference; case is ignored."""
LONGEST = 1_000
"""The maximum number of characters of a sentence."""
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff\ufffd\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence of a user's file.

    Attributes
    ----------
    line
        Its line in the file, from 1; in Parquet the row.
    unit
        The key of the unit of independence, for example a document, if the table has a column ``unit``; else empty.
    """

    text: str
    line: int
    unit: str = ""


def read_sentences(path: Path, column: str = "") -> tuple[SourceSentence, ...]:
    """Read a text with one sentence per line, or a column of a CSV, TSV, JSON lines or Parquet file.

    Parameters
    ----------
    column
        The name of the column, if it is not one of :data:`SENTENCE`.

    Returns
    -------
    The sentences in order, stripped; blank lines and empty cells are left out.

    Raises
    ------
    SourceError
        With file, line and column, for a file that cannot be read, a missing column, and a file without sentences.
    """
    if column or path.suffix.lower() in TABLES:
        table = read_table(path)
        # The only column of a table may have any name.
        if not column and len(table.names) == 1:
            column = table.names[0]
        selection = table.select(SentenceRow, sentence=column)
        if "sentence" not in selection.names:
            raise table.missing("sentence")
        sources = [SourceSentence(row.sentence, row.line or 1, row.unit) for row in selection if row.sentence]
    else:
        lines = enumerate(read_text(path).split("\n"), 1)
        sources = [SourceSentence(line.strip(), number) for number, line in lines if line.strip()]
    if not sources:
        raise SourceError("has no sentences; write one on each line", path)
    return tuple(sources)


def numbered(sources: Iterable[object]) -> Iterator[object]:
    """Yield sources that are passed in Python; texts become sentences, numbered from 1."""
    for number, source in enumerate(sources, 1):
        yield SourceSentence(source.strip(), number) if isinstance(source, str) else source


class SentenceRow(TableRow):
    """A sentence; cells may be empty."""

    sentence: Stripped = column(*SENTENCE, default="")
    unit: Key = ""


# --- What may be a sentence ---


def usable(sources: Iterable[SourceSentence]) -> tuple[tuple[SourceSentence, ...], Reasons]:
    """Return the sources that may be sentences, without repeats, and the number of rejected ones by reason."""
    usable_sources = list[SourceSentence]()
    rejected = Reasons()
    seen = set[str]()
    for source in sources:
        # Sentences that differ in case and spaces only are repeats.
        key = " ".join(source.text.casefold().split())
        if "\n" in source.text:
            rejected["several lines in one cell"] += 1
        elif _CONTROL.search(source.text):
            rejected["control characters"] += 1
        elif len(source.text) > LONGEST:
            rejected[f"longer than {LONGEST:,} characters"] += 1
        elif key in seen:
            rejected["repeated sentence"] += 1
        else:
            seen.add(key)
            usable_sources.append(source)
    return tuple(usable_sources), rejected
